// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The interface between a trainer and workers that are processes of their own. The trainer decides
// what a step is and what a joiner needs; the coordinator carries orders, gradients, votes and
// reports, and keeps the membership. Leaves out: sockets and their protocol (transport/zmq), the
// worker's end (cluster_node.h).
//
//   boundary() → step() → reports() → boundary() → …       all from the run's thread
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/core/byte_buffer.h"
#include "engine/core/export.h"
#include "engine/training/experiment.h"
#include "engine/training/gradient_exchange.h"
#include "engine/training/gradient_inspector.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace gradlab::engine {

struct ClusterSetup {
    Experiment experiment; ///< resolved; `cluster` says where to listen and whom to trust
    /// `ranks` is empty: nobody computes in this process. Its session is chosen by the coordinator.
    ExchangeSetup exchange;
    std::uint64_t lastStep = 0;    ///< already done (a resumed run)
    std::size_t snapshotBytes = 0; ///< upper bound of any snapshot, either way
};

/// What the member of a slot needs to take part: an engine document (cluster_node.h).
using SnapshotMaker = std::function<ByteBuffer(std::uint32_t rank)>;

/// What one worker says of a committed step.
struct WorkerReport {
    std::uint32_t rank = 0;
    RankTraffic traffic; ///< times on this process's clock
    std::string account; ///< the engine's document, see ClusterNode::report()
};

/// Something that happened to the cluster, for the log and the charts.
struct ClusterEvent {
    std::string event;   ///< worker_joined, worker_lost, worker_stalled, worker_recovered,
                         ///< worker_straggling, step_redone, warning
    std::string details; ///< one sentence for people: who, why, what was lost with it
    std::uint64_t step = 0;
    std::uint32_t rank = 0xFFFFFFFFU; ///< 0xFFFFFFFF: nobody in particular
};

enum class MemberState {
    Starting,
    Joining,
    Active,
    Computing,
    Stalled,
    Straggling,
    Lost,
    Spare,
    Ended ///< left with the run
};
[[nodiscard]] GRADLAB_ENGINE_EXPORT const char* toString(MemberState state) noexcept;

/// One row of the worker table.
struct ClusterMember {
    std::uint32_t rank = 0; ///< slot; meaningless for a spare
    MemberState state = MemberState::Starting;
    std::string name; ///< as given, or host:pid
    std::string host;
    std::int64_t pid = 0;
    std::string machine; ///< its boot id: equal on one machine
    std::int64_t cores = 0;
    bool local = false;     ///< a process that this program started: pause, freeze, kill work
    bool suspended = false; ///< frozen on purpose
    std::uint64_t step = 0; ///< that it works on
    double stepS = 0.0;     ///< wall seconds of its last step, waiting included
    double bytesUp = 0.0;   ///< totals
    double bytesDown = 0.0;
    double heardAgoS = 0.0;  ///< since its last sign of life
    double roundTripS = 0.0; ///< control plane, smoothed
};

struct ClusterView {
    std::string endpoint; ///< where workers connect; empty before listening
    bool secure = false;  ///< CURVE: joining needs keys
    std::uint64_t epoch = 0;
    std::size_t active = 0;
    std::size_t wanted = 0; ///< N
    bool waiting = false;   ///< the run waits for workers
    std::vector<ClusterMember> members;
};

enum class WorkerAction {
    Freeze, ///< SIGSTOP
    Thaw,   ///< SIGCONT
    Kill,   ///< SIGKILL
    Leave   ///< ask it to go, cleanly; remote workers too
};

/// view() and act() from any thread, everything else from the run's thread.
class GRADLAB_ENGINE_EXPORT ClusterCoordinator {
public:
    virtual ~ClusterCoordinator(); ///< tells everybody that the run is over, ends local processes

    /// At a step boundary: losses take effect, joiners are placed, given `snapshot(rank)` and
    /// waited for (until ready or lost). The first call waits for wait_for workers.
    /// @throws TransportError if nobody is left or on_loss = stop; Cancelled
    virtual void boundary(const SnapshotMaker& snapshot, std::stop_token stop) = 0;
    /// One step of everybody active: orders it, exchanges, commits. `replica` receives the mean if
    /// the topology is server, and `check` looks at it before the commit; in a ring each worker
    /// checks. Reports will hold parameter hashes if `wantHash`.
    /// @throws NumericError (also a worker's), TransportError, Cancelled; nothing is committed then
    virtual ExchangeOutcome step(std::uint64_t step, bool wantHash, Aggregator& replica,
                                 const MeanCheck& check, std::stop_token stop) = 0;
    /// Of the step just committed, by rank; waits for all that are not lost meanwhile.
    virtual std::vector<WorkerReport> reports(std::stop_token stop) = 0;
    /// New parameters for everybody, from the next step on.
    virtual void configure(const Experiment& experiment, MemoryChange change,
                           const ExchangeSetup& setup) = 0;

    /// A worker's snapshot: its memory and hidden state, or (`replica`) parameters and optimizer.
    /// Empty if the worker is lost before it answers. Between steps.
    virtual ByteBuffer fetch(std::uint32_t rank, bool replica, std::stop_token stop) = 0;
    /// Everybody looks into the next step, see ClusterNode::inspectNext. Between steps.
    virtual void inspectNext(const std::optional<InspectionRequest>& /*focus*/) {}
    /// What a worker found in the step just committed, see ClusterNode::inspection. Empty if it is
    /// lost before it answers, or did not look.
    virtual ByteBuffer fetchInspection(std::uint32_t /*rank*/, const std::stop_token& /*stop*/) {
        return {};
    }
    /// Gives a worker a snapshot to load; false if it is lost before it has. Between steps.
    virtual bool load(std::uint32_t rank, ByteView snapshot, std::stop_token stop) = 0;
    /// Ranks that take part in the next step, ascending. Between steps.
    [[nodiscard]] virtual std::vector<std::uint32_t> activeRanks() const = 0;

    [[nodiscard]] virtual std::vector<ClusterEvent> takeEvents() = 0;
    /// on_loss = pause asked for it since the last call.
    [[nodiscard]] virtual bool takePauseRequest() = 0;
    /// Tells everybody that the run is over; afterwards only view() may be called.
    virtual void end(const std::string& reason) = 0;

    [[nodiscard]] virtual ClusterView view() const = 0;
    /// Does nothing for a worker that is not local, except Leave.
    virtual void act(std::uint32_t rank, WorkerAction action) = 0;
    /// Starts one more local worker: it takes a free slot or waits as a spare.
    virtual void startLocalWorker() = 0;
};

using ClusterFactory = std::function<std::unique_ptr<ClusterCoordinator>(const ClusterSetup&)>;

/// How programs give the engine its transports; `cluster` may be empty where nothing uses it.
struct TransportFactories {
    ExchangeFactory exchange;
    ClusterFactory cluster;
};

} // namespace gradlab::engine
