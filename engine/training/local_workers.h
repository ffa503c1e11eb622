// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// N workers as threads of this process, sharing the trainer's replica.
#pragma once

#include "engine/data/corpus.h"
#include "engine/training/worker_group.h"
#include "engine/training/worker_team.h"

#include <memory>
#include <vector>

namespace gradlab::engine {

template <class T>
class LocalWorkers final : public WorkerGroup<T> {
public:
    /// `replica` outlives the group. `experiment` is resolved.
    LocalWorkers(const Experiment& experiment, const Corpus& corpus, MessagePlan plan,
                 Replica<T>& replica, const ExchangeFactory& exchange);

    void boundary(std::uint64_t /*lastStep*/, const std::stop_token& /*stop*/) override {}
    double exchange(const WorkerStep& step, const std::stop_token& stop) override;
    [[nodiscard]] bool replicaFollows() const override { return true; }
    std::vector<WorkerAccount>& collect(const ReplicaUpdate& update) override;
    [[nodiscard]] const ExchangeOutcome& outcome() const override { return outcome_; }
    void synchronise(const std::stop_token& /*stop*/) override {}
    void reconfigure(const Experiment& experiment, MemoryChange change, bool compression) override;
    [[nodiscard]] std::vector<WorkerState<T>> states(const std::stop_token& stop) override;
    void setStates(std::vector<WorkerState<T>> states, const std::string& origin) override;
    [[nodiscard]] std::vector<WorkerInspection> takeInspections() override;
    [[nodiscard]] std::vector<ClusterEvent> takeEvents() override { return {}; }
    [[nodiscard]] bool takePauseRequest() override { return false; }
    [[nodiscard]] std::span<const T> keptGradient() const override {
        return workers_.front()->keptGradient();
    }
    [[nodiscard]] ClusterCoordinator* cluster() override { return nullptr; }
    void end(const std::string& /*reason*/) override {}

private:
    [[nodiscard]] ExchangeSetup setup(const Experiment& experiment) const;
    double computeAndExchange(const WorkerStep& step, const std::stop_token& stop);
    void commit();

    MessagePlan plan_;
    Replica<T>& replica_;
    std::vector<std::unique_ptr<LanguageModel<T>>> models_; ///< by seat
    std::vector<std::unique_ptr<Worker<T>>> workers_;
    std::unique_ptr<GradientExchange> exchange_;
    // Of the step in flight
    ExchangeOutcome outcome_;
    std::vector<WorkerAccount> accounts_;
    std::vector<double> commitCpu_;
    WorkerTeam team_; ///< last: its threads use everything above
};

extern template class LocalWorkers<float>;
extern template class LocalWorkers<double>;

} // namespace gradlab::engine
