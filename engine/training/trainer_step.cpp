// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One step of the trainer: compute and exchange, check, commit, update, account.
#include "engine/core/errors.h"
#include "engine/training/trainer_impl.h"

#include <chrono>
#include <stop_token>
#include <utility>

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
    const WorkerStep now = workerStep();
    double meanNorm = 0.0;
    try {
        meanNorm = computeAndExchange(now, stop);
    } catch (...) {
        abandonStep();
        throw;
    }
    commitWorkers();
    updateReplica(meanNorm);
    totals_.wallS += since(begin);
    accountStep(now);
}

template <class T>
WorkerStep TrainerImpl<T>::workerStep() const {
    WorkerStep step;
    step.position.step = totals_.step + 1;
    step.position.epoch = epochOf(step.position.step);
    step.position.lr = experiment_.training.lr;
    step.position.weightDecay = experiment_.training.weightDecay;
    step.window = (step.position.step - 1) % windows_;
    step.dropout = experiment_.model.dropout;
    step.seed = static_cast<std::uint32_t>(experiment_.training.seed);
    step.overlap = overlap_;
    return step;
}

template <class T>
double TrainerImpl<T>::computeAndExchange(const WorkerStep& step, const std::stop_token& stop) {
    // Ends the exchange's wait when the program stops or when a worker has failed.
    std::stop_source giveUp;
    const std::stop_callback relay(stop, [&] { giveUp.request_stop(); });
    exchange_->beginStep(step.position.step, replica_.aggregator());
    team_.start(
        [&, token = giveUp.get_token()](std::size_t index, ComputeArena& arena, double turn) {
            Worker<T>& worker = *workers_[index];
            worker.timer().reset();
            worker.timer().addWall(Phase::Turn, turn);
            worker.compute(step, std::as_const(replica_).parameters(), arena, *exchange_, token);
        },
        [&] { giveUp.request_stop(); });
    double meanNorm = 0.0;
    std::exception_ptr exchangeError;
    try {
        outcome_ = exchange_->finish(
            [&] { meanNorm = replica_.checkedMeanNorm(step.position.step); }, giveUp.get_token());
    } catch (...) {
        exchangeError = std::current_exception();
        giveUp.request_stop();
    }
    // A worker's own error says more than the wait that it ended, unless it was only told to give
    // up.
    if (const std::exception_ptr error = team_.join()) {
        try {
            std::rethrow_exception(error);
        } catch (const Cancelled&) {
            if (exchangeError == nullptr)
                throw;
        }
    }
    if (exchangeError != nullptr)
        std::rethrow_exception(exchangeError);
    return meanNorm;
}

template <class T>
void TrainerImpl<T>::abandonStep() {
    for (auto& worker : workers_)
        worker->discard();
    exchange_->abandonStep();
}

template <class T>
void TrainerImpl<T>::commitWorkers() {
    team_.run([&](std::size_t index, ComputeArena& arena, double turn) {
        const auto begin = Clock::now();
        const double cpu = threadCpuSeconds();
        PhaseTimer& timer = workers_[index]->timer();
        arena.execute([&] { workers_[index]->commit(); });
        commitCpu_[index] = threadCpuSeconds() - cpu + arena.takeHelpersCpu();
        timer.addWall(Phase::Turn, turn);
        timer.addWall(Phase::Compress, since(begin));
        timer.addCpu(Phase::Compress, commitCpu_[index]);
    });
}

template <class T>
void TrainerImpl<T>::updateReplica(double meanNorm) {
    const auto begin = Clock::now();
    const double cpu = threadCpuSeconds();
    SgdSettings settings;
    settings.lr = experiment_.training.lr;
    settings.momentum = experiment_.training.momentum;
    settings.weightDecay =
        experiment_.compression.memory == "dgc" ? 0.0 : experiment_.training.weightDecay;
    settings.clip = experiment_.training.clip;
    const auto units = experiment_.compression.parameters.find("memory_units");
    settings.updateUnits = experiment_.compression.memory == "residual" &&
                           units != experiment_.compression.parameters.end() &&
                           std::get<std::string>(units->second) == "update";
    arena_.execute([&] { sgd_ = replica_.update(meanNorm, settings); });
    updateCpuS_ = threadCpuSeconds() - cpu + arena_.takeHelpersCpu();
    updateWallS_ = since(begin);
}

template <class T>
StepInputs TrainerImpl<T>::stepInputs(const WorkerStep& step) const {
    StepInputs inputs;
    inputs.step = step.position.step;
    inputs.epoch = step.position.epoch;
    inputs.lr = step.position.lr;
    inputs.ratio = workers_.front()->compressor().effectiveRatio(step.position.epoch);
    inputs.parameters = plan_.size();
    inputs.valueBytes = sizeof(T);
    inputs.sgd = sgd_;
    inputs.updateWallS = updateWallS_;
    inputs.updateCpuS = updateCpuS_;
    inputs.form = exchangeForm();
    const LinkSettings& link = experiment_.cluster.link;
    inputs.link.bytesPerSecond = link.bandwidth / 8.0;
    inputs.link.latency = link.latency;
    inputs.link.serverBytesPerSecond =
        (link.serverBandwidth > 0.0 ? link.serverBandwidth : link.bandwidth) / 8.0;
    inputs.link.workers = workers_.size();
    return inputs;
}

template <class T>
void TrainerImpl<T>::accountStep(const WorkerStep& step) {
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        const WorkerResult& result = workers_[i]->result();
        WorkerAccount& account = accounts_[i];
        account.rank = workers_[i]->rank();
        account.loss = result.loss;
        account.bytesMessage = result.bytesMessage;
        account.stats = result.stats;
        account.parts = result.parts;
        account.cpuAtHandOver = result.cpuAtHandOver;
        account.commitCpu = commitCpu_[i];
        account.t = workers_[i]->timer().wall();
        account.cpu = workers_[i]->timer().cpu();
        if (!overlap_ && !account.parts.empty())
            account.parts = {{account.cpuAtHandOver, static_cast<double>(account.bytesMessage)}};
    }
    const StepInputs inputs = stepInputs(step);
    accountExchange(accounts_, outcome_, inputs);
    StepRecord record = makeStepRecord(accounts_, outcome_, inputs);
    totals_.tokens += static_cast<std::uint64_t>(experiment_.training.batch) *
                      static_cast<std::uint64_t>(experiment_.training.bptt);
    totals_.simulatedS += record.simulatedS;
    totals_.add(record);
    record.tokens = totals_.tokens;
    record.wallS = totals_.wallS;
    record.simulatedS = totals_.simulatedS;
    sink_.record(record);
    if (!options_.perWorker)
        return;
    for (std::size_t i = 0; i < workers_.size(); ++i)
        sink_.record(makeWorkerRecord(accounts_[i], outcome_.traffic[i], record.step));
}

template class TrainerImpl<float>;
template class TrainerImpl<double>;

} // namespace gradlab::engine
