// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The ranges of a plot: of what can be drawn, rounded outwards.
#include "widgets/plot_layout.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

/// Grows to hold values that can be drawn.
class Extent {
public:
    explicit Extent(bool logarithmic) : logarithmic_(logarithmic) {}
    void add(double value) {
        if (!isDrawable(value, logarithmic_))
            return;
        low_ = std::min(low_, value);
        high_ = std::max(high_, value);
    }
    [[nodiscard]] std::optional<AxisRange> range() const {
        return low_ <= high_ ? std::optional<AxisRange>({low_, high_}) : std::nullopt;
    }

private:
    bool logarithmic_;
    double low_ = std::numeric_limits<double>::infinity();
    double high_ = -std::numeric_limits<double>::infinity();
};

AxisRange xRangeOf(const PlotContent& content) {
    Extent extent(content.x.logarithmic);
    for (const PlotLine& line : content.lines)
        for (const PlotPoint& point : line.points)
            extent.add(point.x);
    if (content.xExtent) {
        extent.add(content.xExtent->from);
        extent.add(content.xExtent->to);
    }
    const std::optional<AxisRange> data = extent.range();
    if (!data)
        return content.x.logarithmic ? AxisRange{1.0, 10.0} : AxisRange{0.0, 1.0};
    if (content.x.logarithmic)
        return niceLogRange(*data);
    const bool fromZero = data->from >= 0.0 && data->from < 0.2 * data->to;
    const double from = fromZero ? 0.0 : data->from;
    if (data->to <= from)
        return {from, from + 1.0};
    const double step = niceStep(data->to - from, 25);
    return {from, from + std::ceil((data->to - from) / step - 1e-9) * step};
}

AxisRange clipped(AxisRange range, const std::optional<AxisRange>& limits) {
    if (!limits)
        return range;
    const AxisRange cut{std::max(range.from, limits->from), std::min(range.to, limits->to)};
    return cut.from < cut.to ? cut : *limits;
}

/// Of the values in `window`, or of all and the reference lines.
std::optional<AxisRange> yExtentOf(const PlotContent& content,
                                   const std::optional<AxisRange>& window) {
    const bool log = content.y.logarithmic;
    Extent extent(log);
    const auto add = [&](double value) {
        if (content.yLimits && isDrawable(value, log))
            value = std::clamp(value, content.yLimits->from, content.yLimits->to);
        extent.add(value);
    };
    for (const PlotLine& line : content.lines)
        for (const PlotPoint& point : line.points)
            if (!window || (point.x >= window->from && point.x <= window->to))
                add(point.y);
    if (!window)
        for (const ReferenceLine& reference : content.references)
            add(reference.y);
    return extent.range();
}

AxisRange yRangeOf(const PlotContent& content) {
    const bool log = content.y.logarithmic;
    std::optional<AxisRange> data = yExtentOf(content, content.window.x);
    if (!data && content.window.x) // lines only pass through
        data = yExtentOf(content, std::nullopt);
    if (!data)
        return clipped(log ? AxisRange{1.0, 10.0} : AxisRange{0.0, 1.0}, content.yLimits);
    if (log)
        return clipped(niceLogRange({data->from * 0.97, data->to * 1.03}), content.yLimits);
    AxisRange range = *data;
    if (range.from >= 0.0 && range.from < 0.5 * range.to)
        range.from = 0.0;
    return clipped(niceRange(range, content.y.kind), content.yLimits);
}

} // namespace

PlotRanges fullRangesOf(const PlotContent& content) {
    return {xRangeOf(content), yRangeOf(content)};
}

PlotRanges rangesOf(const PlotContent& content) {
    // A logarithmic axis has no place for a window that was chosen on a linear one and ends at 0.
    const auto fits = [](const std::optional<AxisRange>& window, bool logarithmic) {
        return window && (!logarithmic || window->from > 0.0);
    };
    const PlotWindow& window = content.window;
    return {fits(window.x, content.x.logarithmic) ? *window.x : xRangeOf(content),
            fits(window.y, content.y.logarithmic) ? *window.y : yRangeOf(content)};
}

} // namespace gradlab::widgets
