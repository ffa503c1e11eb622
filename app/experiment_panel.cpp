// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Form and list stay in step by index; what is valid is the schema's business.
#include "app/experiment_panel.h"

#include "app/fork_bar.h"
#include "app/run_collection.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "widgets/experiment_form.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QStandardItemModel>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace gradlab::app {

ExperimentPanel::ExperimentPanel(QWidget* parent)
    : QWidget(parent), names_(new QStandardItemModel(this)), list_(new QListView(this)),
      add_(new QToolButton(this)), remove_(new QToolButton(this)),
      form_(new widgets::ExperimentForm(this)), fork_(new ForkBar(this)),
      problem_(new QLabel(this)), queue_(new QPushButton(tr("Add to Queue"), this)),
      start_(new QPushButton(tr("Start"), this)) {
    buildList();
    layOut();
    connect(form_, &widgets::ExperimentForm::experimentChanged, this, &ExperimentPanel::takeForm);
    connect(form_, &widgets::ExperimentForm::liveChangeRequested, this,
            [this](const QString& path, const engine::FieldValue& value) {
                Q_EMIT liveChangeRequested(selected_, path, value);
            });
    connect(form_, &widgets::ExperimentForm::runAgainRequested, this,
            &ExperimentPanel::runAgainRequested);
    connect(start_, &QPushButton::clicked, this, &ExperimentPanel::startRequested);
    connect(queue_, &QPushButton::clicked, this, &ExperimentPanel::queueRequested);
    connect(fork_, &ForkBar::sourceChanged, this, &ExperimentPanel::followFork);
    setExperiments({engine::defaultExperiment()});
}

void ExperimentPanel::buildList() {
    list_->setModel(names_);
    list_->setObjectName(QStringLiteral("raceList"));
    list_->setAccessibleName(tr("Runs of the race"));
    list_->setToolTip(tr("The runs that start together. Corpus, model, limits and cluster are the "
                         "same for all; double-click a name to change it."));
    list_->setMaximumHeight(4 * fontMetrics().height() + 14);
    add_->setText(tr("Add run"));
    add_->setToolTip(tr("Add a copy of the selected run to the race"));
    remove_->setText(tr("Remove"));
    remove_->setToolTip(tr("Remove the selected run from the race"));
    connect(add_, &QToolButton::clicked, this, &ExperimentPanel::addRun);
    connect(remove_, &QToolButton::clicked, this, &ExperimentPanel::removeRun);
    connect(list_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& index) {
                if (!loading_ && index.isValid())
                    select(static_cast<std::size_t>(index.row()));
            });
    connect(names_, &QStandardItemModel::itemChanged, this, [this](const QStandardItem* item) {
        if (!loading_)
            renameRun(static_cast<std::size_t>(item->row()), item->text());
    });
}

void ExperimentPanel::layOut() {
    auto* buttons = new QVBoxLayout;
    buttons->addWidget(add_);
    buttons->addWidget(remove_);
    buttons->addStretch();
    auto* top = new QHBoxLayout;
    top->addWidget(list_, 1);
    top->addLayout(buttons);
    problem_->setWordWrap(true);
    problem_->setObjectName(QStringLiteral("startProblem"));
    start_->setObjectName(QStringLiteral("startButton"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->addWidget(fork_);
    layout->addLayout(top);
    layout->addWidget(form_, 1);
    layout->addWidget(problem_);
    queue_->setObjectName(QStringLiteral("queueButton"));
    queue_->setToolTip(tr("Run this once the run that is on and those that wait have ended (F7)"));
    auto* starts = new QHBoxLayout;
    starts->addWidget(start_, 1);
    starts->addWidget(queue_);
    layout->addLayout(starts);
}

/// Another checkpoint replaces what it had put into the form, but not what the person has edited.
void ExperimentPanel::followFork() {
    const auto& source = fork_->source();
    if (source && !running_) {
        const bool untouched = experiments_.size() == 1 &&
                               engine::toJson(experiments_.front()) == engine::toJson(forked_);
        const bool another = forkedRun_ != source->folder;
        forkedRun_ = source->folder;
        if (untouched || another) {
            forked_ = forkedExperiment(*source);
            setExperiments({forked_});
            return;
        }
    }
    if (!source)
        forkedRun_.clear();
    check();
}

void ExperimentPanel::setExperiments(const std::vector<engine::Experiment>& experiments) {
    experiments_ = experiments;
    if (experiments_.empty())
        experiments_.push_back(engine::defaultExperiment());
    selected_ = std::min(selected_, experiments_.size() - 1);
    refillList();
    select(selected_);
    check();
    Q_EMIT experimentsChanged();
}

void ExperimentPanel::select(std::size_t index) {
    if (index >= experiments_.size())
        return;
    selected_ = index;
    const QScopedValueRollback<bool> guard(loading_, true);
    list_->setCurrentIndex(names_->index(static_cast<int>(index), 0));
    form_->setExperiment(experiments_[index]);
}

void ExperimentPanel::showCurrent(std::size_t index, const engine::Experiment& experiment) {
    if (index >= experiments_.size())
        return;
    experiments_[index] = experiment;
    if (index == selected_)
        select(index);
}

void ExperimentPanel::setRunning(bool running) {
    running_ = running;
    form_->setRunning(running);
    list_->setEditTriggers(running ? QAbstractItemView::NoEditTriggers
                                   : QAbstractItemView::DoubleClicked |
                                         QAbstractItemView::EditKeyPressed);
    check();
}

void ExperimentPanel::addRun() {
    if (running_)
        return;
    engine::Experiment copy = experiments_[selected_];
    copy.name.clear();
    experiments_.insert(experiments_.begin() + static_cast<std::ptrdiff_t>(selected_) + 1, copy);
    ++selected_;
    setExperiments(std::vector<engine::Experiment>(experiments_));
}

void ExperimentPanel::removeRun() {
    if (running_ || experiments_.size() < 2)
        return;
    experiments_.erase(experiments_.begin() + static_cast<std::ptrdiff_t>(selected_));
    setExperiments(std::vector<engine::Experiment>(experiments_));
}

void ExperimentPanel::takeForm() {
    if (loading_)
        return;
    const engine::Experiment before = experiments_[selected_];
    const std::string name = before.name;
    experiments_[selected_] = form_->experiment();
    experiments_[selected_].name = name;
    shareEdits(before, experiments_[selected_]);
    refillList();
    check();
    Q_EMIT experimentsChanged();
}

void ExperimentPanel::shareEdits(const engine::Experiment& before,
                                 const engine::Experiment& after) {
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        if (!isSharedByRace(field.path))
            continue;
        const engine::FieldValue value = engine::getField(after, field.path);
        if (value == engine::getField(before, field.path))
            continue;
        for (engine::Experiment& experiment : experiments_)
            engine::setField(experiment, field.path, value);
    }
}

void ExperimentPanel::refillList() {
    const QScopedValueRollback<bool> guard(loading_, true);
    names_->setRowCount(static_cast<int>(experiments_.size()));
    for (std::size_t i = 0; i < experiments_.size(); ++i) {
        const QString title = experimentTitle(experiments_[i]);
        const int row = static_cast<int>(i);
        if (names_->item(row) == nullptr)
            names_->setItem(row, new QStandardItem(title));
        else if (names_->item(row)->text() != title)
            names_->item(row)->setText(title);
    }
    list_->setCurrentIndex(names_->index(static_cast<int>(selected_), 0));
}

void ExperimentPanel::renameRun(std::size_t index, const QString& name) {
    experiments_[index].name = name.trimmed().toStdString();
    refillList();
    Q_EMIT experimentsChanged();
}

QString ExperimentPanel::findProblem() const {
    QString problem = form_->isValid() ? QString() : form_->firstError();
    for (const engine::Experiment& experiment : experiments_) {
        const auto issues = engine::validate(experiment);
        if (problem.isEmpty() && !issues.empty() &&
            issues.front().severity == engine::ExperimentIssue::Severity::Error)
            problem = tr("%1: %2").arg(experimentTitle(experiment),
                                       QString::fromStdString(issues.front().message));
    }
    if (!problem.isEmpty() || !fork_->source())
        return problem;
    try {
        for (const engine::Experiment& experiment : experiments_)
            engine::requireForkable(fork_->source()->origin, experiment);
    } catch (const engine::ExperimentError& refused) {
        problem = QString::fromUtf8(refused.what());
    }
    return problem;
}

void ExperimentPanel::check() {
    const QString problem = findProblem();
    problem_->setText(problem.isEmpty() ? QString() : tr("Cannot start: %1").arg(problem));
    problem_->setVisible(!problem.isEmpty());
    start_->setEnabled(problem.isEmpty() && !running_);
    start_->setToolTip(problem.isEmpty() ? tr("Start the race (F5)") : problem);
    queue_->setEnabled(problem.isEmpty());
    add_->setEnabled(!running_);
    remove_->setEnabled(!running_ && experiments_.size() > 1);
    if (problem != startProblem_) {
        startProblem_ = problem;
        Q_EMIT startProblemChanged(problem);
    }
}

bool isSharedByRace(std::string_view path) noexcept {
    constexpr std::array<std::string_view, 4> kOwn = {"training.lr", "training.momentum",
                                                      "training.weight_decay", "training.clip"};
    return !path.starts_with("compression.") &&
           std::find(kOwn.begin(), kOwn.end(), path) == kOwn.end();
}

} // namespace gradlab::app
