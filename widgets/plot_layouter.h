// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The layout in the making, for plot_layout.cpp (plot, ticks) and plot_labels.cpp (everything that
// looks for room inside).
#pragma once

#include "widgets/plot_layout.h"

#include <QFontMetricsF>

#include <cmath>
#include <optional>
#include <vector>

namespace gradlab::widgets {

inline constexpr double kPad = 4.0; ///< between neighbouring pieces

class PlotLayouter {
public:
    PlotLayouter(const PlotContent& content, const PlotRanges& ranges, const Theme& theme,
                 const QSizeF& size)
        : content_(content), theme_(theme), size_(size), metrics_(theme.font(theme.textPixels)),
          titleMetrics_(theme.font(theme.titlePixels, true)) {
        result_.ranges = ranges;
        result_.logX = content.x.logarithmic;
        result_.logY = content.y.logarithmic;
    }

    PlotLayout run() {
        placePlot();
        placeTitle();
        placeXTicks();
        placeLineLabels();
        placeEvents();
        placeReferences();
        placeBorderMarks();
        return std::move(result_);
    }

private:
    [[nodiscard]] double width(const QString& text) const {
        return std::ceil(metrics_.horizontalAdvance(text)) + 1.0;
    }
    /// Width of the colour before a label.
    [[nodiscard]] double swatch() const { return theme_.textPixels * 0.5; }
    [[nodiscard]] double lineHeight() const { return std::ceil(metrics_.height()); }

    void placePlot();
    void placeTitle();
    void placeXTicks();
    [[nodiscard]] std::vector<PlotTick> xTicksFor(int count, double right) const;
    void placeLineLabels();
    [[nodiscard]] std::optional<QPointF> visibleEnd(const PlotLine& line) const;
    bool placeAtItsEnd(PlotLabel& label, const PlotLine& own);
    bool moveCrossedToMargin(std::vector<PlotLabel>& atEnd, std::vector<PlotLabel>& margin);
    void placeInMargin(std::vector<PlotLabel> labels);
    void placeEvents();
    void placeReferences();
    void placeBorderMarks();
    void addBorderMark(std::vector<double>& taken, double x, BorderMark::Kind kind,
                       const QColor& colour);
    void placeEventText(PlotLabel& label, const QString& text);
    [[nodiscard]] bool isFree(const QRectF& box) const;
    [[nodiscard]] bool isFreeForEvent(const QRectF& box) const;
    [[nodiscard]] bool isCrossed(const QRectF& box, const PlotLine* except) const;

    const PlotContent& content_;
    const Theme& theme_;
    QSizeF size_;
    QFontMetricsF metrics_;
    QFontMetricsF titleMetrics_;
    PlotLayout result_;
    std::vector<QRectF> taken_; ///< text inside the plot
};

} // namespace gradlab::widgets
