// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A topology's way from messages to means as one worker walks it: which frames it sends where,
// which it waits for, and what becomes of them. Routes run in the network thread alone. Leaves out:
// epochs, redoing, holding back (WorkerStep).
#pragma once

#include "engine/training/gradient_exchange.h"
#include "transport/zmq/buffer_pool.h"
#include "transport/zmq/worker_board.h"
#include "transport/zmq/worker_sockets.h"
#include "transport/zmq/worker_traffic.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gradlab::transport {

/// The step in flight, shared by WorkerStep and its route.
struct WorkerStepState {
    WorkerStepState(WorkerBoard& workerBoard, WorkerSockets& workerSockets,
                    const WorkerClock& clock)
        : board(workerBoard), sockets(workerSockets), traffic(clock) {}

    [[nodiscard]] std::size_t parts() const noexcept { return setup.plan.parts().size(); }
    /// n: who takes part, not the slots of the cluster.
    [[nodiscard]] std::size_t contributors() const noexcept { return ranks.size(); }
    [[nodiscard]] std::uint32_t rank() const { return ranks[position]; }
    /// The rank at `position` + n·i.
    [[nodiscard]] std::uint32_t rankAt(std::size_t at) const { return ranks[at % ranks.size()]; }
    /// Position of a rank; contributors() if it takes no part.
    [[nodiscard]] std::size_t positionOf(std::uint32_t rank) const noexcept;
    [[nodiscard]] FrameHeader header(FrameType type, std::uint32_t rank, std::size_t part,
                                     std::uint32_t chunk = 0) const;
    [[nodiscard]] engine::ByteView ownBody(std::size_t part) const {
        return engine::ByteView(*own[part]).subspan(engine::kFrameHeaderBytes);
    }
    [[nodiscard]] bool has(std::size_t part) const noexcept { return own[part] != nullptr; }

    /// Into the worker's link at `ready` (seconds of the step).
    void sendUp(zmq::message_t message, double ready);
    void sendNext(zmq::message_t message, double ready);

    WorkerBoard& board;
    WorkerSockets& sockets; ///< the network thread's
    WorkerTraffic traffic;
    engine::ExchangeSetup setup;
    std::shared_ptr<BufferPool> pool; ///< slots: parts, then parts' chunks
    std::uint64_t session = 0;
    std::uint64_t epoch = 0;
    std::uint64_t step = 0;
    std::vector<std::uint32_t> ranks;      ///< contributors, ascending
    std::size_t position = 0;              ///< of this worker among them
    std::vector<SharedBytes> own;          ///< [part]: handed over, framed for the epoch
    engine::Aggregator* replica = nullptr; ///< the node's, while the step is open
    engine::ExchangeOutcome outcome;       ///< its times
};

class WorkerRoute {
public:
    virtual ~WorkerRoute();
    /// The step begins, or begins again with other contributors.
    virtual void begin() = 0;
    /// state.own[part] is there; it entered the worker's link at `ready`.
    virtual void handOver(std::size_t part, double ready) = 0;
    /// True, once for each, if the step waits for a frame of this type, rank, part and chunk;
    /// `part` exists.
    [[nodiscard]] virtual bool accept(const FrameHeader& header) = 0;
    /// An accepted frame is here. @throws engine::ProtocolError for a body that its sender's hash
    /// vouches for and that breaks the format all the same
    virtual void arrive(WorkerFrame& frame, double when) = 0;
    /// The replica holds the mean of every part, or the compute thread has been given what it
    /// needs.
    [[nodiscard]] virtual bool done() const noexcept = 0;
};

/// The one for the setup's topology. `state` outlives it.
[[nodiscard]] std::unique_ptr<WorkerRoute> makeWorkerRoute(WorkerStepState& state);

} // namespace gradlab::transport
