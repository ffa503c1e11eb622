// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupt.h"

#include "app/cli/program_error.h"

#include <unistd.h>

#include <csignal>

namespace gradlab::app {

namespace {

// A signal handler may touch nothing else.
volatile std::sig_atomic_t interruptCount = 0;

extern "C" void noteInterrupt(int /*signal*/) {
    if (interruptCount > 0)
        ::_exit(kExitInterrupted);
    interruptCount = 1;
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
