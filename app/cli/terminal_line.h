// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One line at the bottom of a terminal that is written over: progress on stderr, at most ten times
// a second. Nothing at all where stderr is no terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace gradlab::app {

class TerminalLine {
public:
    /// Shows nothing if `wanted` is false or stderr is no terminal.
    explicit TerminalLine(bool wanted);
    ~TerminalLine();
    TerminalLine(const TerminalLine&) = delete;
    TerminalLine& operator=(const TerminalLine&) = delete;

    /// Whether show() would draw now, so that nobody makes text for nothing.
    [[nodiscard]] bool isDue() const;
    /// Columns of the terminal as it is now, one left free.
    [[nodiscard]] std::size_t columns() const;
    void show(const std::string& text);
    /// Makes room for other output.
    void clear();

private:
    bool active_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point next_{};
};

} // namespace gradlab::app
