// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A histogram with a part of each bar shaded, marks for what was expected and one vertical line;
// counts on a log axis. Painted directly; arrow keys walk along the bars.
#pragma once

#include "widgets/axis_ticks.h"
#include "widgets/spoken_summary.h"
#include "widgets/theme.h"

#include <QString>
#include <QWidget>

#include <optional>
#include <vector>

namespace gradlab::widgets {

/// From `from` to `to` on the x axis. Counts below 1 are not drawn.
struct HistogramBar {
    double from = 0.0;
    double to = 0.0;
    double all = 0.0;
    double shaded = 0.0;
    std::optional<double> expected;
    QString label; ///< "0.00012 to 0.00014"
};

struct HistogramData {
    std::vector<HistogramBar> bars; ///< ascending
    /// Bars that have no place on a log axis (zeros): drawn at the left, apart.
    std::optional<HistogramBar> apart;
    bool logX = false;
    bool labelBars = false; ///< x labels are the bars' own instead of ticks
    QString xTitle;
    QString yTitle;
    QString allName; ///< for the key and what is read out
    QString shadedName;
    QString expectedName;
    std::optional<double> line;
    QString lineName; ///< beside the line and in the key
};

class HistogramPlot : public QWidget {
    Q_OBJECT

public:
    explicit HistogramPlot(QWidget* parent = nullptr);
    void setTheme(const Theme& theme);
    void setTitle(const QString& title);
    void setData(HistogramData data);
    /// Shown instead of bars while there are none.
    void setEmptyText(const QString& text);
    /// What a screen reader says; applied at most once a second.
    void setSummary(const QString& text) { summary_.say(*this, text); }

    [[nodiscard]] const HistogramData& data() const noexcept { return data_; }
    [[nodiscard]] const QString& emptyText() const noexcept { return emptyText_; }
    /// What is told of the bar at hand (under the pointer, or chosen by arrow keys); -1 = the one
    /// apart.
    [[nodiscard]] QString barText(int bar) const;
    /// Where a bar stands, as painted last.
    [[nodiscard]] QRectF barBox(int bar) const;
    [[nodiscard]] double xOf(double value) const;
    [[nodiscard]] double yOf(double count) const;
    [[nodiscard]] QColor allColour() const;
    [[nodiscard]] QColor shadedColour() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    static constexpr int kNoBar = -2;
    void layOut();
    void paintKeys(QPainter& painter) const;
    void paintAxes(QPainter& painter) const;
    void paintBar(QPainter& painter, int bar) const;
    void paintLine(QPainter& painter) const;
    [[nodiscard]] const HistogramBar* barAt(int bar) const;
    [[nodiscard]] int barUnder(const QPointF& point) const;
    [[nodiscard]] std::vector<AxisTick> xTicks() const;
    void hold(int bar);

    Theme theme_ = Theme::make(false, false);
    QString title_;
    QString emptyText_;
    HistogramData data_;
    AxisRange x_;
    double mostCount_ = 1.0;
    QRectF plot_;     ///< where bars are
    QRectF apartBox_; ///< column of the bar apart; empty without one
    int held_ = kNoBar;
    SpokenSummary summary_;
};

} // namespace gradlab::widgets
