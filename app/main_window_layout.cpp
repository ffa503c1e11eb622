// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where everything is, how it looks, and what is kept for the next time.
#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/memory_question.h"
#include "app/prediction_tool.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "app/tuning_bar.h"
#include "app/worker_panel.h"
#include "widgets/gradient_inspector.h"
#include "widgets/icons.h"
#include "widgets/message_banner.h"
#include "widgets/status_progress.h"

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QMenuBar>
#include <QSettings>
#include <QSpinBox>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>

#include <algorithm>

namespace gradlab::app {
namespace {

constexpr int kLayoutVersion = 4; // raise it when docks or tool bars change

} // namespace

void MainWindow::buildLayout() {
    auto* centre = new QWidget(this);
    auto* column = new QVBoxLayout(centre);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(banner_);
    column->addWidget(board_, 1);
    column->addWidget(prediction_);
    column->addWidget(question_);
    column->addWidget(tuning_);
    setCentralWidget(centre);
    tuning_->hide();
    buildDocks();
    buildStatusBar();
}

void MainWindow::buildDocks() {
    panelDock_ = new QDockWidget(tr("Experiment"), this);
    panelDock_->setObjectName(QStringLiteral("experimentDock"));
    panelDock_->setWidget(panel_);
    panelDock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
    addDockWidget(Qt::LeftDockWidgetArea, panelDock_);
    tableDock_ = new QDockWidget(tr("Runs of this session"), this);
    tableDock_->setObjectName(QStringLiteral("runsDock"));
    tableDock_->setWidget(table_);
    tableDock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
    addDockWidget(Qt::BottomDockWidgetArea, tableDock_);
    workersDock_ = new QDockWidget(tr("Worker processes"), this);
    workersDock_->setObjectName(QStringLiteral("workersDock"));
    workersDock_->setWidget(workers_);
    workersDock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
    tabifyDockWidget(tableDock_, workersDock_);
    workersDock_->hide(); // until a run has some
    gradientDock_ = new QDockWidget(tr("Gradient"), this);
    gradientDock_->setObjectName(QStringLiteral("gradientDock"));
    gradientDock_->setWidget(gradient_);
    gradientDock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable |
                               QDockWidget::DockWidgetFloatable);
    addDockWidget(Qt::RightDockWidgetArea, gradientDock_);
    gradientDock_->hide(); // nothing is sampled while it cannot be seen
    setCorner(Qt::BottomLeftCorner, Qt::BottomDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
}

void MainWindow::buildStatusBar() {
    statusBar()->setObjectName(QStringLiteral("statusBar"));
    statusBar()->addWidget(progress_, 1);
    axisLabel_->setToolTip(tr("What the charts run along; the X key changes it"));
    statusBar()->addPermanentWidget(axisLabel_);
    progress_->setIdle(tr("Ready"));
}

void MainWindow::applyTheme() {
    const widgets::Theme theme = widgets::Theme::fromPalette(QApplication::palette(), presenting_);
    board_->setTheme(theme);
    table_->setTheme(theme);
    gradient_->setTheme(widgets::Theme::fromPalette(QApplication::palette(), false));
    const QPalette colours = QApplication::palette();
    actions_.start->setIcon(widgets::icon(widgets::IconName::Start, colours));
    actions_.pause->setIcon(widgets::icon(widgets::IconName::Pause, colours));
    actions_.step->setIcon(widgets::icon(widgets::IconName::Step, colours));
    actions_.stop->setIcon(widgets::icon(widgets::IconName::Stop, colours));
    actions_.present->setIcon(widgets::icon(widgets::IconName::Present, colours));
    actions_.resetLayout->setIcon(widgets::icon(widgets::IconName::Reset, colours));
}

QByteArray MainWindow::saveDocks() const {
    return saveState(kLayoutVersion);
}

bool MainWindow::restoreDocks(const QByteArray& state) {
    return restoreState(state, kLayoutVersion);
}

void MainWindow::resetLayout() {
    setPresenting(false);
    setTuningShown(false);
    board_->setXAxis(widgets::XAxis::Step);
    board_->showPareto(false);
    addDockWidget(Qt::LeftDockWidgetArea, panelDock_);
    addDockWidget(Qt::BottomDockWidgetArea, tableDock_);
    tabifyDockWidget(tableDock_, workersDock_);
    tabifyDockWidget(tableDock_, queueDock_);
    addDockWidget(Qt::RightDockWidgetArea, gradientDock_);
    gradientDock_->hide();
    workersDock_->setVisible(!workers_->isEmpty());
    queueDock_->setVisible(!queue_->isEmpty());
    panelDock_->setVisible(!session_->isActive());
    tableDock_->show();
    toolBar_->show();
    sizeDocks();
    board_->resetSplitters();
}

void MainWindow::sizeDocks() {
    const int line = fontMetrics().height();
    resizeDocks({panelDock_}, {line * 24}, Qt::Horizontal);
    resizeDocks({gradientDock_}, {line * 34}, Qt::Horizontal);
    resizeDocks({tableDock_}, {line * 10}, Qt::Vertical);
}

/// False if there is nothing to restore, or it is of another version.
bool MainWindow::restoreSettings() {
    const QSettings settings;
    restoreGeometry(settings.value(QStringLiteral("window/geometry")).toByteArray());
    board_->restoreView(settings);
    table_->restoreView(settings);
    smoothing_->setValue(static_cast<int>(board_->smoothing()));
    followChart();
    actions_.linkX->setChecked(board_->isXLinked());
    board_->restoreSplitters(settings.value(QStringLiteral("window/splitters")).toByteArray());
    const bool restored =
        restoreDocks(settings.value(QStringLiteral("window/state")).toByteArray());
    panelDock_->show(); // it had folded away for the last run
    return restored;
}

void MainWindow::saveSettings() {
    saveSession();
    setPresenting(false);
    QSettings settings;
    board_->saveView(settings);
    table_->saveView(settings);
    settings.setValue(QStringLiteral("window/geometry"), saveGeometry());
    settings.setValue(QStringLiteral("window/state"), saveDocks());
    settings.setValue(QStringLiteral("window/splitters"), board_->saveSplitters());
}

void MainWindow::setPresenting(bool on) {
    if (on == presenting_)
        return;
    presenting_ = on;
    if (on) {
        stateBeforePresenting_ = saveDocks();
        tuningBeforePresenting_ = tuning_->isVisible();
        for (QWidget* part : std::initializer_list<QWidget*>{panelDock_, tableDock_, workersDock_,
                                                             queueDock_, gradientDock_, toolBar_,
                                                             menuBar(), statusBar(), tuning_})
            part->hide();
    } else {
        menuBar()->show();
        statusBar()->show();
        restoreDocks(stateBeforePresenting_);
        tuning_->setVisible(tuningBeforePresenting_);
        actions_.tuning->setChecked(tuningBeforePresenting_);
    }
    if (!fixedSize_)
        setWindowState(on ? windowState() | Qt::WindowFullScreen
                          : windowState() & ~Qt::WindowFullScreen);
    actions_.present->setChecked(on);
    applyTheme();
    board_->setFocus();
}

/// Of a run that has something in this view, if the chosen one has not.
void MainWindow::showGradient(const QString& view) {
    gradient_->inspector()->chooseView(view);
    const auto tells = [&](const CollectedRun* run) {
        const std::string method = run == nullptr ? "none" : run->atStart.compression.method;
        return view == QLatin1String("levels") ? method == "qsgd" : method != "none";
    };
    const widgets::RunList runs = runs_->list();
    const auto other = std::find_if(runs.begin(), runs.end(), [&](const widgets::RunInfo& run) {
        return tells(runs_->find(run.id));
    });
    if (other != runs.end() && !tells(runs_->find(gradient_->inspector()->run())))
        gradient_->inspector()->chooseRun(other->id);
    gradientDock_->show();
    gradientDock_->raise();
}

void MainWindow::setTuningShown(bool shown) {
    tuning_->setVisible(shown);
    actions_.tuning->setChecked(shown);
    if (shown)
        tuning_->focusFirst();
    else
        board_->setFocus();
}

} // namespace gradlab::app
