// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A pipe: the handler may only write(2).
#include "app/interrupt_notifier.h"

#include <QSocketNotifier>

#include <unistd.h>

#include <array>
#include <csignal>

namespace gradlab::app {
namespace {

int writeEnd = -1; // of the handler

void handleSignal(int signal) {
    const char byte = 0;
    if (write(writeEnd, &byte, 1) != 1)
        _exit(128 + signal);
    std::signal(signal, SIG_DFL);
}

} // namespace

InterruptNotifier::InterruptNotifier(QObject* parent) : QObject(parent) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0)
        return;
    readEnd_ = ends[0];
    writeEnd = ends[1];
    auto* notifier = new QSocketNotifier(readEnd_, QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, [this] {
        char byte = 0;
        if (read(readEnd_, &byte, 1) == 1)
            Q_EMIT interrupted();
    });
    std::signal(SIGINT, handleSignal);
    std::signal(SIGTERM, handleSignal);
}

InterruptNotifier::~InterruptNotifier() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    if (readEnd_ >= 0) {
        close(readEnd_);
        close(writeEnd);
    }
}

} // namespace gradlab::app
