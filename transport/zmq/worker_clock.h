// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How a worker's steady clock relates to the coordinator's, from heartbeats: of the latest answers
// the one with the shortest round trip counts. Equal boot ids mean one clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradlab::transport {

/// This process's steady clock in nanoseconds.
[[nodiscard]] inline std::int64_t steadyNs() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// The network thread writes, any thread reads.
class WorkerClock {
public:
    /// A heartbeat of `sentNs` was answered at `coordinatorNs`; it is `nowNs` here.
    void answered(std::int64_t sentNs, std::int64_t coordinatorNs, std::int64_t nowNs);
    /// The coordinator runs on this machine: the offset is and stays 0.
    void shareClock() noexcept;

    /// Coordinator's time = own time + this.
    [[nodiscard]] std::int64_t offsetNs() const noexcept { return offsetNs_; }
    /// Seconds, smoothed; 0 before the first answer.
    [[nodiscard]] double roundTripS() const noexcept { return roundTripS_; }

private:
    struct Sample {
        std::int64_t roundTripNs = 0;
        std::int64_t offsetNs = 0;
    };
    std::vector<Sample> samples_; ///< a ring
    std::size_t next_ = 0;
    bool shared_ = false;
    std::atomic<std::int64_t> offsetNs_ = 0;
    std::atomic<double> roundTripS_ = 0.0;
};

} // namespace gradlab::transport
