// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What /proc says of processes: their state, and who runs with which arguments.
#pragma once

#include <QByteArray>
#include <QByteArrayList>
#include <QDir>
#include <QFile>

#include <cstdint>
#include <vector>

namespace gradlab::tests {

/// 'R', 'S', 'T' (stopped), 'Z' (ended, not waited for) …; 0: there is no such process.
inline char stateOf(std::int64_t pid) {
    QFile file(QString("/proc/%1/stat").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QByteArray text = file.readAll();
    const qsizetype name = text.lastIndexOf(')');
    return name < 0 || name + 2 >= text.size() ? '\0' : text.at(name + 2);
}

/// Runs, or is stopped.
inline bool isAlive(std::int64_t pid) {
    const char state = stateOf(pid);
    return state != 0 && state != 'Z' && state != 'X';
}

/// Living processes with these arguments, one after the other, on their command line.
inline std::vector<std::int64_t> processesWith(const QByteArrayList& arguments) {
    const QByteArray wanted = '\0' + arguments.join('\0') + '\0';
    std::vector<std::int64_t> found;
    for (const QString& entry : QDir("/proc").entryList(QDir::Dirs)) {
        bool isPid = false;
        const qint64 pid = entry.toLongLong(&isPid);
        QFile file("/proc/" + entry + "/cmdline");
        if (isPid && file.open(QIODevice::ReadOnly) && file.readAll().contains(wanted) &&
            isAlive(pid))
            found.push_back(pid);
    }
    return found;
}

} // namespace gradlab::tests
