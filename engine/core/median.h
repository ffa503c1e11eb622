// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The middle one of several measurements: one alone may meet with anything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace gradlab::engine {

/// The upper of two middle ones. `values` is not empty.
[[nodiscard]] inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace gradlab::engine
