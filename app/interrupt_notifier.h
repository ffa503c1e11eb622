// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Ctrl-C and SIGTERM as a signal of the GUI thread; the second one ends the program at once.
#pragma once

#include <QObject>

namespace gradlab::app {

/// One a process.
class InterruptNotifier : public QObject {
    Q_OBJECT

public:
    explicit InterruptNotifier(QObject* parent = nullptr);
    ~InterruptNotifier() override;

Q_SIGNALS:
    void interrupted();

private:
    int readEnd_ = -1;
};

} // namespace gradlab::app
