// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Drives the window without a person: starts, waits for the end, saves a picture, leaves.
#pragma once

#include "app/window_options.h"

#include <QObject>

namespace gradlab::app {

class MainWindow;

class Autopilot : public QObject {
    Q_OBJECT

public:
    /// `window` outlives it.
    Autopilot(MainWindow& window, WindowOptions options);

    /// Call once the window is shown.
    void begin();
    /// Ctrl-C: stops the run, then leaves with 130.
    void interrupt();

private:
    void finish();
    void refuse();
    void leave(int exitCode);
    [[nodiscard]] bool savePicture();
    void saveReport(int exitCode);

    MainWindow& window_;
    WindowOptions options_;
    bool interrupted_ = false;
    bool finished_ = false;
};

} // namespace gradlab::app
