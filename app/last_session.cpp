// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/last_session.h"

#include <QSettings>

namespace gradlab::app {
namespace {

constexpr QLatin1String kGroup("session");

} // namespace

LastSession LastSession::read() {
    QSettings settings;
    settings.beginGroup(kGroup);
    LastSession session;
    session.folders = settings.value(QStringLiteral("folders")).toStringList().mid(0, kMostFolders);
    session.experiments = settings.value(QStringLiteral("experiments")).toString();
    session.path = settings.value(QStringLiteral("path")).toString();
    session.layout = readLayout(settings);
    return session;
}

void LastSession::write() const {
    QSettings settings;
    settings.remove(kGroup);
    settings.beginGroup(kGroup);
    settings.setValue(QStringLiteral("folders"), folders.mid(0, kMostFolders));
    settings.setValue(QStringLiteral("experiments"), experiments);
    settings.setValue(QStringLiteral("path"), path);
    writeLayout(settings, layout);
}

} // namespace gradlab::app
