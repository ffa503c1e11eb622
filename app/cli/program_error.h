// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What ended the program, as one line for people and the contract's exit code.
#pragma once

#include <exception>
#include <string>

namespace gradlab::app {

inline constexpr int kExitDone = 0;
inline constexpr int kExitBug = 1;
inline constexpr int kExitExperiment = 2;
inline constexpr int kExitData = 3;
inline constexpr int kExitWorkers = 4;
inline constexpr int kExitNumbers = 5;
inline constexpr int kExitInterrupted = 130;

struct ProgramError {
    std::string message; ///< one line: what is wrong, where, what to do
    int exitCode = kExitBug;
};

/// `error` must not be null.
[[nodiscard]] ProgramError describeProgramError(const std::exception_ptr& error);

/// Writes "gradlab-cli: <message>" to stderr. @return the exit code
int reportError(const ProgramError& error);

} // namespace gradlab::app
