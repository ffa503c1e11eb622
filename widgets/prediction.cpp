// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/prediction.h"

#include "engine/core/check.h"

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

void Prediction::stroke(const PlotPoint& from, const PlotPoint& to) {
    GRADLAB_CHECK(from.y > 0.0 && to.y > 0.0, from.y, to.y);
    const PlotPoint& first = from.x <= to.x ? from : to;
    const PlotPoint& last = from.x <= to.x ? to : from;
    std::erase_if(points_,
                  [&](const PlotPoint& point) { return point.x >= first.x && point.x <= last.x; });
    const auto at = std::find_if(points_.begin(), points_.end(),
                                 [&](const PlotPoint& point) { return point.x > first.x; });
    if (first.x == last.x)
        points_.insert(at, to);
    else
        points_.insert(at, {first, last});
    if (points_.size() <= kMostPoints)
        return;
    // Every second one, and the end.
    std::vector<PlotPoint> fewer;
    for (std::size_t i = 0; i + 1 < points_.size(); i += 2)
        fewer.push_back(points_[i]);
    fewer.push_back(points_.back());
    points_ = std::move(fewer);
}

std::optional<double> Prediction::valueAt(double step) const {
    const auto after = std::find_if(points_.begin(), points_.end(),
                                    [&](const PlotPoint& point) { return point.x >= step; });
    if (after == points_.end())
        return std::nullopt;
    if (after->x == step)
        return after->y;
    if (after == points_.begin())
        return std::nullopt;
    const PlotPoint& before = *(after - 1);
    const double share = (step - before.x) / (after->x - before.x);
    return before.y * std::pow(after->y / before.y, share);
}

} // namespace gradlab::widgets
