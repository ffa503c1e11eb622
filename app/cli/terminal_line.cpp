// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/terminal_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

namespace gradlab::app {

namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr const char* kEraseLine = "\r\x1b[K";

} // namespace

TerminalLine::TerminalLine(bool wanted) : active_(wanted && ::isatty(STDERR_FILENO) == 1) {}

TerminalLine::~TerminalLine() {
    clear();
}

bool TerminalLine::isDue() const {
    return active_ && std::chrono::steady_clock::now() >= next_;
}

std::size_t TerminalLine::columns() const {
    constexpr std::size_t kUsual = 80;
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
        return kUsual - 1;
    return size.ws_col - 1U; // a full last column would wrap
}

void TerminalLine::show(const std::string& text) {
    if (!active_)
        return;
    std::cerr << kEraseLine << text << std::flush;
    shown_ = true;
    next_ = std::chrono::steady_clock::now() + kInterval;
}

void TerminalLine::clear() {
    if (shown_)
        std::cerr << kEraseLine << std::flush;
    shown_ = false;
}

} // namespace gradlab::app
