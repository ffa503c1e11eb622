// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What of several runs is worth its cost: the points that no other one beats. No Qt.
#pragma once

#include <cstddef>
#include <vector>

namespace gradlab::widgets {

/// A result that cost something; of both less is better.
struct ParetoPoint {
    double cost = 0.0;
    double value = 0.0;
    std::size_t run = 0;
};

/// By rising cost and falling value: each is better than every cheaper one. Points that are not
/// finite are left out; of equal ones the first is kept.
[[nodiscard]] std::vector<ParetoPoint> paretoFront(std::vector<ParetoPoint> points);

} // namespace gradlab::widgets
