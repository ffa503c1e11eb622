// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The experiments of the next race: a list of its runs, the form of the selected one, and the
// button that starts them. Corpus, model, limits and cluster are shared by a race: an edit there
// goes to every run. Compression, learning rate, clipping and the like belong to the one run.
#pragma once

#include "engine/training/experiment.h"

#include <QWidget>

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

class QLabel;
class QListView;
class QPushButton;
class QStandardItemModel;
class QToolButton;

namespace gradlab::widgets {
class ExperimentForm;
}

namespace gradlab::app {

class ForkBar;

class ExperimentPanel : public QWidget {
    Q_OBJECT

public:
    explicit ExperimentPanel(QWidget* parent = nullptr);

    /// At least one; a race if more.
    void setExperiments(const std::vector<engine::Experiment>& experiments);
    [[nodiscard]] const std::vector<engine::Experiment>& experiments() const noexcept {
        return experiments_;
    }
    [[nodiscard]] std::size_t selected() const noexcept { return selected_; }
    void select(std::size_t index);

    /// Why Start is disabled, naming the run and the field; empty if every run is valid.
    [[nodiscard]] const QString& startProblem() const noexcept { return startProblem_; }

    /// While running the list is fixed and the form takes live changes only.
    void setRunning(bool running);
    /// Shows what a run of the race works with now.
    void showCurrent(std::size_t index, const engine::Experiment& experiment);
    [[nodiscard]] widgets::ExperimentForm* form() const noexcept { return form_; }
    /// Once it offers a fork the form begins with the checkpoint's experiment, and what a fork
    /// cannot change is a problem.
    [[nodiscard]] ForkBar* forkBar() const noexcept { return fork_; }
    [[nodiscard]] QPushButton* queueButton() const noexcept { return queue_; }
    [[nodiscard]] QPushButton* startButton() const noexcept { return start_; }

    void addRun();
    void removeRun();

Q_SIGNALS:
    void experimentsChanged();
    void startProblemChanged(const QString& problem);
    void liveChangeRequested(std::size_t index, const QString& path,
                             const gradlab::engine::FieldValue& value);
    void runAgainRequested();
    void startRequested();
    void queueRequested();

private:
    void buildList();
    void layOut();
    void takeForm();
    void shareEdits(const engine::Experiment& before, const engine::Experiment& after);
    void refillList();
    void renameRun(std::size_t index, const QString& name);
    void check();
    [[nodiscard]] QString findProblem() const;
    void followFork();

    std::vector<engine::Experiment> experiments_;
    std::size_t selected_ = 0;
    bool loading_ = false; ///< the form or the list is being filled, not edited
    bool running_ = false;
    QString startProblem_;
    QStandardItemModel* names_;
    QListView* list_;
    QToolButton* add_;
    QToolButton* remove_;
    widgets::ExperimentForm* form_;
    ForkBar* fork_;
    std::filesystem::path forkedRun_; ///< folder of the run that is forked; empty: none
    engine::Experiment forked_;       ///< what the form began with for the fork that is offered
    QLabel* problem_;
    QPushButton* queue_;
    QPushButton* start_;
};

/// Whether all runs of a race have this field in common.
[[nodiscard]] bool isSharedByRace(std::string_view path) noexcept;

} // namespace gradlab::app
