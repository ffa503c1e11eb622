// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One action a command, for menus, tool bar and keys; what is enabled follows the session.
#include "app/action_tips.h"
#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/live_tuning.h"
#include "app/main_window.h"
#include "app/queue_panel.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "app/tuning_bar.h"
#include "app/worker_panel.h"
#include "widgets/experiment_form.h"

#include <QAction>
#include <QActionGroup>
#include <QApplication>
#include <QDockWidget>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QSettings>
#include <QShortcut>
#include <QSpinBox>
#include <QToolBar>
#include <QUndoStack>

#include <array>

namespace gradlab::app {

using engine::RunState;

QAction* MainWindow::addCommand(const QString& text, const QList<QKeySequence>& keys,
                                const QString& statusTip) {
    auto* action = new QAction(text, this);
    action->setShortcuts(keys);
    setTips(*action, statusTip);
    addAction(action); // keys work while menus and tool bar are hidden
    return action;
}

void MainWindow::buildRunActions() {
    actions_.start = addCommand(tr("&Start"), {Qt::Key_F5}, tr("Start the race, or go on"));
    actions_.pause = addCommand(tr("&Pause"), {Qt::Key_F6, Qt::Key_Space}, tr("Pause, or go on"));
    actions_.step = addCommand(tr("S&tep"), {Qt::Key_F10}, tr("One step of each run, then pause"));
    actions_.stop = addCommand(tr("St&op"), {Qt::SHIFT | Qt::Key_F5}, tr("End the race"));
    actions_.runAgain = addCommand(tr("Run &Again with…"), {Qt::CTRL | Qt::Key_R},
                                   tr("Open the experiment of the selected run, or of the last "
                                      "race, to start it with changes"));
    actions_.removeRuns =
        addCommand(tr("&Remove Selected Runs"), {}, tr("Take the selected runs off the charts"));
    connect(actions_.start, &QAction::triggered, this, &MainWindow::startOrResume);
    connect(actions_.pause, &QAction::triggered, this, &MainWindow::togglePause);
    connect(actions_.step, &QAction::triggered, this, &MainWindow::stepOnce);
    connect(actions_.stop, &QAction::triggered, this, &MainWindow::stopRun);
    connect(actions_.runAgain, &QAction::triggered, this, [this] {
        const std::vector<int> selected = table_->selectedRuns();
        runAgain(selected.size() == 1 ? selected.front() : TrainingSession::kAllRuns);
    });
    connect(actions_.removeRuns, &QAction::triggered, this, &MainWindow::removeSelectedRuns);
}

void MainWindow::buildViewActions() {
    actions_.cycleX =
        addCommand(tr("Next &X Axis"), {Qt::Key_X},
                   tr("Steps, bytes, simulated time, wall time, epochs, tokens in turn"));
    actions_.present = addCommand(tr("&Presentation"), {Qt::Key_F11},
                                  tr("Only strip and charts, in large type; Esc leaves it"));
    actions_.present->setCheckable(true);
    actions_.tuning =
        addCommand(tr("&Tuning"), {Qt::CTRL | Qt::Key_K}, tr("Knobs for the run that is on"));
    actions_.tuning->setCheckable(true);
    buildPrediction();
    actions_.resetLayout = addCommand(tr("&Reset Layout"), {}, tr("Everything back in its place"));
    connect(actions_.cycleX, &QAction::triggered, this, &MainWindow::cycleXAxis);
    connect(actions_.present, &QAction::triggered, this, &MainWindow::setPresenting);
    connect(actions_.tuning, &QAction::triggered, this, &MainWindow::setTuningShown);
    connect(actions_.resetLayout, &QAction::triggered, this, &MainWindow::resetLayout);
    buildLayoutActions();
    auto* leave = new QShortcut(Qt::Key_Escape, this); // F11 does it too
    connect(leave, &QShortcut::activated, this, [this] {
        if (live_->isAsking())
            live_->cancel();
        else
            setPresenting(false);
    });
    buildXAxisActions();
    buildChartActions();
    buildThemeActions();
}

void MainWindow::buildXAxisActions() {
    actions_.xAxes = new QActionGroup(this);
    const std::array<QString, widgets::kXAxisCount> names = {tr("Steps"),          tr("Bytes"),
                                                             tr("Simulated Time"), tr("Wall Time"),
                                                             tr("Epochs"),         tr("Tokens")};
    for (std::size_t i = 0; i < names.size(); ++i) {
        QAction* action = actions_.xAxes->addAction(names[i]);
        setTips(*action, tr("Charts run along: %1").arg(names[i].toLower()));
        action->setCheckable(true);
        action->setChecked(i == 0);
        connect(action, &QAction::triggered, this,
                [this, i] { board_->setXAxis(static_cast<widgets::XAxis>(i)); });
    }
    const auto show = [this](widgets::XAxis axis) {
        QAction* action = actions_.xAxes->actions().at(static_cast<int>(axis));
        action->setChecked(true);
        axisLabel_->setText(tr("Along: %1 (X)").arg(action->text().toLower()));
    };
    connect(board_, &ChartBoard::xAxisChanged, this, show);
    show(board_->xAxis());
}

void MainWindow::buildThemeActions() {
    actions_.themes = new QActionGroup(this);
    const std::array<std::pair<QString, QString>, 3> themes = {
        {{QString(), tr("As the Desktop")},
         {QStringLiteral("light"), tr("Light")},
         {QStringLiteral("dark"), tr("Dark")}}};
    const QString chosen = QSettings().value(QStringLiteral("window/theme")).toString();
    for (const auto& [name, text] : themes) {
        QAction* action = actions_.themes->addAction(text);
        setTips(*action, name.isEmpty() ? tr("Light or dark as other programs are")
                                        : tr("Colours of the window: %1").arg(text.toLower()));
        action->setCheckable(true);
        action->setChecked(name == chosen);
        connect(action, &QAction::triggered, this, [this, theme = name] { chooseTheme(theme); });
    }
}

void MainWindow::chooseTheme(const QString& name) {
    QSettings().setValue(QStringLiteral("window/theme"), name);
    if (name.isEmpty())
        QApplication::setPalette(QPalette());
    else
        QApplication::setPalette(widgets::themePalette(name == QLatin1String("dark")));
    applyTheme();
}

void MainWindow::buildMenus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addAction(actions_.open);
    file->addMenu(actions_.recent);
    file->addAction(actions_.reopen);
    file->addActions({actions_.save, actions_.saveAs, actions_.savePicture, actions_.saveChart,
                      actions_.saveData, actions_.saveReport, actions_.recordIn});
    file->addSeparator();
    file->addAction(actions_.quit);
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    edit->addActions({actions_.undo, actions_.redo});
    edit->addSeparator();
    edit->addActions({actions_.copyCommand, table_->actions().copyTsv,
                      table_->actions().copyMarkdown, actions_.copyChart});
    QMenu* run = menuBar()->addMenu(tr("&Run"));
    run->addActions({actions_.start, actions_.pause, actions_.step, actions_.stop});
    run->addSeparator();
    run->addActions(
        {actions_.tuning, actions_.predict, actions_.runAgain, actions_.fork, actions_.removeRuns});
    run->addSeparator();
    run->addActions({actions_.enqueue, actions_.repeat});
    run->addSeparator();
    run->addMenu(tr("Ta&ble of Runs"))->addActions(table_->commands());
    run->addMenu(tr("&Queue"))->addActions(queuePanel_->commands());
    run->addMenu(tr("&Worker Processes"))->addActions(workers_->commands());
    QMenu* view = menuBar()->addMenu(tr("&View"));
    buildDockActions();
    view->addActions({panelDock_->toggleViewAction(), tableDock_->toggleViewAction(),
                      workersDock_->toggleViewAction(), queueDock_->toggleViewAction(),
                      gradientDock_->toggleViewAction(), toolBar_->toggleViewAction()});
    view->addSeparator();
    QMenu* axes = view->addMenu(tr("&X Axis"));
    axes->addActions(actions_.xAxes->actions());
    axes->addSeparator();
    axes->addAction(actions_.cycleX);
    view->addActions({actions_.pareto, actions_.seedsTogether, actions_.logY, actions_.smoother,
                      actions_.rougher});
    view->addSeparator();
    view->addActions({actions_.zoomIn, actions_.zoomOut, actions_.showAll, actions_.linkX});
    view->addSeparator();
    view->addMenu(tr("&Colours"))->addActions(actions_.themes->actions());
    view->addMenu(actions_.layoutMenu);
    view->addAction(actions_.present);
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addActions({actions_.lesson, actions_.about});
    table_->addRunActions({actions_.runAgain, actions_.fork, actions_.removeRuns});
}

/// The entries that show and hide docks and tool bar.
void MainWindow::buildDockActions() {
    panelDock_->toggleViewAction()->setShortcut(Qt::CTRL | Qt::Key_E);
    gradientDock_->toggleViewAction()->setShortcut(Qt::CTRL | Qt::Key_G);
    const std::initializer_list<std::pair<QAction*, QString>> tips = {
        {panelDock_->toggleViewAction(), tr("The form with the experiments of the next race")},
        {tableDock_->toggleViewAction(), tr("Every run of this session with its numbers")},
        {workersDock_->toggleViewAction(), tr("The worker processes of a run, to act on them")},
        {queueDock_->toggleViewAction(), tr("Races that wait for the one that is on")},
        {gradientDock_->toggleViewAction(), tr("What is sent of a gradient, and what stays")},
        {toolBar_->toggleViewAction(), tr("The tool bar with start, pause, step and stop")}};
    for (const auto& [action, tip] : tips) {
        setTips(*action, tip);
        addAction(action); // keys work while menus are hidden
    }
}

void MainWindow::buildToolBar() {
    toolBar_ = addToolBar(tr("Tool Bar"));
    toolBar_->setObjectName(QStringLiteral("runToolBar"));
    toolBar_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    toolBar_->addActions({actions_.start, actions_.pause, actions_.step, actions_.stop});
    toolBar_->addSeparator();
    toolBar_->addAction(panelDock_->toggleViewAction());
    toolBar_->addActions(
        {actions_.tuning, gradientDock_->toggleViewAction(), actions_.cycleX, actions_.present});
    toolBar_->addSeparator();
    toolBar_->addWidget(smoothing_);
}

void MainWindow::updateActions() {
    const RunState state = session_->state();
    const bool active = session_->isActive();
    const bool paused = state == RunState::Paused;
    const QString& problem = panel_->startProblem();
    const bool canStart = active ? paused : problem.isEmpty();
    actions_.start->setEnabled(canStart);
    actions_.start->setText(paused ? tr("&Go On") : tr("&Start"));
    actions_.start->setToolTip(!active && !problem.isEmpty() ? tr("Cannot start: %1").arg(problem)
                                                             : tr("Start the race, or go on (F5)"));
    actions_.pause->setEnabled(state == RunState::Running || state == RunState::Loading || paused);
    actions_.step->setEnabled(canStart);
    actions_.stop->setEnabled(active && state != RunState::Stopping);
    actions_.runAgain->setEnabled(!active && !runs_->isEmpty());
    actions_.fork->setEnabled(!active && !runs_->isEmpty());
    actions_.enqueue->setEnabled(problem.isEmpty());
    actions_.repeat->setEnabled(problem.isEmpty());
    actions_.removeRuns->setEnabled(!runs_->isEmpty());
    actions_.save->setEnabled(problem.isEmpty());
    actions_.saveAs->setEnabled(problem.isEmpty());
    actions_.recordIn->setEnabled(!active);
    actions_.open->setEnabled(state != RunState::Stopping);
    actions_.reopen->setEnabled(!active);
}

} // namespace gradlab::app
