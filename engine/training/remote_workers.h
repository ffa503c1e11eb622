// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// N workers in processes of their own, each with its own replica; the trainer's replica evaluates
// and checkpoints. Makes snapshots for joiners, compares parameter hashes, heals what differs.
#pragma once

#include "engine/data/corpus.h"
#include "engine/training/worker_group.h"

#include <memory>
#include <vector>

namespace gradlab::engine {

template <class T>
class RemoteWorkers final : public WorkerGroup<T> {
public:
    /// `replica` outlives the group. Starts listening, and the local processes.
    /// @throws ExperimentError for an address or keys that cannot be used
    RemoteWorkers(const Experiment& experiment, std::shared_ptr<const Corpus> corpus,
                  MessagePlan plan, Replica<T>& replica, const ClusterFactory& cluster);

    void boundary(std::uint64_t lastStep, const std::stop_token& stop) override;
    double exchange(const WorkerStep& step, const std::stop_token& stop) override;
    [[nodiscard]] bool replicaFollows() const override { return !ring_; }
    std::vector<WorkerAccount>& collect(const ReplicaUpdate& update) override;
    [[nodiscard]] const ExchangeOutcome& outcome() const override { return outcome_; }
    void synchronise(const std::stop_token& stop) override;
    void reconfigure(const Experiment& experiment, MemoryChange change, bool compression) override;
    [[nodiscard]] std::vector<WorkerState<T>> states(const std::stop_token& stop) override;
    void setStates(std::vector<WorkerState<T>> states, const std::string& origin) override;
    [[nodiscard]] std::vector<WorkerInspection> takeInspections() override;
    [[nodiscard]] std::vector<ClusterEvent> takeEvents() override;
    [[nodiscard]] bool takePauseRequest() override { return cluster_->takePauseRequest(); }
    [[nodiscard]] ClusterCoordinator* cluster() override { return cluster_.get(); }
    void end(const std::string& reason) override { cluster_->end(reason); }

private:
    [[nodiscard]] ClusterSetup clusterSetup() const;
    [[nodiscard]] ByteBuffer snapshotFor(std::uint32_t rank);
    void compareHashes();
    void heal(std::uint32_t rank, std::uint32_t healthy);

    Experiment experiment_; ///< resolved
    std::shared_ptr<const Corpus> corpus_;
    MessagePlan plan_;
    Replica<T>& replica_;
    bool ring_;
    std::uint64_t step_ = 0;               ///< the last one committed
    std::uint64_t replicaStep_ = 0;        ///< that the trainer's replica holds
    std::vector<WorkerState<T>> restored_; ///< by rank, of a checkpoint; given to its first holder
    ExchangeOutcome outcome_;
    std::vector<WorkerAccount> accounts_;
    bool hashWanted_ = false;
    std::shared_ptr<const InspectionPlan> inspection_; ///< of the step in flight; null: none
    std::vector<ClusterEvent> events_;
    std::unique_ptr<ClusterCoordinator> cluster_;
};

extern template class RemoteWorkers<float>;
extern template class RemoteWorkers<double>;

} // namespace gradlab::engine
