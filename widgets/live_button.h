// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The way back from a zoomed plot to the run: shown over the end of the title's line.
#pragma once

#include "widgets/theme.h"

#include <QToolButton>

namespace gradlab::widgets {

class LiveButton : public QToolButton {
    Q_OBJECT

public:
    explicit LiveButton(QWidget* plot);
    void setTheme(const Theme& theme);
    /// Into the plot's corner. @return pixels that it takes of the title's line; 0: hidden
    double place(bool shown);

private:
    int lineHeight_ = 0;
};

} // namespace gradlab::widgets
