// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The clock and the mean of benchmarks.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace gradlab::engine {

using BenchClock = std::chrono::steady_clock;

[[nodiscard]] inline double secondsSince(BenchClock::time_point begin) {
    return std::chrono::duration<double>(BenchClock::now() - begin).count();
}

/// The middle one, the upper of two. `values` is not empty.
[[nodiscard]] inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace gradlab::engine
