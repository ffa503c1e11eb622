// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What ended a run, as one line for people and the contract's exit code for programs.
#pragma once

#include <exception>
#include <string>

namespace gradlab::app {

struct RunError {
    std::string message; ///< one line: what is wrong, where, what to do
    int exitCode = 1;    ///< 2 experiment, 3 data, 4 workers, 5 numbers, 1 a bug
};

/// `error` must not be null.
[[nodiscard]] RunError describeError(const std::exception_ptr& error);

} // namespace gradlab::app
