// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Mean and standard deviation of a few values, such as one number of runs from several seeds.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace gradlab::engine {

struct Spread {
    std::size_t count = 0;
    double mean = 0.0;
    double deviation = 0.0; ///< sample's (n − 1); 0 for one value
};

[[nodiscard]] inline Spread spreadOf(std::span<const double> values) {
    Spread spread;
    spread.count = values.size();
    if (values.empty())
        return spread;
    for (const double value : values)
        spread.mean += value;
    spread.mean /= static_cast<double>(spread.count);
    double squares = 0.0;
    for (const double value : values)
        squares += (value - spread.mean) * (value - spread.mean);
    if (spread.count > 1)
        spread.deviation = std::sqrt(squares / static_cast<double>(spread.count - 1));
    return spread;
}

} // namespace gradlab::engine
