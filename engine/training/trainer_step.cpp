// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One step of the trainer: its workers compute, exchange and commit; update; account.
#include "engine/model/parameter_file.h"
#include "engine/training/trainer_impl.h"
#include "engine/training/training_rules.h"

#include <algorithm>
#include <chrono>
#include <stop_token>

namespace gradlab::engine {

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

} // namespace

template <class T>
void TrainerImpl<T>::step(const std::stop_token& stop) {
    const auto begin = Clock::now();
    workers_->boundary(totals_.step, stop);
    writeClusterEvents();
    WorkerStep now = workerStep(experiment_, totals_.step + 1, windows_);
    now.keepGradient = keepsGradient(now.position.step);
    now.inspection = dueInspection(now.position.step);
    const double meanNorm = workers_->exchange(now, stop);
    // From here on the step is committed: nothing below may give it up.
    ReplicaUpdate update;
    if (workers_->replicaFollows())
        update = updateTimed(replica_, arena_, meanNorm, sgdSettings(experiment_));
    std::vector<WorkerAccount>& accounts = workers_->collect(update);
    totals_.wallS += since(begin);
    accountStep(now, accounts,
                workers_->replicaFollows() || accounts.empty() ? update.sgd : accounts.front().sgd);
    recordInspection(now, accounts);
    writeClusterEvents();
    if (now.keepGradient)
        writeGradient(now.position.step);
}

template <class T>
bool TrainerImpl<T>::keepsGradient(std::uint64_t step) const {
    const auto& kept = options_.gradientSteps;
    return std::find(kept.begin(), kept.end(), step) != kept.end();
}

template <class T>
void TrainerImpl<T>::writeGradient(std::uint64_t step) {
    std::error_code failed; // the writer says what is wrong
    std::filesystem::create_directories(options_.gradientFolder, failed);
    SafetensorsWriter writer;
    addTensors(writer, replica_.layout(), workers_->keptGradient());
    writer.setMetadata("step", std::to_string(step));
    writer.write(options_.gradientFolder / ("step-" + std::to_string(step) + ".safetensors"));
}

template <class T>
StepInputs TrainerImpl<T>::stepInputs(const WorkerStep& step, const SgdOutcome& sgd) const {
    StepInputs inputs;
    inputs.step = step.position.step;
    inputs.epoch = step.position.epoch;
    inputs.lr = step.position.lr;
    inputs.parameters = plan_.size();
    inputs.valueBytes = sizeof(T);
    inputs.sgd = sgd;
    inputs.form = exchangeForm(experiment_);
    const LinkSettings& link = experiment_.cluster.link;
    inputs.link.bytesPerSecond = link.bandwidth / 8.0;
    inputs.link.latency = link.latency;
    inputs.link.serverBytesPerSecond =
        (link.serverBandwidth > 0.0 ? link.serverBandwidth : link.bandwidth) / 8.0;
    inputs.link.workers = std::max<std::size_t>(1, workers_->outcome().contributors.size());
    return inputs;
}

template <class T>
void TrainerImpl<T>::accountStep(const WorkerStep& step, std::vector<WorkerAccount>& accounts,
                                 const SgdOutcome& sgd) {
    const ExchangeOutcome& outcome = workers_->outcome();
    const auto columns =
        static_cast<std::uint64_t>(experiment_.training.batch / experiment_.cluster.workers);
    totals_.tokens += columns * outcome.contributors.size() *
                      static_cast<std::uint64_t>(experiment_.training.bptt);
    totals_.step = step.position.step;
    if (accounts.empty())
        return; // everybody was lost right after the commit: the step counts, nobody can tell of it
    const StepInputs inputs = stepInputs(step, sgd);
    accountExchange(accounts, outcome);
    StepRecord record = makeStepRecord(accounts, outcome, inputs);
    totals_.simulatedS += record.simulatedS;
    totals_.add(record);
    record.tokens = totals_.tokens;
    record.wallS = totals_.wallS;
    record.simulatedS = totals_.simulatedS;
    sink_.record(record);
    if (!options_.perWorker)
        return;
    for (std::size_t i = 0; i < accounts.size(); ++i)
        sink_.record(makeWorkerRecord(accounts[i], outcome.traffic[i], record.step));
}

template <class T>
void TrainerImpl<T>::writeClusterEvents() {
    for (const ClusterEvent& happened : workers_->takeEvents()) {
        EventRecord event;
        event.step = happened.step;
        event.event = happened.event;
        event.details = happened.details;
        sink_.record(event);
    }
}

template class TrainerImpl<float>;
template class TrainerImpl<double>;

} // namespace gradlab::engine
