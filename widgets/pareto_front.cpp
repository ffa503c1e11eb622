// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/pareto_front.h"

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

std::vector<ParetoPoint> paretoFront(std::vector<ParetoPoint> points) {
    std::erase_if(points, [](const ParetoPoint& point) {
        return !std::isfinite(point.cost) || !std::isfinite(point.value);
    });
    std::stable_sort(points.begin(), points.end(), [](const ParetoPoint& a, const ParetoPoint& b) {
        return a.cost < b.cost || (a.cost == b.cost && a.value < b.value);
    });
    std::vector<ParetoPoint> front;
    for (const ParetoPoint& point : points)
        if (front.empty() || point.value < front.back().value)
            front.push_back(point);
    return front;
}

} // namespace gradlab::widgets
