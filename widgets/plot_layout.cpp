// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot_layout.h"

#include <QFontMetricsF>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

constexpr double kPad = 4.0;         ///< between neighbouring pieces
constexpr double kLabelShare = 0.44; ///< of the width, at most for labels at the lines' ends
constexpr double kMarkSpacing = 9.0; ///< pixels between two border marks

/// The layout in the making: sizes that all steps need.
class Layouter {
public:
    Layouter(const PlotContent& content, const PlotRanges& ranges, const Theme& theme,
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
    bool placeAtItsEnd(PlotLabel& label, const PlotLine& own);
    void placeInMargin(std::vector<PlotLabel> labels);
    void placeEvents();
    void placeReferences();
    void placeBorderMarks();
    void addBorderMark(std::vector<double>& taken, double x, BorderMark::Kind kind,
                       const QColor& colour);
    void placeEventText(PlotLabel& label, const QString& text);
    [[nodiscard]] bool isFree(const QRectF& box) const;
    [[nodiscard]] bool isCrossed(const QRectF& box, const PlotLine* except) const;

    const PlotContent& content_;
    const Theme& theme_;
    QSizeF size_;
    QFontMetricsF metrics_;
    QFontMetricsF titleMetrics_;
    PlotLayout result_;
    std::vector<QRectF> taken_; ///< text inside the plot
};

void Layouter::placePlot() {
    const double top =
        kPad + (content_.title.isEmpty() ? lineHeight() / 2 : titleMetrics_.height() + kPad);
    const double bottom = std::max(top + 10.0, size_.height() - lineHeight() - 2 * kPad);
    double labels = 0.0;
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

void Layouter::placeTitle() {
    if (content_.title.isEmpty())
        return;
    const QRectF box(kPad, kPad / 2, size_.width() - 2 * kPad, titleMetrics_.height());
    result_.title = {titleMetrics_.elidedText(content_.title, Qt::ElideRight, box.width()), box};
}

std::vector<PlotTick> Layouter::xTicksFor(int count, double right) const {
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

void Layouter::placeXTicks() {
    // The axis says what it is at the right end of its labels' line.
    const double wide = std::min(width(content_.x.title), size_.width() / 2);
    const QRectF box(size_.width() - wide - kPad, result_.plot.bottom() + kPad, wide, lineHeight());
    result_.xTitle = {metrics_.elidedText(content_.x.title, Qt::ElideRight, wide + 1.0), box};
    const auto crowded = [](const std::vector<PlotTick>& ticks) {
        double right = -std::numeric_limits<double>::infinity();
        for (const PlotTick& tick : ticks) {
            if (tick.text.isEmpty())
                continue;
            if (tick.box.left() < right + 2 * kPad)
                return true;
            right = tick.box.right();
        }
        return false;
    };
    for (int count = 10; count >= 1; --count) {
        result_.xTicks = xTicksFor(count, box.left() - 2 * kPad);
        if (!crowded(result_.xTicks))
            return;
    }
    for (PlotTick& tick : result_.xTicks)
        tick = {tick.position, {}, {}};
}

void Layouter::placeLineLabels() {
    std::vector<PlotLabel> margin;
    for (const PlotLine& line : content_.lines) {
        const auto last = std::find_if(line.points.rbegin(), line.points.rend(), [&](PlotPoint p) {
            return isDrawable(p.y, result_.logY) && isDrawable(p.x, result_.logX);
        });
        if (line.label.isEmpty() || last == line.points.rend())
            continue;
        const double y =
            std::clamp(result_.mapY(last->y), result_.plot.top(), result_.plot.bottom());
        PlotLabel label{line.label, {}, line.colour, y, QPointF(result_.mapX(last->x), y)};
        if (placeAtItsEnd(label, line))
            result_.lineLabels.push_back(label);
        else
            margin.push_back(label);
    }
    placeInMargin(std::move(margin));
}

/// Inside the plot, where the line ends well before the others do and nothing else is drawn.
bool Layouter::placeAtItsEnd(PlotLabel& label, const PlotLine& own) {
    const double wide = width(label.text) + swatch() + 2 * kPad;
    for (const double shift : {0.0, -lineHeight(), lineHeight()}) {
        const QRectF box(label.tip.x() + 2 * kPad, label.tip.y() - lineHeight() / 2 + shift, wide,
                         lineHeight());
        if (!isFree(box))
            continue;
        if (isCrossed(box, &own))
            continue;
        label.box = box;
        taken_.push_back(box);
        return true;
    }
    return false;
}

void Layouter::placeInMargin(std::vector<PlotLabel> labels) {
    std::stable_sort(labels.begin(), labels.end(),
                     [](const PlotLabel& a, const PlotLabel& b) { return a.anchor < b.anchor; });
    const double top = std::max(result_.plot.top() - lineHeight() / 2, result_.title.box.bottom());
    const double bottom = result_.plot.bottom() + kPad;
    const auto fit = static_cast<std::size_t>(std::max(0.0, (bottom - top) / lineHeight()));
    if (labels.size() > fit)
        labels.resize(fit);
    std::vector<double> wanted;
    for (const PlotLabel& label : labels)
        wanted.push_back(label.anchor);
    const std::vector<double> centres = spread(wanted, lineHeight(), top, bottom);
    const double left = result_.plot.right() + 2 * kPad;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        PlotLabel& label = labels[i];
        label.box =
            QRectF(left, centres[i] - lineHeight() / 2, size_.width() - left - 1.0, lineHeight());
        label.text =
            metrics_.elidedText(label.text, Qt::ElideRight, label.box.width() - swatch() - kPad);
        result_.lineLabels.push_back(label);
    }
}

bool Layouter::isCrossed(const QRectF& box, const PlotLine* except) const {
    const auto inBox = [&](const PlotPoint& point) {
        return box.contains(result_.mapX(point.x), result_.mapY(point.y));
    };
    return std::any_of(content_.lines.begin(), content_.lines.end(), [&](const PlotLine& line) {
        return &line != except && std::any_of(line.points.begin(), line.points.end(), inBox);
    });
}

bool Layouter::isFree(const QRectF& box) const {
    return result_.plot.contains(box) &&
           std::none_of(taken_.begin(), taken_.end(),
                        [&](const QRectF& other) { return other.intersects(box); });
}

void Layouter::placeEvents() {
    for (const EventMark& event : content_.events) {
        PlotLabel label{{}, {}, event.colour, result_.mapX(event.x), {}};
        const double room =
            std::max(result_.plot.right() - label.anchor, label.anchor - result_.plot.left()) -
            2 * kPad;
        // Text that is cut to less than half says nothing.
        const QString text = metrics_.elidedText(event.text, Qt::ElideRight, room);
        if (width(text) > 0.5 * width(event.text))
            placeEventText(label, text);
        result_.eventLabels.push_back(label);
    }
}

void Layouter::placeEventText(PlotLabel& label, const QString& text) {
    constexpr int kRows = 4;
    const double wide = width(text);
    for (int row = 0; row < kRows; ++row)
        for (const double x : {label.anchor + kPad, label.anchor - kPad - wide}) {
            const QRectF box(x, result_.plot.top() + 2.0 + row * lineHeight(), wide, lineHeight());
            if (!isFree(box))
                continue;
            label.text = text;
            label.box = box;
            taken_.push_back(box);
            return;
        }
}

/// Left before right, above before below, and rather where no line passes.
void Layouter::placeReferences() {
    for (const ReferenceLine& reference : content_.references) {
        const double at = result_.mapY(reference.y);
        const double wide = width(reference.text);
        const double most = result_.plot.width() - wide - 2 * kPad;
        PlotLabel label{{}, {}, {}, at, {}};
        std::optional<QRectF> found;
        bool clear = false;
        for (const double part : {0.0, 1.0, 0.33, 0.67})
            for (const double y : {at - lineHeight() - 1.0, at + 1.0}) {
                const QRectF box(result_.plot.left() + kPad + part * most, y, wide, lineHeight());
                if (clear || !isFree(box))
                    continue;
                clear = !isCrossed(box, nullptr);
                if (clear || !found)
                    found = box;
            }
        if (found) {
            label.text = reference.text;
            label.box = *found;
            taken_.push_back(*found);
        }
        result_.referenceLabels.push_back(label);
    }
}

void Layouter::addBorderMark(std::vector<double>& taken, double x, BorderMark::Kind kind,
                             const QColor& colour) {
    const double at = result_.mapX(x);
    if (at < result_.plot.left() || at > result_.plot.right() ||
        (!taken.empty() && at - taken.back() < kMarkSpacing))
        return;
    taken.push_back(at);
    const double y = kind == BorderMark::Kind::Below ? result_.plot.bottom() : result_.plot.top();
    result_.borderMarks.push_back({{at, y}, kind, colour});
}

void Layouter::placeBorderMarks() {
    const AxisRange y = result_.ranges.y;
    for (const PlotLine& line : content_.lines) {
        std::vector<double> above;
        std::vector<double> below;
        std::vector<double> broken;
        for (const PlotPoint& point : line.points) {
            if (!std::isfinite(point.y) || !isDrawable(point.x, result_.logX))
                continue;
            if (point.y > y.to)
                addBorderMark(above, point.x, BorderMark::Kind::Above, line.colour);
            else if (point.y < y.from)
                addBorderMark(below, point.x, BorderMark::Kind::Below, line.colour);
        }
        for (const NonFiniteMark& mark : line.nonFinite) {
            if (!isDrawable(mark.x, result_.logX))
                continue;
            if (mark.kind == NonFiniteMark::Kind::NotANumber)
                addBorderMark(broken, mark.x, BorderMark::Kind::NotANumber, line.colour);
            else
                addBorderMark(
                    mark.kind == NonFiniteMark::Kind::PositiveInfinity ? above : below, mark.x,
                    mark.kind == NonFiniteMark::Kind::PositiveInfinity ? BorderMark::Kind::Above
                                                                       : BorderMark::Kind::Below,
                    line.colour);
        }
    }
}

double share(double value, AxisRange range, bool logarithmic) {
    if (!logarithmic)
        return (value - range.from) / (range.to - range.from);
    return std::log(value / range.from) / std::log(range.to / range.from);
}

} // namespace

double PlotLayout::mapX(double value) const {
    return plot.left() + plot.width() * share(value, ranges.x, logX);
}

double PlotLayout::mapY(double value) const {
    return plot.bottom() - plot.height() * share(value, ranges.y, logY);
}

double PlotLayout::valueAtX(double pixel) const {
    const double part = (pixel - plot.left()) / plot.width();
    return logX ? ranges.x.from * std::pow(ranges.x.to / ranges.x.from, part)
                : ranges.x.from + part * (ranges.x.to - ranges.x.from);
}

PlotLayout layOutPlot(const PlotContent& content, const PlotRanges& ranges, const Theme& theme,
                      const QSizeF& size) {
    return Layouter(content, ranges, theme, size).run();
}

std::vector<double> spread(const std::vector<double>& centres, double height, double top,
                           double bottom) {
    // Intervals that touch form a group, centred on the mean of what its members wanted (pooling of
    // adjacent violators on centre − index · height).
    struct Group {
        double sum = 0.0;
        std::size_t size = 0;
        [[nodiscard]] double mean() const { return sum / static_cast<double>(size); }
    };
    std::vector<Group> groups;
    for (std::size_t i = 0; i < centres.size(); ++i) {
        groups.push_back({centres[i] - static_cast<double>(i) * height, 1});
        while (groups.size() > 1 && groups[groups.size() - 2].mean() > groups.back().mean()) {
            groups[groups.size() - 2].sum += groups.back().sum;
            groups[groups.size() - 2].size += groups.back().size;
            groups.pop_back();
        }
    }
    std::vector<double> result;
    const double lowest = bottom - height / 2 - static_cast<double>(centres.size() - 1) * height;
    for (const Group& group : groups) {
        const double base =
            std::clamp(group.mean(), top + height / 2, std::max(lowest, top + height / 2));
        for (std::size_t i = 0; i < group.size; ++i)
            result.push_back(base + static_cast<double>(result.size()) * height);
    }
    return result;
}

} // namespace gradlab::widgets
