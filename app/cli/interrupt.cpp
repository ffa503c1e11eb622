// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupt.h"

#include "app/cli/program_error.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace gradlab::app {

namespace {

// A signal handler may touch nothing else; threads ask for it.
std::atomic<int> interruptCount = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void noteInterrupt(int /*signal*/) {
    if (interruptCount++ > 0)
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
}

bool interrupted() noexcept {
    return interruptCount > 0;
}

} // namespace gradlab::app
