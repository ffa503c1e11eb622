// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How far the training losses of two runs part, step by step, with every bit that was recorded.
// Goes on where it was when the runs have grown. No Qt.
#pragma once

#include "widgets/run_series.h"

#include <cstddef>
#include <cstdint>

namespace gradlab::widgets {

class LossDifference {
public:
    /// Takes the steps that both have and that came since the last call; always with the same runs.
    void advance(const RunSeries& run, const RunSeries& baseline);

    /// Steps compared so far.
    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
    /// |loss − baseline's loss|: infinite if only one of them is not a number.
    [[nodiscard]] double largest() const noexcept { return largest_; }
    [[nodiscard]] std::uint64_t largestAt() const noexcept { return largestAt_; }
    [[nodiscard]] double mean() const noexcept;

private:
    std::size_t next_ = 0; ///< of the run's exact losses
    std::size_t nextBaseline_ = 0;
    std::uint64_t steps_ = 0;
    double largest_ = 0.0;
    std::uint64_t largestAt_ = 0;
    double sum_ = 0.0;
};

} // namespace gradlab::widgets
