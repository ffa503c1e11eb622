// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/local_workers.h"

#include "engine/core/errors.h"
#include "engine/training/training_rules.h"

#include <exception>
#include <stop_token>
#include <utility>

namespace gradlab::engine {

template <class T>
LocalWorkers<T>::LocalWorkers(const Experiment& experiment, const Corpus& corpus, MessagePlan plan,
                              Replica<T>& replica, const ExchangeFactory& exchange)
    : plan_(std::move(plan)), replica_(replica),
      team_(static_cast<std::size_t>(experiment.cluster.workers),
            static_cast<std::size_t>(experiment.cluster.threads)) {
    const auto count = static_cast<std::uint32_t>(experiment.cluster.workers);
    const ModelShape shape = modelShape(experiment, corpus.vocabulary.size());
    for (std::size_t seat = 0; seat < team_.seats(); ++seat)
        models_.push_back(makeLstmLanguageModel<T>(shape, productType(experiment)));
    for (std::uint32_t rank = 0; rank < count; ++rank)
        workers_.push_back(std::make_unique<Worker<T>>(
            plan_, shape, workerColumns(experiment, corpus.train, rank),
            static_cast<std::size_t>(experiment.training.bptt), experiment.compression,
            compressorIdentity(experiment, rank)));
    accounts_.resize(count);
    commitCpu_.resize(count);
    exchange_ = exchange(setup(experiment));
}

template <class T>
ExchangeSetup LocalWorkers<T>::setup(const Experiment& experiment) const {
    ExchangeSetup setup = exchangeSetup(experiment, plan_);
    for (std::uint32_t rank = 0; rank < setup.workers; ++rank)
        setup.ranks.push_back(rank);
    return setup;
}

template <class T>
double LocalWorkers<T>::exchange(const WorkerStep& step, const std::stop_token& stop) {
    double norm = 0.0;
    try {
        norm = computeAndExchange(step, stop);
    } catch (...) {
        for (auto& worker : workers_)
            worker->discard();
        exchange_->abandonStep();
        throw;
    }
    commit();
    for (std::size_t i = 0; i < workers_.size(); ++i)
        fillAccount(accounts_[i], *workers_[i], step.position.epoch, commitCpu_[i], step.overlap);
    return norm;
}

template <class T>
double LocalWorkers<T>::computeAndExchange(const WorkerStep& step, const std::stop_token& stop) {
    // Ends the exchange's wait when the program stops or when a worker has failed.
    std::stop_source giveUp;
    const std::stop_callback relay(stop, [&] { giveUp.request_stop(); });
    exchange_->beginStep(step.position.step, replica_.aggregator());
    team_.start(
        [&, token = giveUp.get_token()](std::size_t index, const ComputeTurn& turn) {
            Worker<T>& worker = *workers_[index];
            worker.timer().reset();
            worker.timer().addWall(Phase::Turn, turn.waitedS);
            worker.compute(step, *models_[turn.seat], std::as_const(replica_).parameters(),
                           turn.arena, *exchange_, token);
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
void LocalWorkers<T>::commit() {
    team_.run([&](std::size_t index, const ComputeTurn& turn) {
        workers_[index]->timer().addWall(Phase::Turn, turn.waitedS);
        commitCpu_[index] = commitTimed(*workers_[index], turn.arena);
    });
}

template <class T>
std::vector<WorkerAccount>& LocalWorkers<T>::collect(const ReplicaUpdate& update) {
    for (WorkerAccount& account : accounts_)
        account.addReplicaTimes(outcome_, update.wallS, update.cpuS);
    return accounts_;
}

template <class T>
std::vector<WorkerInspection> LocalWorkers<T>::takeInspections() {
    std::vector<WorkerInspection> inspections;
    for (auto& worker : workers_)
        if (auto inspection = worker->takeInspection())
            inspections.push_back(std::move(*inspection));
    return inspections;
}

template <class T>
void LocalWorkers<T>::reconfigure(const Experiment& experiment, MemoryChange change,
                                  bool compression) {
    if (compression) {
        for (auto& worker : workers_)
            worker->compressor().reconfigure(experiment.compression, change);
        exchange_->reconfigure(setup(experiment));
    }
    exchange_->setLink(experiment.cluster.link);
}

template <class T>
std::vector<WorkerState<T>> LocalWorkers<T>::states(const std::stop_token& /*stop*/) {
    std::vector<WorkerState<T>> states;
    for (auto& worker : workers_)
        states.push_back(worker->state());
    return states;
}

template <class T>
void LocalWorkers<T>::setStates(std::vector<WorkerState<T>> states, const std::string& origin) {
    for (std::size_t rank = 0; rank < workers_.size() && rank < states.size(); ++rank)
        if (!states[rank].tensors.empty())
            workers_[rank]->setState(states[rank], origin);
}

template class LocalWorkers<float>;
template class LocalWorkers<double>;

} // namespace gradlab::engine
