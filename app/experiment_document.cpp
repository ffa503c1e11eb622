// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment_document.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSaveFile>
#include <QSettings>
#include <QStandardPaths>

#include <csignal>

namespace gradlab::app {

namespace {

constexpr int kCopyAfterMs = 1000;

QDir recoveryFolder() {
    return {QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
            QStringLiteral("/recovery")};
}

QString recentKey() {
    return QStringLiteral("documents/recent");
}

/// Copies are named by the process that writes them.
bool isRunning(qint64 process) {
    return process > 0 && ::kill(static_cast<pid_t>(process), 0) == 0;
}

} // namespace

ExperimentDocument::ExperimentDocument(bool remembers, QObject* parent)
    : QObject(parent), remembers_(remembers) {
    copyLater_.setSingleShot(true);
    copyLater_.setInterval(kCopyAfterMs);
    connect(&copyLater_, &QTimer::timeout, this, &ExperimentDocument::keepCopy);
}

ExperimentDocument::~ExperimentDocument() {
    if (copyLater_.isActive())
        keepCopy();
}

void ExperimentDocument::setContent(const QString& text) {
    if (text == content_)
        return;
    content_ = text;
    copyLater_.start();
    Q_EMIT changed();
}

void ExperimentDocument::setUnchanged(const QString& path) {
    path_ = path.isEmpty() ? path : QFileInfo(path).absoluteFilePath();
    kept_ = content_;
    keepCopy();
    if (!path_.isEmpty())
        addRecent(path_);
    Q_EMIT changed();
}

QString ExperimentDocument::name() const {
    return path_.isEmpty() ? tr("Untitled experiment") : QFileInfo(path_).fileName();
}

QStringList ExperimentDocument::recent() const {
    return remembers_ ? QSettings().value(recentKey()).toStringList() : QStringList();
}

void ExperimentDocument::addRecent(const QString& path) {
    if (!remembers_)
        return;
    const QString whole = QFileInfo(path).absoluteFilePath();
    QStringList paths = recent();
    paths.removeAll(whole);
    paths.prepend(whole);
    QSettings().setValue(recentKey(), QStringList(paths.mid(0, kRecentFiles)));
}

void ExperimentDocument::clearRecent() {
    if (remembers_)
        QSettings().remove(recentKey());
}

QString ExperimentDocument::copyPath() const {
    return recoveryFolder().filePath(
        QStringLiteral("%1.json").arg(QCoreApplication::applicationPid()));
}

void ExperimentDocument::keepCopy() {
    copyLater_.stop();
    if (!remembers_)
        return;
    if (!isModified()) {
        QFile::remove(copyPath());
        return;
    }
    // Nobody is told of a failure: the copy is a second one, and the next change tries again.
    QSaveFile file(copyPath());
    if (recoveryFolder().mkpath(QStringLiteral(".")) && file.open(QIODevice::WriteOnly)) {
        file.write(QJsonDocument(QJsonObject{{QStringLiteral("path"), path_},
                                             {QStringLiteral("text"), content_}})
                       .toJson());
        file.commit();
    }
}

std::optional<ExperimentDocument::Recovered> ExperimentDocument::takeRecovered() {
    if (!remembers_)
        return {};
    QDir folder = recoveryFolder();
    // The newest; older ones go with it.
    std::optional<Recovered> found;
    for (const QFileInfo& entry :
         folder.entryInfoList({QStringLiteral("*.json")}, QDir::Files, QDir::Time)) {
        if (isRunning(entry.completeBaseName().toLongLong()))
            continue;
        QFile file(entry.filePath());
        if (!found && file.open(QIODevice::ReadOnly)) {
            const QJsonObject copy = QJsonDocument::fromJson(file.readAll()).object();
            const QString text = copy.value(QStringLiteral("text")).toString();
            if (!text.isEmpty())
                found = Recovered{copy.value(QStringLiteral("path")).toString(), text};
        }
        file.close();
        file.remove();
    }
    return found;
}

} // namespace gradlab::app
