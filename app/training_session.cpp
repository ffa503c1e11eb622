// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands, state and script of the run that is on. training_session_records.cpp moves its records.
#include "app/training_session.h"

#include "app/cli/program_error.h"
#include "app/session_run.h"
#include "engine/training/experiment_schema.h"

namespace gradlab::app {

using engine::RunState;

namespace {

constexpr int kTickMs = 66; // numbers on the screen 15 times a second

} // namespace

TrainingSession::TrainingSession(engine::TransportFactories transports, engine::CorpusLoader loader,
                                 QObject* parent)
    : QObject(parent), transports_(std::move(transports)), loader_(std::move(loader)) {
    timer_.setInterval(kTickMs);
    connect(&timer_, &QTimer::timeout, this, &TrainingSession::tick);
}

TrainingSession::~TrainingSession() {
    timer_.stop();
    if (current_)
        current_->run->stop();
}

std::vector<int> TrainingSession::prepare(const SessionPlan& plan) {
    auto next = std::make_unique<SessionRun>();
    std::vector<int> ids;
    for (const engine::Experiment& experiment : plan.experiments) {
        ids.push_back(nextRunId_ + static_cast<int>(ids.size()));
        next->members.push_back(std::make_unique<SessionMember>(ids.back(), experiment));
    }
    if (plan.fork)
        for (const auto& member : next->members) {
            member->options.resumeFrom = plan.fork->checkpoint;
            member->options.forkedFrom = plan.fork->run;
        }
    if (!plan.folder.empty())
        next->openFolders(plan.folder);
    else if (!plan.scratch.empty())
        next->openScratchLogs(plan.scratch);
    discard();
    next->number = ++runNumber_;
    nextRunId_ += static_cast<int>(ids.size());
    current_ = std::move(next);
    // Called in the run's thread; the run is joined before its SessionRun and the session go.
    const auto stateChanged = [this, run = current_.get()](RunState) { queueStateCheck(*run); };
    current_->run = std::make_unique<engine::TrainingRun>(
        current_->memberList(), transports_, loader_, engine::TrainingRun::Callbacks{stateChanged});
    queueScript(plan.script);
    exitCode_ = 0;
    publish(RunState::Idle);
    return ids;
}

void TrainingSession::queueScript(const std::vector<ScriptedChange>& script) {
    for (const ScriptedChange& change : script)
        for (std::size_t i = 0; i < current_->members.size(); ++i)
            if (concerns(change, current_->members[i]->experiment.name))
                current_->run->change(i, change.change, change.step);
}

bool TrainingSession::isActive() const noexcept {
    return state_ == RunState::Loading || state_ == RunState::Running ||
           state_ == RunState::Paused || state_ == RunState::Stopping;
}

std::vector<std::filesystem::path> TrainingSession::logs() const {
    std::vector<std::filesystem::path> paths;
    if (current_ != nullptr)
        for (const auto& member : current_->members)
            paths.push_back(member->logPath);
    return paths;
}

engine::RunProgress TrainingSession::progress() const {
    return current_ ? current_->run->progress() : engine::RunProgress{};
}

void TrainingSession::start() {
    if (!current_ || state_ != RunState::Idle)
        return;
    timer_.start();
    current_->started = true;
    current_->run->start();
    checkState(current_->number);
}

void TrainingSession::pause() {
    if (!isActive())
        return;
    current_->run->pause();
    checkState(current_->number);
}

void TrainingSession::resume() {
    if (!isActive())
        return;
    current_->run->resume();
    checkState(current_->number);
}

void TrainingSession::stepOnce() {
    if (!current_ || (!isActive() && state_ != RunState::Idle))
        return;
    timer_.start();
    current_->started = true;
    current_->run->stepOnce();
    checkState(current_->number);
}

void TrainingSession::stop() {
    if (!isActive())
        return;
    current_->run->stop();
    checkState(current_->number);
}

void TrainingSession::discard() {
    if (!current_)
        return;
    current_->run->stop();
    discarded_.push_back(std::move(current_));
    ++runNumber_;
    publish(RunState::Idle);
    timer_.start();
    joinEndedRuns();
}

std::vector<std::optional<engine::ClusterView>> TrainingSession::clusterViews() const {
    std::vector<std::optional<engine::ClusterView>> views;
    if (current_ != nullptr)
        for (std::size_t member = 0; member < current_->members.size(); ++member)
            views.push_back(current_->run->clusterView(member));
    return views;
}

void TrainingSession::act(std::size_t member, std::uint32_t rank, engine::WorkerAction action) {
    if (current_ != nullptr)
        current_->run->act(member, rank, action);
}

void TrainingSession::startWorker(std::size_t member) {
    if (current_ != nullptr)
        current_->run->startWorker(member);
}

void TrainingSession::change(int runId, const engine::ParameterChange& change) {
    if (!current_)
        return;
    if (runId == kAllRuns) {
        current_->run->change(engine::TrainingRun::kAllMembers, change);
        return;
    }
    for (std::size_t i = 0; i < current_->members.size(); ++i)
        if (current_->members[i]->id == runId)
            current_->run->change(i, change);
}

void TrainingSession::inspect(int runId, const engine::InspectionRequest& request) {
    if (!current_)
        return;
    for (std::size_t i = 0; i < current_->members.size(); ++i)
        if (current_->members[i]->id == runId)
            current_->run->inspect(i, request);
}

void TrainingSession::queueStateCheck(SessionRun& run) {
    if (run.statePending.exchange(true))
        return; // the call that is queued will see this state or a later one
    QMetaObject::invokeMethod(
        this, [this, number = run.number] { checkState(number); }, Qt::QueuedConnection);
}

void TrainingSession::checkState(std::uint64_t runNumber) {
    if (!current_ || current_->number != runNumber)
        return;
    current_->statePending.store(false); // before reading: a later change queues another call
    RunState state = current_->run->state();
    if (state == RunState::Idle && current_->started)
        state = RunState::Loading; // its thread has not said so yet
    if (state == RunState::Finished || state == RunState::Failed)
        return; // tick() publishes it after the last records
    publish(state);
}

void TrainingSession::publish(RunState state) {
    if (state == state_)
        return;
    state_ = state;
    Q_EMIT stateChanged(state);
}

void TrainingSession::publishEnd(RunState state) {
    if (state == RunState::Failed) {
        const ProgramError error = describeProgramError(current_->run->error());
        exitCode_ = error.exitCode;
        QString text = QString::fromStdString(error.message);
        const std::optional<std::size_t> member = current_->run->failedMember();
        if (member && current_->members.size() > 1) // a race: whose failure it is
            text = tr("%1: %2").arg(
                QString::fromStdString(engine::displayName(current_->members[*member]->experiment)),
                text);
        Q_EMIT failed(text, error.exitCode);
    }
    publish(state);
}

} // namespace gradlab::app
