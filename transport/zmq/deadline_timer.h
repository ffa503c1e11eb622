// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Ends a poll at an instant, to the microsecond: polls themselves count in milliseconds, an
// emulated link does not.
#pragma once

#include <chrono>

namespace gradlab::transport {

/// Not thread-safe.
class DeadlineTimer {
public:
    DeadlineTimer();
    ~DeadlineTimer();
    DeadlineTimer(const DeadlineTimer&) = delete;
    DeadlineTimer& operator=(const DeadlineTimer&) = delete;
    /// The descriptor is readable from `time` on, until it is set again.
    void set(std::chrono::steady_clock::time_point time);
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1; ///< a timerfd on the steady clock
};

} // namespace gradlab::transport
