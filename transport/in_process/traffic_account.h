// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One step's bytes and times, worker by worker, as frames pass. Leaves out: deciding when they do
// (EmulatedLink). Reused from step to step.
#pragma once

#include "engine/training/gradient_exchange.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gradlab::transport {

/// Times in seconds since the step's start. Not thread-safe.
class TrafficAccount {
public:
    void reset(std::size_t workers);

    void messagePart(std::size_t worker, std::size_t bytes, double handedOver);
    void sent(std::size_t worker, std::size_t bytes, double start, double end);
    void received(std::size_t worker, std::size_t bytes, double start, double end);

    [[nodiscard]] double lastHandOver(std::size_t worker) const { return rows_[worker].handedOver; }
    [[nodiscard]] double everyoneHandedOver() const noexcept;
    /// `origin`: the instant that times count from.
    [[nodiscard]] std::vector<engine::RankTraffic> result(engine::SteadyTime origin);

private:
    using Interval = std::pair<double, double>;
    struct Row {
        std::uint64_t bytesMessage = 0;
        std::uint64_t bytesUp = 0;
        std::uint64_t bytesDown = 0;
        double handedOver = 0.0;
        double arrived = 0.0;
        std::vector<Interval> onLink; ///< sent and received frames, overlapping
    };
    static void occupy(Row& row, double start, double end);
    /// Length of the union of the intervals, and of its piece before `until`.
    static std::pair<double, double> onLinkSeconds(std::vector<Interval>& intervals, double until);

    std::vector<Row> rows_;
};

/// The first instant that is not before `seconds` after `origin`.
[[nodiscard]] engine::SteadyTime instantOf(engine::SteadyTime origin, double seconds);

} // namespace gradlab::transport
