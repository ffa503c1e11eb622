// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli's subcommands, its help, and its exit codes. Leaves out: what the subcommands do.
#pragma once

namespace gradlab::app {

/// Parses and runs. Errors become one line on stderr. @return the contract's exit code
[[nodiscard]] int runCommandLine(int argc, char** argv);

} // namespace gradlab::app
