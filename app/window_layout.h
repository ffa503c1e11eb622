// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where everything of the window is, as data, and the layouts that a person saved under a name.
// Leaves out: applying them (MainWindow).
#pragma once

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <optional>

class QSettings;

namespace gradlab::app {

struct WindowLayout {
    QString name;
    QByteArray docks;     ///< QMainWindow::saveState
    QByteArray splitters; ///< ChartBoard::saveSplitters; empty: its first ones
    int xAxis = 0;        ///< widgets::XAxis
    bool tuning = false;
    bool pareto = false;
    bool presenting = false;
};

/// In the user's settings. Names are compared without regard to case.
class LayoutStore {
public:
    static constexpr int kMostLayouts = 20;
    static constexpr int kLongestName = 40;

    [[nodiscard]] static QStringList names();
    [[nodiscard]] static std::optional<WindowLayout> find(const QString& name);
    /// In the place of one of the same name. False if there is no room for one more.
    static bool save(const WindowLayout& layout);
    static void remove(const QString& name);
};

/// In the settings' group that is open.
void writeLayout(QSettings& settings, const WindowLayout& layout);
[[nodiscard]] WindowLayout readLayout(const QSettings& settings);

} // namespace gradlab::app
