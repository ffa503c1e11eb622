// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Horizontal stacked bars with their own labels, painted directly: a row a bar, a colour a part.
#pragma once

#include "widgets/axis_ticks.h"
#include "widgets/spoken_summary.h"
#include "widgets/theme.h"

#include <QString>
#include <QWidget>

#include <vector>

class QFontMetricsF;

namespace gradlab::widgets {

struct BarPart {
    QString name;
    QColor colour;
    double value = 0.0; ///< ≥ 0; others count as 0
};

struct BarRow {
    QString label;
    QColor colour;     ///< of the label's swatch; invalid: none
    QString value;     ///< text at the bar's end
    bool slim = false; ///< a second, thinner bar that belongs to the one above
    std::vector<BarPart> parts;
};

class StackedBars : public QWidget {
    Q_OBJECT

public:
    explicit StackedBars(QWidget* parent = nullptr);
    void setTheme(const Theme& theme);
    void setTitle(const QString& title);
    /// One line under the bars; empty: none.
    void setNote(const QString& note);
    /// What a screen reader says; applied at most once a second.
    void setSummary(const QString& text) { summary_.say(*this, text); }
    void setRows(std::vector<BarRow> rows, ValueKind kind);
    /// All of it at the painter's origin, of the widget's size.
    void paint(QPainter& painter);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;
    /// Boxes of all text as it was painted last; for tests.
    [[nodiscard]] const std::vector<QRectF>& textBoxes() const noexcept { return textBoxes_; }

Q_SIGNALS:
    /// It got the keyboard.
    void activated();

protected:
    void focusInEvent(QFocusEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    void paintHeader(QPainter& painter);
    void paintKeys(QPainter& painter);
    [[nodiscard]] std::vector<std::size_t> keyParts(const QFontMetricsF& metrics) const;
    [[nodiscard]] double keyWidth(const QFontMetricsF& metrics, const BarPart& part) const;
    [[nodiscard]] double swatch() const { return theme_.textPixels * 0.6; }
    void paintRow(QPainter& painter, const BarRow& row, const QRectF& line);
    void text(QPainter& painter, const QRectF& box, int flags, const QString& text,
              const QColor& colour);
    /// Rows that there is room for: all, or without the slim ones, or as many as fit.
    void chooseRows();
    [[nodiscard]] double lineHeight() const;
    [[nodiscard]] double headerHeight() const;

    Theme theme_ = Theme::make(false, false);
    QString title_;
    QString note_;
    std::vector<BarRow> rows_;
    ValueKind kind_ = ValueKind::Seconds;
    std::vector<const BarRow*> shown_; ///< into rows_
    std::vector<QRectF> lines_;        ///< of shown_
    bool noteShown_ = true;
    double labelWidth_ = 0.0;
    double valueWidth_ = 0.0;
    double largest_ = 0.0;
    std::vector<QRectF> textBoxes_;
    SpokenSummary summary_;
};

} // namespace gradlab::widgets
