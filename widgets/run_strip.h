// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The strip on top: for each run its colour, name, perplexity in large type, how many times fewer
// bytes, step time and network share. Scales its type with the theme and with the room: more runs
// make it smaller, then wrap.
#pragma once

#include "widgets/run_info.h"
#include "widgets/spoken_summary.h"
#include "widgets/theme.h"

#include <QStringList>
#include <QWidget>

namespace gradlab::widgets {

class RunStrip : public QWidget {
    Q_OBJECT

public:
    explicit RunStrip(QWidget* parent = nullptr);
    void setRuns(const RunList& runs);
    void setTheme(const Theme& theme);
    /// Takes the runs' latest numbers; cheap, for every tick.
    void refresh();

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    /// Boxes of all text as it was painted last; for tests.
    [[nodiscard]] const std::vector<QRectF>& textBoxes() const noexcept { return textBoxes_; }

    /// How many runs have no card here because there are too many; said in a card's place.
    [[nodiscard]] std::size_t hiddenCards() const;

    struct Card {
        int id = 0;
        QString name;
        QColor colour;
        QString perplexity;
        QString perplexityKind; ///< "valid", "train"
        QString bytes;          ///< "68× fewer bytes"
        QString time;           ///< "231 ms a step"
        QString network;        ///< "94 % network"
        bool operator==(const Card&) const = default;
    };
    [[nodiscard]] const std::vector<Card>& cards() const noexcept { return cards_; }

Q_SIGNALS:
    /// By the mouse, or by the Enter key on the card that arrow keys chose.
    void runClicked(int id);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    /// Sizes in pixels.
    struct Type {
        int text = 12;
        int title = 13;
        int big = 26;
    };
    struct Arrangement {
        Type type;
        std::size_t rows = 1;
        std::size_t columns = 1;
    };
    /// Of the cards in the width that there is.
    [[nodiscard]] Arrangement arrangement(std::size_t mostRows) const;
    [[nodiscard]] Arrangement shownArrangement() const;
    [[nodiscard]] int rowHeight(const Type& type) const;
    [[nodiscard]] QRectF cardBox(std::size_t slot) const;
    /// The card that the arrow keys are at.
    [[nodiscard]] std::size_t currentCard() const;
    void moveTo(std::size_t card);
    void paintCard(QPainter& painter, const Card& card, const QRectF& box);
    void paintFacts(QPainter& painter, const QRectF& room, const QStringList& facts);
    void text(QPainter& painter, const QRectF& box, int pixels, bool bold, const QColor& colour,
              const QString& text);

    RunList runs_;
    Theme theme_ = Theme::make(false, false);
    std::vector<Card> cards_;
    std::vector<QRectF> textBoxes_;
    SpokenSummary summary_;
    int currentId_ = 0; ///< of a run
};

} // namespace gradlab::widgets
