// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where labels and marks of a plot go: beside the lines' ends, in the margin, along changes and
// reference lines.
#include "widgets/plot_layouter.h"

#include <QLineF>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace gradlab::widgets {

namespace {
constexpr double kMarkSpacing = 9.0; ///< pixels between two border marks

/// Whether a straight line between two points outside a box passes through it.
bool isCutBy(const QRectF& box, const QPointF& from, const QPointF& to) {
    const QLineF line(from, to);
    const std::array<QLineF, 2> diagonals{QLineF(box.topLeft(), box.bottomRight()),
                                          QLineF(box.bottomLeft(), box.topRight())};
    return std::any_of(diagonals.begin(), diagonals.end(), [&](const QLineF& diagonal) {
        return line.intersects(diagonal, nullptr) == QLineF::BoundedIntersection;
    });
}

/// Whether the line from a label in the margin to its line's end passes through `box`.
bool isCrossedByLeader(const QRectF& box, const PlotLabel& inMargin) {
    const QPointF from = inMargin.tip;
    const QPointF to(inMargin.box.left(), inMargin.box.center().y());
    const double left = std::max(box.left(), from.x());
    const double right = std::min(box.right(), to.x());
    if (left >= right)
        return false;
    const double slope = (to.y() - from.y()) / (to.x() - from.x());
    const double first = from.y() + slope * (left - from.x());
    const double last = from.y() + slope * (right - from.x());
    return std::max(first, last) > box.top() && std::min(first, last) < box.bottom();
}
} // namespace

void PlotLayouter::placeLineLabels() {
    std::vector<PlotLabel> margin;
    std::vector<PlotLabel> atEnd;
    for (const PlotLine& line : content_.lines) {
        const std::optional<QPointF> end = visibleEnd(line);
        if (line.label.isEmpty() || !end)
            continue;
        PlotLabel label{line.label, {}, line.colour, end->y(), *end};
        (placeAtItsEnd(label, line) ? atEnd : margin).push_back(label);
    }
    const std::size_t before = result_.lineLabels.size();
    placeInMargin(margin);
    while (moveCrossedToMargin(atEnd, margin)) {
        result_.lineLabels.resize(before);
        placeInMargin(margin);
    }
    result_.lineLabels.insert(result_.lineLabels.end(), atEnd.begin(), atEnd.end());
}

/// Where the line ends or leaves the plot at its right, in pixels; nothing if it is not seen.
std::optional<QPointF> PlotLayouter::visibleEnd(const PlotLine& line) const {
    const QRectF& plot = result_.plot;
    std::optional<QPointF> beyond; // the point after the one that is looked at
    for (std::size_t i = line.points.size(); i-- > 0;) {
        const PlotPoint& point = line.points[i];
        if (!isDrawable(point.y, result_.logY) || !isDrawable(point.x, result_.logX)) {
            beyond.reset();
            continue;
        }
        QPointF end(result_.mapX(point.x), result_.mapY(point.y));
        if (end.x() > plot.right() + 0.5) {
            beyond = end;
            continue;
        }
        if (beyond) {
            const double share = (plot.right() - end.x()) / (beyond->x() - end.x());
            end = QPointF(plot.right(), end.y() + share * (beyond->y() - end.y()));
        }
        if (end.x() < plot.left() - 0.5)
            return std::nullopt;
        return QPointF(end.x(), std::clamp(end.y(), plot.top(), plot.bottom()));
    }
    return std::nullopt;
}

/// Moves one label that a leader to the margin would strike through; false if there is none.
bool PlotLayouter::moveCrossedToMargin(std::vector<PlotLabel>& atEnd,
                                       std::vector<PlotLabel>& margin) {
    const auto isStruck = [&](const PlotLabel& label) {
        return std::any_of(
            result_.lineLabels.begin(), result_.lineLabels.end(),
            [&](const PlotLabel& other) { return isCrossedByLeader(label.box, other); });
    };
    const auto struck = std::find_if(atEnd.begin(), atEnd.end(), isStruck);
    if (struck == atEnd.end())
        return false;
    std::erase(taken_, struck->box);
    margin.push_back(*struck);
    atEnd.erase(struck);
    return true;
}

/// Inside the plot, where the line ends well before the others do and nothing else is drawn.
bool PlotLayouter::placeAtItsEnd(PlotLabel& label, const PlotLine& own) {
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

void PlotLayouter::placeInMargin(std::vector<PlotLabel> labels) {
    std::stable_sort(labels.begin(), labels.end(),
                     [](const PlotLabel& a, const PlotLabel& b) { return a.anchor < b.anchor; });
    const double top = std::max(result_.plot.top() - lineHeight() / 2, result_.title.box.bottom());
    const double bottom = result_.plot.bottom() + kPad;
    const auto fit = static_cast<std::size_t>(std::max(0.0, (bottom - top) / lineHeight()));
    if (labels.size() > fit)
        labels.resize(fit);
    std::vector<double> wanted;
    wanted.reserve(labels.size());
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

bool PlotLayouter::isCrossed(const QRectF& box, const PlotLine* except) const {
    const AxisRange x{result_.valueAtX(box.left()), result_.valueAtX(box.right())};
    const AxisRange y{result_.valueAtY(box.bottom()), result_.valueAtY(box.top())};
    const auto inBox = [&](const PlotPoint& point) {
        return point.x >= x.from && point.x <= x.to && point.y >= y.from && point.y <= y.to;
    };
    const auto passes = [&](const PlotPoint& a, const PlotPoint& b) {
        if (std::max(a.x, b.x) < x.from || std::min(a.x, b.x) > x.to ||
            !(std::max(a.y, b.y) >= y.from && std::min(a.y, b.y) <= y.to))
            return false; // most of them
        return isCutBy(box, {result_.mapX(a.x), result_.mapY(a.y)},
                       {result_.mapX(b.x), result_.mapY(b.y)});
    };
    return std::any_of(content_.lines.begin(), content_.lines.end(), [&](const PlotLine& line) {
        const auto begin = line.points.begin();
        const auto end = line.points.end();
        return &line != except &&
               (std::any_of(begin, end, inBox) || std::adjacent_find(begin, end, passes) != end);
    });
}

bool PlotLayouter::isFree(const QRectF& box) const {
    const auto meets = [&](const QRectF& other) { return other.intersects(box); };
    return result_.plot.contains(box) && std::none_of(taken_.begin(), taken_.end(), meets);
}

/// As isFree, but the margin may be used where it has no label.
bool PlotLayouter::isFreeForEvent(const QRectF& box) const {
    const QRectF room(result_.plot.topLeft(), QPointF(size_.width(), result_.plot.bottom()));
    const auto meets = [&](const QRectF& other) { return other.intersects(box); };
    const auto labelMeets = [&](const PlotLabel& label) { return meets(label.box); };
    return room.contains(box) && std::none_of(taken_.begin(), taken_.end(), meets) &&
           std::none_of(result_.lineLabels.begin(), result_.lineLabels.end(), labelMeets);
}

void PlotLayouter::placeEvents() {
    for (const EventMark& event : content_.events) {
        PlotLabel label{{}, {}, event.colour, result_.mapX(event.x), {}};
        if (label.anchor >= result_.plot.left() && label.anchor <= result_.plot.right())
            placeEventText(label, event.text);
        result_.eventLabels.push_back(label);
    }
}

/// Right or left of the mark, from the top down: the first place where no line passes; in a large
/// plot rather over a line than nowhere. A small plot's mark speaks for itself.
void PlotLayouter::placeEventText(PlotLabel& label, const QString& text) {
    constexpr int kRows = 8;
    const double wide = width(text);
    std::optional<QRectF> found;
    bool clear = false;
    for (int row = 0; row < kRows; ++row)
        for (const double x : {label.anchor + kPad, label.anchor - kPad - wide}) {
            const QRectF box(x, result_.plot.top() + 2.0 + row * lineHeight(), wide, lineHeight());
            if (clear || !isFreeForEvent(box))
                continue;
            clear = !isCrossed(box, nullptr);
            if (clear || (!found && wide < result_.plot.width() / 2))
                found = box;
        }
    if (!found)
        return;
    label.text = text;
    label.box = *found;
    taken_.push_back(*found);
}

/// Left before right, above before below, and rather where no line passes.
void PlotLayouter::placeReferences() {
    for (const ReferenceLine& reference : content_.references) {
        const double at = result_.mapY(reference.y);
        const double wide = width(reference.text);
        const double most = result_.plot.width() - wide - 2 * kPad;
        PlotLabel label{{}, {}, {}, at, {}};
        std::optional<QRectF> found;
        bool clear = at < result_.plot.top() || at > result_.plot.bottom(); // not to be seen
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

void PlotLayouter::addBorderMark(std::vector<double>& taken, double x, BorderMark::Kind kind,
                                 const QColor& colour) {
    const double at = result_.mapX(x);
    if (at < result_.plot.left() || at > result_.plot.right() ||
        (!taken.empty() && at - taken.back() < kMarkSpacing))
        return;
    taken.push_back(at);
    const double y = kind == BorderMark::Kind::Below ? result_.plot.bottom() : result_.plot.top();
    result_.borderMarks.push_back({{at, y}, kind, colour});
}

void PlotLayouter::placeBorderMarks() {
    const AxisRange y = result_.ranges.y;
    for (const PlotLine& line : content_.lines) {
        std::vector<double> above;
        std::vector<double> below;
        std::vector<double> broken;
        for (const PlotPoint& point : line.points) {
            if (!std::isfinite(point.y) || !isDrawable(point.x, result_.logX) ||
                content_.window.isZoomed())
                continue; // what was zoomed away is no fault of the data
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
