// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl-C and SIGTERM: the first one is asked for by interrupted(), the second ends the program at
// once.
#pragma once

namespace gradlab::app {

/// Installs the handlers; once a process, before threads that should be interrupted start.
void catchInterrupts();
[[nodiscard]] bool interrupted() noexcept;

} // namespace gradlab::app
