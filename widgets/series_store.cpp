// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The pyramid works like a binary counter: a full leaf is pushed to level 0, and whenever a level
// has an even number of nodes its last two are merged into one of the level above. Dropping level 0
// therefore halves the leaves.
#include "widgets/series_store.h"

#include "engine/core/check.h"

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

NonFiniteMark::Kind kindOf(double value) {
    if (std::isnan(value))
        return NonFiniteMark::Kind::NotANumber;
    return value > 0.0 ? NonFiniteMark::Kind::PositiveInfinity
                       : NonFiniteMark::Kind::NegativeInfinity;
}

} // namespace

void SeriesStore::Node::add(double value, std::uint64_t sample) {
    last = value;
    if (!std::isfinite(value))
        return;
    ++finite;
    sum += value;
    if (value < min) {
        min = value;
        minAt = sample;
    }
    if (value > max) {
        max = value;
        maxAt = sample;
    }
}

void SeriesStore::Node::merge(const Node& later) {
    last = later.last;
    finite += later.finite;
    sum += later.sum;
    if (later.min < min) {
        min = later.min;
        minAt = later.minAt;
    }
    if (later.max > max) {
        max = later.max;
        maxAt = later.maxAt;
    }
}

/// Appends points, joins neighbouring gaps, leaves out what repeats the point before.
class SeriesStore::Collector {
public:
    Collector(const SeriesStore& store, XAxis axis) : store_(store), axis_(axis) {}

    void node(const Node& node, std::uint64_t lastSample) {
        if (node.finite == 0)
            return gap(store_.xOf(lastSample, axis_));
        const PlotPoint low{store_.xOf(node.minAt, axis_), node.min};
        const PlotPoint high{store_.xOf(node.maxAt, axis_), node.max};
        const bool minFirst = node.minAt <= node.maxAt;
        point(minFirst ? low : high);
        if (node.minAt != node.maxAt)
            point(minFirst ? high : low);
    }
    void point(PlotPoint point) {
        if (points_.empty() || !(points_.back() == point))
            points_.push_back(point);
    }
    [[nodiscard]] std::vector<PlotPoint> take() { return std::move(points_); }

private:
    void gap(double x) {
        if (!points_.empty() && !std::isnan(points_.back().y))
            points_.push_back({x, kNaN});
    }

    const SeriesStore& store_;
    XAxis axis_;
    std::vector<PlotPoint> points_;
};

SeriesStore::SeriesStore(std::size_t columns, std::size_t maxLeaves)
    : columns_(columns), maxLeaves_(maxLeaves) {
    GRADLAB_CHECK(maxLeaves >= 2 && maxLeaves % 2 == 0, maxLeaves);
}

void SeriesStore::append(const XValues& x, std::span<const double> values) {
    GRADLAB_CHECK(values.size() == columns_.size(), values.size(), columns_.size());
    for (std::size_t axis = 0; axis < kXAxisCount; ++axis) {
        const double before = samples_ == 0 ? 0.0 : lastX_[axis];
        lastX_[axis] = std::isfinite(x[axis]) ? x[axis] : before;
        if (samples_ != 0)
            lastX_[axis] = std::max(lastX_[axis], before);
    }
    if (samples_ == 0)
        firstX_ = lastX_;
    for (std::size_t i = 0; i < columns_.size(); ++i)
        appendValue(columns_[i], values[i]);
    ++samples_;
    if (++openSamples_ == stride_)
        closeLeaf();
}

void SeriesStore::appendValue(Column& column, double value) const {
    if (samples_ == 0)
        column.first = value;
    column.last = value;
    column.open.add(value, samples_);
    if (!std::isfinite(value) && column.marks.size() < kMaxMarks)
        column.marks.push_back({lastX_, kindOf(value)});
}

void SeriesStore::closeLeaf() {
    openSamples_ = 0;
    leafX_.push_back(lastX_);
    for (Column& column : columns_) {
        Node node = column.open;
        column.open = Node{};
        for (std::size_t k = 0;; ++k) {
            if (column.levels.size() == k)
                column.levels.emplace_back();
            std::vector<Node>& level = column.levels[k];
            level.push_back(node);
            if (level.size() % 2 != 0)
                break;
            node = level[level.size() - 2];
            node.merge(level.back());
        }
    }
    if (leafX_.size() == maxLeaves_)
        halve();
}

void SeriesStore::halve() {
    for (Column& column : columns_)
        column.levels.erase(column.levels.begin());
    for (std::size_t i = 0; i < maxLeaves_ / 2; ++i)
        leafX_[i] = leafX_[2 * i + 1];
    leafX_.resize(maxLeaves_ / 2);
    stride_ *= 2;
}

double SeriesStore::xOf(std::uint64_t sample, XAxis axis) const {
    const std::uint64_t leaf = sample / stride_;
    const XValues& x = leaf < leafX_.size() ? leafX_[leaf] : lastX_;
    return x[static_cast<std::size_t>(axis)];
}

std::pair<std::size_t, std::size_t> SeriesStore::leafRange(const Query& query) const {
    const auto axis = static_cast<std::size_t>(query.axis);
    const auto position = [&](double x) {
        const auto found =
            std::lower_bound(leafX_.begin(), leafX_.end(), x,
                             [axis](const XValues& leaf, double at) { return leaf[axis] < at; });
        return static_cast<std::size_t>(found - leafX_.begin());
    };
    // One leaf more on each side, so that lines reach the borders of the range.
    const std::size_t begin = position(query.from);
    const std::size_t end = std::min(position(query.to) + 2, leafX_.size());
    return {begin == 0 ? 0 : begin - 1, std::max(begin, end)};
}

/// Buckets start at multiples of their size, so that they stay the same while the run grows. Four
/// points are kept for the rest after the last whole bucket, the first and the last sample.
SeriesStore::Buckets SeriesStore::bucketsOf(const Query& query) const {
    const auto [begin, end] = leafRange(query);
    Buckets buckets{begin, end, 0};
    while (2 * ((end >> buckets.level) - (begin >> buckets.level)) + 4 > query.maxPoints)
        ++buckets.level;
    return buckets;
}

/// What comes after the last whole bucket, and the open leaf if the range reaches it.
SeriesStore::Node SeriesStore::restOf(const Column& column, const Buckets& buckets) const {
    Node rest;
    for (std::size_t leaf = std::max(buckets.begin, buckets.rest()); leaf < buckets.end; ++leaf)
        rest.merge(column.levels[0][leaf]);
    if (buckets.end == leafX_.size())
        rest.merge(column.open);
    return rest;
}

SeriesStore::Result SeriesStore::query(std::size_t columnIndex, const Query& query) const {
    GRADLAB_CHECK(columnIndex < columns_.size() && query.maxPoints >= 8, columnIndex,
                  query.maxPoints);
    Result result;
    if (samples_ == 0)
        return result;
    const Column& column = columns_[columnIndex];
    const auto axis = static_cast<std::size_t>(query.axis);
    const Buckets buckets = bucketsOf(query);
    const std::size_t level = buckets.level;
    Collector out(*this, query.axis);
    if (firstX_[axis] >= query.from && std::isfinite(column.first))
        out.point({firstX_[axis], column.first});
    for (std::size_t i = buckets.begin >> level; i < buckets.end >> level; ++i)
        out.node(column.levels[level][i], ((i + 1) << level) * stride_ - 1);
    const bool toTheEnd = buckets.end == leafX_.size();
    const std::uint64_t restEnd = toTheEnd ? samples_ : buckets.end * stride_;
    if (restEnd > buckets.rest() * stride_)
        out.node(restOf(column, buckets), restEnd - 1);
    if (toTheEnd && lastX_[axis] <= query.to && std::isfinite(column.last))
        out.point({lastX_[axis], column.last});
    result.points = out.take();
    for (const Column::Mark& mark : column.marks)
        if (mark.x[axis] >= query.from && mark.x[axis] <= query.to)
            result.marks.push_back({mark.x[axis], mark.kind});
    return result;
}

std::vector<PlotPoint> SeriesStore::smoothed(std::size_t columnIndex, const Query& query,
                                             double steps) const {
    GRADLAB_CHECK(columnIndex < columns_.size() && query.maxPoints >= 8 && steps >= 1.0,
                  columnIndex, query.maxPoints, steps);
    std::vector<PlotPoint> points;
    if (samples_ == 0)
        return points;
    const Column& column = columns_[columnIndex];
    const Buckets buckets = bucketsOf(query);
    const std::size_t level = buckets.level;
    const double keep = 1.0 - 1.0 / steps;
    double sum = 0.0;
    double weight = 0.0;
    const auto add = [&](const Node& node) {
        const double kept = std::pow(keep, static_cast<double>(node.finite));
        if (node.finite > 0)
            sum = kept * sum + (1.0 - kept) * node.sum / static_cast<double>(node.finite);
        weight = kept * weight + (1.0 - kept);
    };
    const auto show = [&](const Node& node, std::uint64_t lastSample) {
        add(node);
        const double x = xOf(lastSample, query.axis);
        if (node.finite > 0)
            points.push_back({x, sum / weight});
        else if (!points.empty() && !std::isnan(points.back().y))
            points.push_back({x, kNaN});
    };
    // Older samples than these have no weight that a number of this size could show.
    constexpr double kMemory = 40.0;
    const double bucketSamples = static_cast<double>(stride_) * std::exp2(level);
    const auto before =
        static_cast<std::size_t>(std::min(1e9, std::ceil(kMemory * steps / bucketSamples)));
    const std::size_t first = buckets.begin >> level;
    for (std::size_t i = first - std::min(first, before); i < first; ++i)
        add(column.levels[level][i]);
    for (std::size_t i = first; i < buckets.end >> level; ++i)
        show(column.levels[level][i], ((i + 1) << level) * stride_ - 1);
    const bool toTheEnd = buckets.end == leafX_.size();
    const std::uint64_t restEnd = toTheEnd ? samples_ : buckets.end * stride_;
    if (restEnd > buckets.rest() * stride_)
        show(restOf(column, buckets), restEnd - 1);
    return points;
}

std::optional<SeriesStore::Sample> SeriesStore::nearest(std::size_t columnIndex, XAxis xAxis,
                                                        double x) const {
    GRADLAB_CHECK(columnIndex < columns_.size(), columnIndex);
    if (samples_ == 0)
        return std::nullopt;
    const Column& column = columns_[columnIndex];
    const auto axis = static_cast<std::size_t>(xAxis);
    Sample best{lastX_, column.last};
    const auto consider = [&](const XValues& at, double value) {
        if (std::abs(at[axis] - x) < std::abs(best.x[axis] - x))
            best = {at, value};
    };
    const auto found =
        std::lower_bound(leafX_.begin(), leafX_.end(), x,
                         [axis](const XValues& leaf, double at) { return leaf[axis] < at; });
    const auto leaf = static_cast<std::size_t>(found - leafX_.begin());
    for (std::size_t i = leaf == 0 ? 0 : leaf - 1; i <= leaf && i < leafX_.size(); ++i)
        consider(leafX_[i], column.levels[0][i].last);
    consider(firstX_, column.first);
    return best;
}

std::optional<SeriesStore::Sample> SeriesStore::last(std::size_t column) const {
    GRADLAB_CHECK(column < columns_.size(), column);
    if (samples_ == 0)
        return std::nullopt;
    return Sample{lastX_, columns_[column].last};
}

} // namespace gradlab::widgets
