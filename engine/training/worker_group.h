// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The workers of a run as its trainer sees them, be they threads of this process (LocalWorkers) or
// processes of their own (RemoteWorkers).
#pragma once

#include "engine/training/cluster_coordinator.h"
#include "engine/training/experiment.h"
#include "engine/training/worker_accounting.h"

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace gradlab::engine {

/// Driven by the run's thread. boundary() → exchange() → the trainer's update → collect().
template <class T>
class WorkerGroup {
public:
    virtual ~WorkerGroup() = default;

    /// Who joined or left takes effect. `lastStep` = steps done. @throws TransportError, Cancelled
    virtual void boundary(std::uint64_t lastStep, const std::stop_token& stop) = 0;
    /// Everybody computes and exchanges; the mean is looked at; memories and hidden states are
    /// committed. @return the mean's norm. @throws NumericError, TransportError, Cancelled:
    /// nothing of the step is committed anywhere then
    virtual double exchange(const WorkerStep& step, const std::stop_token& stop) = 0;
    /// Whether exchange() leaves the mean in the trainer's replica. Otherwise the replica stands
    /// still until synchronise().
    [[nodiscard]] virtual bool replicaFollows() const = 0;
    /// Accounts of the step, by rank, all times filled in but those of accountExchange(). The step
    /// is final: nobody's wish to stop interrupts this.
    virtual std::vector<WorkerAccount>& collect(const ReplicaUpdate& update) = 0;
    [[nodiscard]] virtual const ExchangeOutcome& outcome() const = 0;
    /// Brings the trainer's replica up to the last step. @throws TransportError, Cancelled
    virtual void synchronise(const std::stop_token& stop) = 0;
    /// New parameters from the next step on; `compression`: method or memory are among them.
    virtual void reconfigure(const Experiment& experiment, MemoryChange change,
                             bool compression) = 0;

    /// By rank; empty for slots that nobody holds.
    [[nodiscard]] virtual std::vector<WorkerState<T>> states(const std::stop_token& stop) = 0;
    /// Before the first step. @throws DataError naming `origin`
    virtual void setStates(std::vector<WorkerState<T>> states, const std::string& origin) = 0;

    /// Of the step just collected, by rank, if it asked for one.
    [[nodiscard]] virtual std::vector<WorkerInspection> takeInspections() { return {}; }
    [[nodiscard]] virtual std::vector<ClusterEvent> takeEvents() = 0;
    [[nodiscard]] virtual bool takePauseRequest() = 0;
    /// Worker 0's of the last step, if that asked for it; empty where it is another process's.
    [[nodiscard]] virtual std::span<const T> keptGradient() const { return {}; }
    /// Null for threads.
    [[nodiscard]] virtual ClusterCoordinator* cluster() = 0;
    /// The run is over.
    virtual void end(const std::string& reason) = 0;
};

} // namespace gradlab::engine
