// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The strip on top: for each run its colour, name, perplexity in large type, how many times fewer
// bytes, step time and network share. Scales its type with the theme.
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
    void runClicked(int id);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    [[nodiscard]] std::size_t shownCards() const;
    [[nodiscard]] QRectF cardBox(std::size_t index) const;
    void paintCard(QPainter& painter, const Card& card, const QRectF& box);
    void paintFacts(QPainter& painter, const QRectF& room, const QStringList& facts);
    void text(QPainter& painter, const QRectF& box, int pixels, bool bold, const QColor& colour,
              const QString& text);

    RunList runs_;
    Theme theme_ = Theme::make(false, false);
    std::vector<Card> cards_;
    std::vector<QRectF> textBoxes_;
    SpokenSummary summary_;
};

} // namespace gradlab::widgets
