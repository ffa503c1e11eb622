// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a window showed when it closed, to be opened again when somebody asks for it.
#pragma once

#include "app/window_layout.h"

#include <QString>
#include <QStringList>

namespace gradlab::app {

struct LastSession {
    static constexpr int kMostFolders = 100;

    QStringList folders; ///< run folders whose runs were in the list, in its order
    QString experiments; ///< of the form, as the text of an experiment file
    QString path;        ///< the file they are of; empty: none
    WindowLayout layout;

    [[nodiscard]] bool isEmpty() const noexcept { return experiments.isEmpty(); }
    [[nodiscard]] static LastSession read();
    void write() const;
};

} // namespace gradlab::app
