// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/deadline_timer.h"

#include "engine/core/check.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

namespace gradlab::transport {

DeadlineTimer::DeadlineTimer()
    : descriptor_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    GRADLAB_CHECK(descriptor_ >= 0, errno);
}

DeadlineTimer::~DeadlineTimer() {
    ::close(descriptor_);
}

void DeadlineTimer::set(std::chrono::steady_clock::time_point time) {
    constexpr std::int64_t kNsPerSecond = 1000000000;
    // 0 would disarm it.
    const std::int64_t ns =
        std::max<std::int64_t>(1, std::chrono::nanoseconds(time.time_since_epoch()).count());
    itimerspec spec{};
    spec.it_value.tv_sec = ns / kNsPerSecond;
    spec.it_value.tv_nsec = ns % kNsPerSecond;
    GRADLAB_CHECK(::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &spec, nullptr) == 0, errno);
}

} // namespace gradlab::transport
