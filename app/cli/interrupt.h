// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl-C, SIGTERM and SIGHUP: the first one is asked for by interrupted(); another one ends the
// program at once, but not before what was asked for had time to save. SIGPIPE is ignored.
#pragma once

#include <stop_token>
#include <thread>

namespace gradlab::app {

/// Interrupts within this time of the first one change nothing.
inline constexpr int kSavingSeconds = 2;

/// Installs the handlers; once a process, before threads that should be interrupted start.
void catchInterrupts();
[[nodiscard]] bool interrupted() noexcept;

/// While it lives, an interrupt asks the token's holders to stop.
class InterruptWatch {
public:
    InterruptWatch();
    [[nodiscard]] std::stop_token token() const { return leave_.get_token(); }

private:
    std::stop_source leave_;
    std::jthread thread_; ///< last: uses leave_
};

} // namespace gradlab::app
