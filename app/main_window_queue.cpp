// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What starts later or from the middle: the queue of runs, and forks from a checkpoint.
#include "app/experiment_panel.h"
#include "app/fork_bar.h"
#include "app/main_window.h"
#include "app/queue_panel.h"
#include "app/run_collection.h"
#include "app/run_panel.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/run_fork.h"
#include "widgets/experiment_form.h"
#include "widgets/message_banner.h"
#include "widgets/status_progress.h"

#include <QAction>
#include <QDockWidget>
#include <QFileInfo>
#include <QInputDialog>

#include <utility>

namespace gradlab::app {

using Severity = widgets::MessageBanner::Severity;

namespace {

constexpr int kOfferedSeeds = 5;

} // namespace

void MainWindow::buildQueueActions() {
    actions_.enqueue =
        addCommand(tr("Add to &Queue"), {Qt::Key_F7},
                   tr("Run the form's experiments once what is on and what waits has ended"));
    actions_.fork = addCommand(tr("&Fork from Checkpoint…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_R},
                               tr("Open the experiment of the selected run's checkpoint, to go on "
                                  "from there with changes"));
    actions_.repeat =
        addCommand(tr("&Repeat over Seeds…"), {Qt::SHIFT | Qt::Key_F7},
                   tr("Run the form's experiments once from each of several seeds; the charts "
                      "show their mean and spread"));
    connect(actions_.repeat, &QAction::triggered, this, &MainWindow::askForSeeds);
    connect(actions_.enqueue, &QAction::triggered, this, &MainWindow::addToQueue);
    connect(actions_.fork, &QAction::triggered, this, &MainWindow::forkSelected);
}

void MainWindow::buildQueue() {
    queuePanel_ = new QueuePanel(queue_, actions_.enqueue, this);
    queueDock_ = new QDockWidget(tr("Queue"), this);
    queueDock_->setObjectName(QStringLiteral("queueDock"));
    queueDock_->setWidget(queuePanel_);
    queueDock_->setFeatures(QDockWidget::DockWidgetClosable | QDockWidget::DockWidgetMovable);
    tabifyDockWidget(tableDock_, queueDock_);
    queueDock_->hide(); // until something waits
    tableDock_->raise();
}

void MainWindow::connectQueue() {
    connect(queue_, &RunQueue::changed, this, &MainWindow::followQueue);
    connect(queuePanel_, &QueuePanel::startRequested, this, &MainWindow::startQueue);
    connect(panel_, &ExperimentPanel::queueRequested, this, &MainWindow::addToQueue);
    connect(panel_->forkBar(), &ForkBar::failed, this,
            [this](const QString& text) { banner_->showMessage(Severity::Error, text); });
}

void MainWindow::followQueue() {
    progress_->setPrefix(queue_->countText());
    // A tab behind another one is not visible, but open.
    const bool open = queueDock_->toggleViewAction()->isChecked();
    if (!queue_->isEmpty() && !open && !presenting_) {
        queueDock_->show();
        queueDock_->raise();
    }
}

/// What the form says, with the folder that was chosen for it.
RunPlan MainWindow::takePlan() {
    return {panel_->experiments(), std::exchange(runFolder_, {}), panel_->forkBar()->source()};
}

void MainWindow::addToQueue() {
    if (!panel_->startProblem().isEmpty())
        return;
    queue_->add(takePlan());
    if (!session_->isActive())
        panel_->forkBar()->clear(); // it waits: the form is free for the next one
}

void MainWindow::askForSeeds() {
    const std::int64_t first = panel_->experiments().front().training.seed;
    QStringList seeds;
    for (int i = 0; i < kOfferedSeeds; ++i)
        seeds << QString::number(first + i);
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Repeat over seeds"));
    dialog->setLabelText(tr("Seeds, separated by commas; each is one run of the experiments:"));
    dialog->setTextValue(seeds.join(QStringLiteral(", ")));
    dialog->setOkButtonText(tr("Add to Queue"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
        try {
            repeatOverSeeds(text);
        } catch (const engine::Error& error) {
            banner_->showMessage(Severity::Error, QString::fromUtf8(error.what()));
        }
    });
    dialog->open();
}

void MainWindow::repeatOverSeeds(const QString& seeds) {
    if (!panel_->startProblem().isEmpty())
        return;
    const engine::FieldSpec& field = *engine::findField("training.seed");
    std::vector<RunPlan> plans;
    QStringList given;
    RunPlan plan = takePlan();
    plan.fork.reset(); // which has the seed of its origin
    const std::filesystem::path folder = plan.folder;
    for (const QString& part : seeds.split(QChar(u','))) {
        const QString seed = part.trimmed();
        const engine::FieldValue value = engine::parseFieldValue(field, seed.toStdString());
        if (given.contains(seed))
            throw engine::ExperimentError(field.path, "seed " + seed.toStdString() +
                                                          " is given twice; give each once");
        given << seed;
        for (engine::Experiment& experiment : plan.experiments)
            engine::setField(experiment, field.path, value);
        if (!folder.empty())
            plan.folder = folder / ("seed-" + seed.toStdString());
        plans.push_back(plan);
    }
    for (RunPlan& one : plans)
        queue_->add(std::move(one));
    if (!session_->isActive())
        startQueue();
}

/// Another file while a run is on: it can wait.
void MainWindow::offerToQueue(const std::vector<engine::Experiment>& experiments,
                              const QString& path) {
    const QString name = QFileInfo(path).fileName();
    const auto add = [this, experiments] {
        try {
            (void)engine::requireValidRace(experiments);
            queue_->add({experiments, {}, std::nullopt});
        } catch (const engine::Error& error) {
            banner_->showMessage(Severity::Error, QString::fromUtf8(error.what()));
        }
    };
    banner_->showOffer(
        tr("A run is on; %1 can be opened once it has ended, or wait for it.").arg(name),
        tr("Add to Queue"), add);
}

void MainWindow::startQueue() {
    queue_->setHeld(false);
    goOnWithQueue();
}

/// Starts the next one, or gives the form back what the person had in it.
void MainWindow::goOnWithQueue() {
    if (closing_ || session_->isActive())
        return;
    std::optional<RunPlan> next = queue_->takeNext();
    while (next) {
        if (!draft_)
            draft_ = panel_->experiments();
        panel_->forkBar()->clear();
        panel_->setExperiments(next->experiments);
        if (prepare(*next)) {
            session_->start();
            return;
        }
        next = queue_->takeNext(); // the banner says why this one cannot start
    }
    if (draft_)
        panel_->setExperiments(*std::exchange(draft_, std::nullopt));
    if (tableDock_->toggleViewAction()->isChecked())
        tableDock_->raise(); // what the queue has done is of more interest than that it is empty
    endQueue();
}

void MainWindow::endQueue() {
    if (queue_->isEmpty())
        queue_->countEnd();
    progress_->setPrefix({});
}

void MainWindow::forkSelected() {
    const std::vector<int> selected = table_->selectedRuns();
    if (selected.size() == 1)
        forkRun(selected.front());
    else
        banner_->showMessage(Severity::Information, tr("Select the run to fork in the table"));
}

void MainWindow::forkRun(int runId) {
    const CollectedRun* run = runs_->find(runId);
    if (run == nullptr || session_->isActive())
        return;
    const std::filesystem::path folder = run->log.parent_path();
    const std::vector<engine::ForkPoint> points = engine::forkPoints(folder);
    if (run->log.empty() || points.empty()) {
        banner_->showMessage(Severity::Warning,
                             tr("%1 has no checkpoint to go on from; keep a run in a folder (File, "
                                "Keep Next Run in Folder) to fork it")
                                 .arg(run->info.name));
        return;
    }
    try {
        const std::optional<engine::EndRecord>& end = run->series->end();
        panel_->forkBar()->offer(run->info.name, folder, points,
                                 end && end->reason == "completed" ? end->steps : 0);
    } catch (const engine::Error& error) {
        banner_->showMessage(Severity::Error, QString::fromUtf8(error.what()));
        return;
    }
    setPresenting(false);
    panelDock_->show();
    panel_->form()->setFocus();
}

} // namespace gradlab::app
