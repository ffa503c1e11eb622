// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupt.h"

#include "app/cli/program_error.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace gradlab::app {

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

// A signal handler may touch nothing else; threads ask for it.
std::atomic<std::int64_t> firstInterrupt = 0; ///< nanoseconds of CLOCK_MONOTONIC; 0 = none yet
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

extern "C" void noteInterrupt(int /*signal*/) {
    timespec now{};
    (void)::clock_gettime(CLOCK_MONOTONIC, &now); // may be called here (signal-safety(7))
    const std::int64_t time = now.tv_sec * kNanoseconds + now.tv_nsec;
    std::int64_t first = 0;
    if (!firstInterrupt.compare_exchange_strong(first, time) &&
        time - first >= kSavingSeconds * kNanoseconds)
        ::_exit(kExitInterrupted);
}

} // namespace

void catchInterrupts() {
    struct sigaction action {};
    action.sa_handler = noteInterrupt;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    // A closed terminal ends the run too, unless nohup said that it shall go on.
    struct sigaction before {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, nullptr);
    // Nobody reads the output any more (| head): the work is worth more than the words.
    std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() noexcept {
    return firstInterrupt != 0;
}

InterruptWatch::InterruptWatch()
    : thread_([this](const std::stop_token& done) {
          constexpr std::chrono::milliseconds kEvery{50};
          while (!done.stop_requested() && !leave_.stop_requested()) {
              if (interrupted())
                  leave_.request_stop();
              std::this_thread::sleep_for(kEvery);
          }
      }) {}

} // namespace gradlab::app
