// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/loss_difference.h"

#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

double distance(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b)))
        return 0.0;
    const double apart = std::abs(a - b);
    return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

} // namespace

void LossDifference::advance(const RunSeries& run, const RunSeries& baseline) {
    const auto& own = run.exactLosses();
    const auto& other = baseline.exactLosses();
    while (next_ < own.size() && nextBaseline_ < other.size()) {
        const ExactLoss& a = own[next_];
        const ExactLoss& b = other[nextBaseline_];
        if (a.step == b.step) {
            const double apart = distance(a.loss, b.loss);
            if (steps_ == 0 || apart > largest_) {
                largest_ = apart;
                largestAt_ = a.step;
            }
            sum_ += apart;
            ++steps_;
        }
        if (a.step <= b.step)
            ++next_;
        if (b.step <= a.step)
            ++nextBaseline_;
    }
}

double LossDifference::mean() const noexcept {
    return steps_ == 0 ? 0.0 : sum_ / static_cast<double>(steps_);
}

} // namespace gradlab::widgets
