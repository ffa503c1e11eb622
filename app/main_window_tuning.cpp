// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How the window changes runs that are on: knobs, the question about memories, undo and redo.
#include "app/action_tips.h"
#include "app/chart_board.h"
#include "app/experiment_panel.h"
#include "app/live_tuning.h"
#include "app/main_window.h"
#include "app/memory_question.h"
#include "app/prediction_tool.h"
#include "app/run_collection.h"
#include "app/tuning_bar.h"
#include "widgets/experiment_form.h"
#include "widgets/message_banner.h"

#include <QAction>
#include <QUndoGroup>

#include <algorithm>

namespace gradlab::app {

void MainWindow::connectTuning() {
    connect(board_, &ChartBoard::runClicked, tuning_, &TuningBar::chooseTarget);
    connect(tuning_, &TuningBar::closeRequested, this, [this] { setTuningShown(false); });
    connect(tuning_, &TuningBar::changeRequested, live_, &LiveTuning::request);
    connect(panel_, &ExperimentPanel::liveChangeRequested, this,
            [this](std::size_t index, const QString& path, const engine::FieldValue& value) {
                if (index < raceIds_.size())
                    live_->request({raceIds_[index], path.toStdString(), value});
            });
    connect(live_, &LiveTuning::changeWanted, session_, &TrainingSession::change);
    connect(live_, &LiveTuning::asked, question_, &MemoryQuestion::ask);
    connect(question_, &MemoryQuestion::answered, live_, &LiveTuning::answer);
    connect(question_, &MemoryQuestion::cancelled, live_, &LiveTuning::cancel);
    connect(live_, &LiveTuning::settled, this, [this] {
        const bool hadFocus = question_->isAncestorOf(focusWidget());
        question_->hide();
        if (hadFocus)
            board_->setFocus();
    });
    connect(live_, &LiveTuning::reverted, this, [this] {
        tuning_->showValues();
        const std::size_t index = panel_->selected();
        if (session_->isActive() && index < raceIds_.size())
            if (const CollectedRun* run = runs_->find(raceIds_[index]))
                panel_->showCurrent(index, run->current);
    });
    connect(live_, &LiveTuning::refused, this, [this](const QString& reason) {
        banner_->showMessage(widgets::MessageBanner::Severity::Warning, reason);
    });
}

/// Undo and redo are of the form, or of the run that is on.
void MainWindow::buildHistory() {
    history_ = new QUndoGroup(this);
    history_->addStack(panel_->form()->undoStack());
    history_->addStack(live_->undoStack());
    actions_.undo = history_->createUndoAction(this, tr("&Undo"));
    actions_.undo->setShortcuts(QKeySequence::Undo);
    actions_.redo = history_->createRedoAction(this, tr("&Redo"));
    actions_.redo->setShortcuts(QKeySequence::Redo);
    setTips(*actions_.undo, tr("Take back the last change of the form, or of the run that is on"));
    setTips(*actions_.redo, tr("Make that change again"));
    addActions({actions_.undo, actions_.redo});
    chooseHistory();
}

void MainWindow::chooseHistory() {
    if (!session_->isActive())
        live_->cancel();
    history_->setActiveStack(session_->isActive() ? live_->undoStack()
                                                  : panel_->form()->undoStack());
}

void MainWindow::buildPrediction() {
    actions_.predict =
        addCommand(tr("Pre&dict"), {Qt::CTRL | Qt::Key_D},
                   tr("Draw or type what the perplexity will be, and see how near it was"));
    actions_.predict->setCheckable(true);
    connect(actions_.predict, &QAction::triggered, this, &MainWindow::setPredicting);
    connect(prediction_, &PredictionTool::closed, this, [this] { setPredicting(false); });
    connect(prediction_, &PredictionTool::revealed, this, [this](const QString& sentence) {
        banner_->showMessage(widgets::MessageBanner::Severity::Information, sentence);
    });
}

void MainWindow::setPredicting(bool on) {
    actions_.predict->setChecked(on);
    if (on) {
        board_->showPareto(false);
        board_->setXAxis(widgets::XAxis::Step);
        std::uint64_t last = 0;
        for (const engine::Experiment& experiment : panel_->experiments())
            last = std::max(last, static_cast<std::uint64_t>(experiment.training.steps));
        prediction_->setHorizon(last);
    }
    prediction_->setOpen(on);
    if (!on)
        board_->setFocus();
}

void MainWindow::checkPrediction() {
    widgets::RunList race;
    for (const widgets::RunInfo& run : runs_->list())
        if (std::find(raceIds_.begin(), raceIds_.end(), run.id) != raceIds_.end())
            race.push_back(run);
    prediction_->check(race, session_->isActive());
}

void MainWindow::refreshTuning() {
    std::vector<TuningBar::Target> targets;
    if (session_->isActive())
        for (const int id : raceIds_)
            if (const CollectedRun* run = runs_->find(id))
                targets.push_back({id, run->info.name, run->current});
    tuning_->setTargets(targets);
}

} // namespace gradlab::app
