// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/prompt_thread.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

namespace gradlab::transport {
namespace {

constexpr std::uint64_t kShortSliceNs = 100'000; // the shortest that there is

/// As the kernel has it (sched_setattr(2)); its own header and the C library's exclude each other.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtimeNs = 0; ///< of a usual thread: its slice
    std::uint64_t deadlineNs = 0;
    std::uint64_t periodNs = 0;
};
constexpr std::uint64_t kResetOnFork = 1;

void askForShortSlices(std::uint64_t flags) noexcept {
    SchedulingAttributes wish;
    if (::syscall(SYS_sched_getattr, 0, &wish, sizeof(wish), 0) != 0)
        return;
    if (wish.policy != SCHED_OTHER && wish.policy != SCHED_BATCH)
        return; // somebody has chosen how this process is to run
    wish.size = sizeof(wish);
    wish.flags |= flags;
    wish.runtimeNs = kShortSliceNs;
    (void)::syscall(SYS_sched_setattr, 0, &wish, 0);
}

} // namespace

void becomePrompt() noexcept {
    askForShortSlices(kResetOnFork);
}

zmq::context_t promptContext() {
    zmq::context_t context;
    // ZeroMQ starts its threads with the first socket; they are as the thread that makes it.
    std::jthread([&context] {
        askForShortSlices(0);
        zmq::socket_t first(context, zmq::socket_type::pair);
    }).join();
    return context;
}

} // namespace gradlab::transport
