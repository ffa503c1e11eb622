// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/seed_spread.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace gradlab::widgets {

namespace {

/// NaN in a gap. @pre x lies between the line's ends
double valueAt(const std::vector<PlotPoint>& line, double x) {
    const auto after = std::lower_bound(line.begin(), line.end(), x,
                                        [](const PlotPoint& p, double at) { return p.x < at; });
    if (after->x == x)
        return after->y;
    const PlotPoint& before = *std::prev(after);
    return before.y + (after->y - before.y) * (x - before.x) / (after->x - before.x);
}

} // namespace

std::vector<SpreadPoint> spreadAlong(const std::vector<std::vector<PlotPoint>>& lines) {
    const bool complete = lines.size() > 1 && std::none_of(lines.begin(), lines.end(),
                                                           [](auto& l) { return l.empty(); });
    std::vector<SpreadPoint> points;
    if (!complete)
        return points;
    double from = -std::numeric_limits<double>::infinity();
    double to = std::numeric_limits<double>::infinity();
    for (const std::vector<PlotPoint>& line : lines) {
        from = std::max(from, line.front().x);
        to = std::min(to, line.back().x);
    }
    std::vector<double> values;
    for (const PlotPoint& place : lines.front()) {
        if (place.x < from || place.x > to)
            continue;
        values.clear();
        for (const std::vector<PlotPoint>& line : lines)
            if (const double value = valueAt(line, place.x); std::isfinite(value))
                values.push_back(value);
        const engine::Spread spread = engine::spreadOf(values);
        if (spread.count > 1)
            points.push_back({place.x, spread.mean, spread.deviation});
    }
    return points;
}

std::vector<RunList> seedGroups(const RunList& runs) {
    std::vector<RunList> groups;
    for (const RunInfo& run : runs) {
        if (run.seedGroup == 0)
            continue;
        const auto own = std::find_if(groups.begin(), groups.end(), [&](const RunList& group) {
            return group.front().seedGroup == run.seedGroup;
        });
        if (own == groups.end())
            groups.push_back({run});
        else
            own->push_back(run);
    }
    return groups;
}

engine::Spread pairedDifference(const RunList& group, const RunList& other, Metric metric,
                                XAxis axis, double x) {
    std::vector<double> differences;
    for (const RunInfo& run : group) {
        const auto partner =
            std::find_if(other.begin(), other.end(),
                         [&](const RunInfo& candidate) { return candidate.seed == run.seed; });
        if (partner == other.end())
            continue;
        const auto own = run.series->nearest(metric, axis, x);
        const auto its = partner->series->nearest(metric, axis, x);
        if (own && its && std::isfinite(own->value - its->value))
            differences.push_back(own->value - its->value);
    }
    return engine::spreadOf(differences);
}

} // namespace gradlab::widgets
