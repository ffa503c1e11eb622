// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The clock of benchmarks.
#pragma once

#include <chrono>

namespace gradlab::engine {

using BenchClock = std::chrono::steady_clock;

[[nodiscard]] inline double secondsSince(BenchClock::time_point begin) {
    return std::chrono::duration<double>(BenchClock::now() - begin).count();
}

} // namespace gradlab::engine
