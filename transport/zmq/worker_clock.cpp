// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_clock.h"

#include <algorithm>

namespace gradlab::transport {
namespace {

constexpr std::size_t kSamples = 16; ///< four seconds of heartbeats
constexpr double kSmoothing = 0.2;
constexpr double kSecondsPerNs = 1e-9;

} // namespace

void WorkerClock::answered(std::int64_t sentNs, std::int64_t coordinatorNs, std::int64_t nowNs) {
    if (sentNs > nowNs)
        return; // not one of ours
    const std::int64_t roundTrip = nowNs - sentNs;
    const double seconds = static_cast<double>(roundTrip) * kSecondsPerNs;
    const double before = roundTripS_;
    roundTripS_ = before == 0.0 ? seconds : before + kSmoothing * (seconds - before);
    const Sample sample{roundTrip, coordinatorNs - (sentNs + roundTrip / 2)};
    if (samples_.size() < kSamples)
        samples_.push_back(sample);
    else
        samples_[next_++ % kSamples] = sample;
    const auto best =
        std::min_element(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) {
            return a.roundTripNs < b.roundTripNs;
        });
    offsetNs_ = shared_ ? 0 : best->offsetNs;
}

void WorkerClock::shareClock() noexcept {
    shared_ = true;
    offsetNs_ = 0;
}

} // namespace gradlab::transport
