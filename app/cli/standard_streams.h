// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A program that was started with a closed stdin, stdout or stderr would get a file of its own
// under that number, and what is printed would land in it.
#pragma once

namespace gradlab::app {

/// Opens /dev/null where a standard stream is closed. First thing in main().
void openStandardStreams();

} // namespace gradlab::app
