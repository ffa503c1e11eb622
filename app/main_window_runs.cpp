// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How the window starts runs and follows what the session says.
#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/fork_bar.h"
#include "app/gradient_panel.h"
#include "app/live_tuning.h"
#include "app/main_window.h"
#include "app/prediction_tool.h"
#include "app/queue_panel.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "app/tuning_bar.h"
#include "app/worker_panel.h"
#include "engine/core/errors.h"
#include "widgets/experiment_form.h"
#include "widgets/gradient_inspector.h"
#include "widgets/message_banner.h"
#include "widgets/run_table_model.h"
#include "widgets/status_progress.h"

#include <QAction>
#include <QCoreApplication>
#include <QDockWidget>
#include <QTemporaryDir>

#include <algorithm>

namespace gradlab::app {

using engine::RunState;
using Severity = widgets::MessageBanner::Severity;

void MainWindow::connectSession() {
    connect(session_, &TrainingSession::recordsArrived, this, &MainWindow::followRecords);
    connect(session_, &TrainingSession::snapshotArrived, gradient_, &GradientPanel::add);
    connect(gradient_, &GradientPanel::inspectionWanted, session_, &TrainingSession::inspect);
    connect(session_, &TrainingSession::stateChanged, this, &MainWindow::followState);
    connect(session_, &TrainingSession::progressChanged, this, &MainWindow::followProgress);
    connect(session_, &TrainingSession::failed, this,
            [this](const QString& text) { banner_->showMessage(Severity::Error, text); });
}

void MainWindow::connectParts() {
    connect(runs_, &RunCollection::listChanged, this, &MainWindow::refreshRunList);
    connect(runs_, &RunCollection::experimentChanged, this, [this](int id) {
        const auto at = std::find(raceIds_.begin(), raceIds_.end(), id);
        if (at != raceIds_.end() && session_->isActive())
            panel_->showCurrent(static_cast<std::size_t>(at - raceIds_.begin()),
                                runs_->find(id)->current);
        refreshTuning();
    });
    connect(workers_, &WorkerPanel::actionRequested, this,
            [this](std::size_t cluster, std::uint32_t rank, engine::WorkerAction action) {
                if (cluster < clusterMembers_.size())
                    session_->act(clusterMembers_[cluster], rank, action);
            });
    connect(workers_, &WorkerPanel::workerWanted, this, [this](std::size_t cluster) {
        if (cluster < clusterMembers_.size())
            session_->startWorker(clusterMembers_[cluster]);
    });
    connectTuning();
    connect(panel_, &ExperimentPanel::startProblemChanged, this, &MainWindow::updateActions);
    connect(panel_, &ExperimentPanel::startRequested, this, &MainWindow::startOrResume);
    connect(panel_, &ExperimentPanel::runAgainRequested, this, [this] {
        session_->stop();
        runAgain(TrainingSession::kAllRuns);
    });
}

bool MainWindow::prepareRun() {
    if (!panel_->startProblem().isEmpty())
        return false;
    // What the queue shows while it runs is not what the person wrote; this is.
    draft_.reset();
    banner_->clear();
    const std::filesystem::path folder = runFolder_;
    if (prepare(takePlan()))
        return true;
    runFolder_ = folder; // for the next try
    return false;
}

bool MainWindow::prepare(const RunPlan& plan) {
    const std::vector<engine::Experiment>& race = plan.experiments;
    try {
        if (!scratch_)
            scratch_ = std::make_unique<QTemporaryDir>();
        const std::filesystem::path scratch =
            scratch_->isValid() ? scratch_->path().toStdString() : std::string();
        std::optional<SessionFork> fork;
        if (plan.fork)
            fork = SessionFork{plan.fork->point.checkpoint, plan.fork->folder.string()};
        raceIds_ = session_->prepare({race, plan.folder, script_, scratch, fork});
    } catch (const engine::Error& error) {
        banner_->showMessage(Severity::Error, QString::fromStdString(error.what()));
        return false;
    }
    raceStart_ = race;
    script_.clear();
    panel_->forkBar()->clear();
    queue_->countStart();
    const std::vector<std::filesystem::path> logs = session_->logs();
    for (std::size_t i = 0; i < race.size(); ++i) {
        runs_->add(raceIds_[i], race[i]);
        runs_->setLog(raceIds_[i], logs[i]);
    }
    live_->begin(raceIds_);
    prediction_->begin();
    showNewestGradient();
    panelDock_->hide();
    board_->setFocus();
    stepAtProgress_ = 0;
    stepsPerSecond_ = 0.0;
    sinceProgress_.start();
    return true;
}

void MainWindow::startOrResume() {
    if (session_->state() == RunState::Paused)
        session_->resume();
    else if (!session_->isActive() && prepareRun())
        session_->start();
}

void MainWindow::togglePause() {
    if (session_->state() == RunState::Paused)
        session_->resume();
    else
        session_->pause();
}

void MainWindow::stepOnce() {
    if (session_->state() == RunState::Paused || (!session_->isActive() && prepareRun()))
        session_->stepOnce();
}

void MainWindow::stopRun() {
    queue_->setHeld(true);
    session_->stop();
}

void MainWindow::cycleXAxis() {
    board_->setXAxis(widgets::nextXAxis(board_->xAxis()));
}

void MainWindow::followState(RunState state) {
    showRunStates(state);
    panel_->setRunning(session_->isActive());
    const bool ended = state == RunState::Finished || state == RunState::Failed;
    if (ended) {
        refreshWorkers();
        workers_->showEnd();
        panel_->setExperiments(raceStart_);
        progress_->setIdle(state == RunState::Failed ? tr("Failed") : tr("Finished"));
    }
    queuePanel_->setRunning(session_->isActive());
    if (state == RunState::Stopping)
        queue_->setHeld(true);
    if (state == RunState::Stopping)
        progress_->setIdle(tr("Stopping…"));
    refreshTuning();
    chooseHistory();
    checkPrediction();
    refreshGradient();
    updateActions();
    if (ended && closing_)
        leave();
    else if (ended && (draft_ || !queue_->isEmpty())) // once the session is through with this one
        QMetaObject::invokeMethod(this, &MainWindow::goOnWithQueue, Qt::QueuedConnection);
    else if (ended)
        endQueue();
}

/// The run has ended after the window was asked to close.
void MainWindow::leave() {
    const bool wasHidden = !isVisible();
    close();
    if (wasHidden) // Qt ends the program with the last window that is seen to close
        QCoreApplication::quit();
}

void MainWindow::showRunStates(RunState state) {
    if (state == RunState::Idle)
        return; // the session is ready for the next race: the one before stays what it became
    for (const int id : raceIds_) {
        const CollectedRun* run = runs_->find(id);
        if (run == nullptr)
            continue;
        const auto& end = run->series->end();
        runs_->setState(id, end ? QString::fromStdString(end->reason)
                                : QString::fromLatin1(engine::toString(state)));
    }
}

void MainWindow::followRecords(int runId, const std::vector<engine::Record>& records) {
    runs_->append(runId, records);
    live_->follow(runId, records);
    for (const engine::Record& record : records) {
        const auto* event = std::get_if<engine::EventRecord>(&record);
        if (event == nullptr || (event->event != "warning" && event->event != "worker_lost"))
            continue;
        const CollectedRun* run = runs_->find(runId);
        const QString text = QString::fromStdString(event->details);
        banner_->showMessage(Severity::Warning,
                             run ? tr("%1: %2").arg(run->info.name, text) : text);
    }
}

void MainWindow::followProgress(const engine::RunProgress& progress) {
    table_->model()->refresh();
    checkPrediction();
    if (session_->isActive())
        refreshWorkers();
    if (progress.state == RunState::Loading) {
        progress_->setLoading(tr("Reading the text and making the model"), progress.loading);
        return;
    }
    if (progress.state != RunState::Running && progress.state != RunState::Paused)
        return;
    std::uint64_t step = 0;
    std::uint64_t last = 0;
    for (const engine::TrainerProgress& member : progress.members) {
        step = std::max(step, member.step);
        last = std::max(last, member.lastStep);
    }
    playWorkerScript(step);
    if (sinceProgress_.elapsed() >= 1000) {
        stepsPerSecond_ = 1000.0 * static_cast<double>(step - std::min(step, stepAtProgress_)) /
                          static_cast<double>(sinceProgress_.restart());
        stepAtProgress_ = step;
    }
    progress_->setProgress(step, last, progress.secondsLeft, stepsPerSecond_);
}

void MainWindow::refreshRunList() {
    const widgets::RunList list = runs_->list();
    board_->setRuns(list);
    refreshTuning();
    refreshGradient();
    updateActions();
}

void MainWindow::refreshGradient() {
    std::vector<GradientPanel::Run> runs;
    for (const widgets::RunInfo& info : runs_->list()) {
        const bool isOn = session_->isActive() &&
                          std::find(raceIds_.begin(), raceIds_.end(), info.id) != raceIds_.end();
        runs.push_back({info.id, info.name, isOn});
    }
    gradient_->setRuns(std::move(runs));
}

/// Of a new race the first run that compresses.
void MainWindow::showNewestGradient() {
    const auto compresses = [this](int id) {
        return runs_->find(id)->atStart.compression.method != "none";
    };
    const auto found = std::find_if(raceIds_.begin(), raceIds_.end(), compresses);
    gradient_->inspector()->chooseRun(found == raceIds_.end() ? raceIds_.front() : *found);
}

/// Shows the worker processes once a run has some.
void MainWindow::refreshWorkers() {
    std::vector<ClusterSnapshot> clusters;
    clusterMembers_.clear();
    const auto views = session_->clusterViews();
    for (std::size_t member = 0; member < views.size() && member < raceIds_.size(); ++member) {
        const CollectedRun* run = runs_->find(raceIds_[member]);
        if (!views[member] || run == nullptr)
            continue;
        clusters.push_back({run->info.name, *views[member], run->current.cluster.keys});
        clusterMembers_.push_back(member);
    }
    const bool appeared = workers_->isEmpty() && !clusters.empty();
    workers_->setClusters(clusters);
    if (appeared && !presenting_) {
        workersDock_->show();
        workersDock_->raise();
    }
}

void MainWindow::playWorkerScript(std::uint64_t step) {
    std::erase_if(workerScript_, [&](const ScriptedAction& due) {
        if (due.step > step)
            return false;
        for (const std::size_t member : clusterMembers_)
            session_->act(member, due.rank, due.action);
        return true;
    });
}

/// Opens the form with the experiment of a run, or with the last race for kAllRuns.
void MainWindow::runAgain(int runId) {
    panel_->forkBar()->clear();
    if (const CollectedRun* run = runs_->find(runId))
        panel_->setExperiments({run->atStart});
    else if (!raceStart_.empty())
        panel_->setExperiments(raceStart_);
    setPresenting(false);
    panelDock_->show();
    panel_->form()->setFocus();
}

void MainWindow::removeSelectedRuns() {
    for (const int id : table_->selectedRuns()) {
        const bool isOn = session_->isActive() &&
                          std::find(raceIds_.begin(), raceIds_.end(), id) != raceIds_.end();
        if (isOn)
            continue;
        const CollectedRun* run = runs_->find(id);
        const std::filesystem::path log = run != nullptr ? run->log : std::filesystem::path();
        std::error_code error; // a log that stays goes with the window
        if (scratch_ && log.parent_path() == scratch_->path().toStdString())
            std::filesystem::remove(log, error);
        runs_->remove(id);
    }
}

} // namespace gradlab::app
