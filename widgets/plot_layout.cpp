// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot_layouter.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

constexpr double kLabelShare = 0.44; ///< of the width, at most for labels at the lines' ends

double valueAt(double share, AxisRange range, bool logarithmic) {
    return logarithmic ? range.from * std::pow(range.to / range.from, share)
                       : range.from + share * (range.to - range.from);
}

double share(double value, AxisRange range, bool logarithmic) {
    if (!logarithmic)
        return (value - range.from) / (range.to - range.from);
    return std::log(value / range.from) / std::log(range.to / range.from);
}

} // namespace

void PlotLayouter::placePlot() {
    const double top =
        kPad + (content_.title.isEmpty() ? lineHeight() / 2 : titleMetrics_.height() + kPad);
    const double bottom = std::max(top + 10.0, size_.height() - lineHeight() - 2 * kPad);
    double labels = content_.labelRoom;
    for (const PlotLine& line : content_.lines)
        if (!line.label.isEmpty())
            labels = std::max(labels, width(line.label) + swatch() + 4 * kPad);
    labels = std::max(2 * kPad, std::min(labels, size_.width() * kLabelShare));

    const int count = std::max(2, static_cast<int>((bottom - top) / (2.0 * lineHeight())));
    const AxisRange y = result_.ranges.y;
    const std::vector<AxisTick> ticks = content_.y.logarithmic
                                            ? logTicks(y, count, content_.y.kind)
                                            : linearTicks(y, count, content_.y.kind);
    double left = 0.0;
    for (const AxisTick& tick : ticks)
        left = std::max(left, width(QString::fromStdString(tick.label)));
    left += 2 * kPad;
    const double right = std::max(left + 10.0, size_.width() - labels);
    result_.plot = QRectF(QPointF(left, top), QPointF(right, bottom));

    double lowest = size_.height();
    for (const AxisTick& tick : ticks) {
        const double at = result_.mapY(tick.value);
        QString text = QString::fromStdString(tick.label);
        // The lowest label stays above those of the x axis, the highest below the title.
        const double boxTop =
            std::clamp(at - lineHeight() / 2, content_.title.isEmpty() ? 0.0 : top - kPad,
                       std::max(top - kPad, bottom + kPad - lineHeight()));
        const QRectF box(0.0, boxTop, left - kPad, lineHeight());
        if (!text.isEmpty() && box.bottom() > lowest)
            text.clear();
        if (!text.isEmpty())
            lowest = box.top();
        result_.yTicks.push_back({at, text, text.isEmpty() ? QRectF() : box});
    }
}

void PlotLayouter::placeTitle() {
    if (content_.title.isEmpty())
        return;
    const QRectF box(kPad, kPad / 2, std::max(1.0, size_.width() - 2 * kPad - content_.titleRoom),
                     titleMetrics_.height());
    result_.title = {titleMetrics_.elidedText(content_.title, Qt::ElideRight, box.width()), box};
}

std::vector<PlotTick> PlotLayouter::xTicksFor(int count, double right) const {
    const AxisRange x = result_.ranges.x;
    const auto ticks = content_.x.logarithmic ? logTicks(x, count, content_.x.kind)
                                              : linearTicks(x, count, content_.x.kind);
    std::vector<PlotTick> placed;
    for (const AxisTick& tick : ticks) {
        const double at = result_.mapX(tick.value);
        const QString text = QString::fromStdString(tick.label);
        const double wide = width(text);
        QRectF box(std::max(0.0, at - wide / 2), result_.plot.bottom() + kPad, wide, lineHeight());
        if (text.isEmpty() || box.right() > right)
            placed.push_back({at, {}, {}});
        else
            placed.push_back({at, text, box});
    }
    return placed;
}

namespace {

struct ShownLabels {
    std::size_t count;
    bool dropped;
};

/// Takes away labels that come too near the one before them.
ShownLabels dropCrowdedLabels(std::vector<PlotTick>& ticks) {
    ShownLabels shown{0, false};
    double right = -std::numeric_limits<double>::infinity();
    for (PlotTick& tick : ticks) {
        if (tick.text.isEmpty())
            continue;
        if (tick.box.left() < right + 2 * kPad) {
            tick = {tick.position, {}, {}};
            shown.dropped = true;
            continue;
        }
        right = tick.box.right();
        ++shown.count;
    }
    return shown;
}

} // namespace

void PlotLayouter::placeXTicks() {
    // The axis says what it is at the right end of its labels' line.
    const double wide = std::min(width(content_.x.title), size_.width() / 2);
    const QRectF box(size_.width() - wide - kPad, result_.plot.bottom() + kPad, wide, lineHeight());
    result_.xTitle = {metrics_.elidedText(content_.x.title, Qt::ElideRight, wide + 1.0), box};
    // All labels of the most ticks that have room; where that leaves fewer than two, as many as
    // have room of those that do not.
    std::size_t most = 0;
    for (int count = 10; count >= 1; --count) {
        std::vector<PlotTick> ticks = xTicksFor(count, box.left() - 2 * kPad);
        const auto [shown, crowded] = dropCrowdedLabels(ticks);
        const bool good = !crowded && shown > 1;
        if (good || shown > most || result_.xTicks.empty())
            result_.xTicks = std::move(ticks);
        if (good)
            return;
        most = std::max(most, shown);
    }
}

double PlotLayout::mapX(double value) const {
    return plot.left() + plot.width() * share(value, ranges.x, logX);
}

double PlotLayout::mapY(double value) const {
    return plot.bottom() - plot.height() * share(value, ranges.y, logY);
}

double PlotLayout::valueAtX(double pixel) const {
    return valueAt((pixel - plot.left()) / plot.width(), ranges.x, logX);
}

double PlotLayout::valueAtY(double pixel) const {
    return valueAt((plot.bottom() - pixel) / plot.height(), ranges.y, logY);
}

PlotLayout layOutPlot(const PlotContent& content, const PlotRanges& ranges, const Theme& theme,
                      const QSizeF& size) {
    return PlotLayouter(content, ranges, theme, size).run();
}

} // namespace gradlab::widgets
