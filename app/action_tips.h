// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What an action says of itself: in the status bar, and with its key where the pointer rests.
#pragma once

#include <QAction>
#include <QKeySequence>
#include <QString>

namespace gradlab::app {

/// The key is the action's first one as of now.
inline void setTips(QAction& action, const QString& tip) {
    action.setStatusTip(tip);
    const QString key = action.shortcut().toString(QKeySequence::NativeText);
    action.setToolTip(key.isEmpty() ? tip : QStringLiteral("%1 (%2)").arg(tip, key));
}

} // namespace gradlab::app
