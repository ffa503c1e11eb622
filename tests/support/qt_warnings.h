// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Collects what Qt warns about: a GUI test with a warning that nobody expected fails. Call
// install() in initTestCase() and QVERIFY2(QtWarnings::none(), …text()) in cleanup().
#pragma once

#include <QByteArray>
#include <QMutex>
#include <QMutexLocker>
#include <QString>
#include <QStringList>
#include <QtGlobal>

namespace gradlab::tests {

class QtWarnings {
public:
    static void install() { previous() = qInstallMessageHandler(&QtWarnings::handle); }
    /// True if nothing was warned about since the last call of take().
    [[nodiscard]] static bool none() {
        const QMutexLocker lock(&mutex());
        return list().isEmpty();
    }
    /// The warnings since the last call, joined.
    [[nodiscard]] static QByteArray take() {
        const QMutexLocker lock(&mutex());
        const QByteArray text = list().join(QChar(u'\n')).toUtf8();
        list().clear();
        return text;
    }

private:
    static void handle(QtMsgType type, const QMessageLogContext& context, const QString& text) {
        // The offscreen platform says of every window what it cannot do; that is not about us.
        if (text.startsWith(QStringLiteral("This plugin does not support")))
            return;
        if (type == QtWarningMsg || type == QtCriticalMsg) {
            const QMutexLocker lock(&mutex());
            list().append(text);
        }
        if (previous() != nullptr)
            previous()(type, context, text);
    }
    static QtMessageHandler& previous() {
        static QtMessageHandler handler = nullptr;
        return handler;
    }
    static QStringList& list() {
        static QStringList warnings;
        return warnings;
    }
    static QMutex& mutex() {
        static QMutex lock;
        return lock;
    }
};

} // namespace gradlab::tests
