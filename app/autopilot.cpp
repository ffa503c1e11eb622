// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Works through the window's public commands only. Errors go to stderr, one line each.
#include "app/autopilot.h"

#include "app/chart_board.h"
#include "app/chart_exporter.h"
#include "app/experiment_panel.h"
#include "app/main_window.h"
#include "widgets/message_banner.h"

#include <QCoreApplication>
#include <QPixmap>
#include <QSaveFile>
#include <QTimer>

#include <cstdio>

namespace gradlab::app {

using engine::RunState;

namespace {

constexpr int kSettleMs = 150; // the window's first layout and paint

} // namespace

Autopilot::Autopilot(MainWindow& window, WindowOptions options)
    : QObject(&window), window_(window), options_(std::move(options)) {
    connect(window.session(), &TrainingSession::failed, this, [](const QString& text) {
        std::fprintf(stderr, "gradlab: %s\n", text.toUtf8().constData());
    });
    // Queued: the window has shown the end before the picture is taken.
    connect(
        window.session(), &TrainingSession::stateChanged, this,
        [this](RunState state) {
            if (state == RunState::Finished || state == RunState::Failed)
                finish();
        },
        Qt::QueuedConnection);
}

void Autopilot::begin() {
    const QStringList problems = window_.banner()->messages();
    if (options_.isScripted() && !options_.runFolders.empty() && !problems.isEmpty()) {
        // A folder that cannot be shown: nobody is there to read it in the window.
        std::fprintf(stderr, "gradlab: %s\n", problems.first().toUtf8().constData());
        QTimer::singleShot(0, this, [] { QCoreApplication::exit(3); });
    } else if (options_.start) {
        QTimer::singleShot(0, this, [this] {
            window_.startOrResume();
            if (!window_.session()->isPrepared())
                refuse();
        });
    } else if (options_.isScripted()) {
        QTimer::singleShot(kSettleMs, this, &Autopilot::finish);
    }
}

/// The window shows why it does not start; whoever called the program reads it on stderr.
void Autopilot::refuse() {
    QStringList reasons = window_.banner()->messages();
    reasons.prepend(window_.panel()->startProblem());
    reasons.removeAll(QString());
    std::fprintf(stderr, "gradlab: %s\n", reasons.value(0).toUtf8().constData());
    leave(2);
}

void Autopilot::interrupt() {
    interrupted_ = true;
    window_.setAskBeforeClosing(false);
    if (window_.session()->isActive())
        window_.session()->stop();
    else
        leave(130);
}

void Autopilot::finish() {
    if (finished_)
        return;
    finished_ = true;
    int exitCode = window_.session()->exitCode();
    if (options_.zoomFrom < options_.zoomTo)
        window_.board()->showX({options_.zoomFrom, options_.zoomTo});
    if (!options_.screenshot.empty() && !savePicture() && exitCode == 0)
        exitCode = 3;
    if (interrupted_)
        exitCode = 130;
    if (!options_.report.empty())
        saveReport(exitCode);
    else if (options_.quit || interrupted_)
        leave(exitCode);
}

/// Leaves once the page is there, or cannot be.
void Autopilot::saveReport(int exitCode) {
    connect(window_.exporter(), &ChartExporter::done, this, [this, exitCode] { leave(exitCode); });
    connect(window_.exporter(), &ChartExporter::failed, this, [this, exitCode](const QString& why) {
        std::fprintf(stderr, "gradlab: %s\n", why.toUtf8().constData());
        leave(exitCode == 0 ? 3 : exitCode);
    });
    window_.writeReport(QString::fromStdString(options_.report.string()));
}

void Autopilot::leave(int exitCode) {
    if (options_.quit || interrupted_)
        QCoreApplication::exit(exitCode);
}

bool Autopilot::savePicture() {
    const QString path = QString::fromStdString(options_.screenshot.string());
    QSaveFile file(path);
    if (file.open(QIODevice::WriteOnly) && window_.picture().save(&file, "PNG") && file.commit())
        return true;
    std::fprintf(stderr, "gradlab: %s was not written: %s; choose another file\n",
                 path.toUtf8().constData(), file.errorString().toUtf8().constData());
    return false;
}

} // namespace gradlab::app
