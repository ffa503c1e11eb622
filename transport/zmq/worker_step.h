// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's step as the network thread sees it: from the coordinator's order to the commit,
// through redoing and giving up. It lets the route have what belongs to the current epoch, keeps
// what comes too early, drops the rest, and answers for the replica being touched only while the
// step is open.
//   Idle → Ordered → Open → Complete → Voted → Idle
// Leaves out: sockets, heartbeats, who is a member (WorkerNetwork).
#pragma once

#include "transport/zmq/worker_board.h"
#include "transport/zmq/worker_route.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

namespace gradlab::transport {

/// Of the network thread.
class WorkerStep {
public:
    /// All outlive this.
    WorkerStep(WorkerBoard& board, WorkerSockets& sockets, const WorkerClock& clock);
    /// Where the worker came to be placed.
    void join(std::uint64_t session, std::uint32_t rank) noexcept;

    // — orders of the coordinator —
    /// Returns what the compute thread is given with the order.
    /// @throws engine::ProtocolError for an order that cannot be: a step is under way, this worker
    /// does not contribute
    [[nodiscard]] Order begin(const ReceivedControl& order);
    void abort(const FrameHeader& header, const StepOrder& order);
    void commit(const FrameHeader& header);
    void abandon(const FrameHeader& header);

    // — the compute thread's doings —
    void configure(const engine::ExchangeSetup& setup, std::shared_ptr<BufferPool> pool);
    void open(const PostOpen& post);
    void handOver(const PostPart& part);
    /// True if the coordinator is to hear that this process holds the mean.
    [[nodiscard]] bool vote(const PostVote& vote);
    void close(const PostClose& post);

    // — frames —
    /// Of the data socket or of the ring, decoded from `received`. False: dropped.
    bool receive(const Frame& frame, const ReceivedBytes& received);
    /// Lets the route have what the emulated network has held back until now.
    void deliver();
    [[nodiscard]] engine::SteadyTime nextTime() const;

    /// Frames of neighbours are welcome.
    [[nodiscard]] bool usesRing() const noexcept { return state_.setup.topology == "ring"; }
    /// Frames go to the neighbour, and the step is not final.
    [[nodiscard]] bool exchangesInRing() const noexcept {
        return usesRing() && state_.contributors() > 1 &&
               (phase_ == State::Open || phase_ == State::Complete || phase_ == State::Voted);
    }
    [[nodiscard]] std::uint64_t step() const noexcept { return state_.step; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return state_.epoch; }

private:
    enum class State { Idle, Ordered, Open, Complete, Voted, Broken };
    struct Redo {
        std::uint64_t epoch = 0;
        StepOrder order;
    };
    void follow(std::uint64_t epoch, const StepOrder& order);
    void redo(std::uint64_t epoch, const StepOrder& order);
    void reframe(std::size_t part);
    void startRound();
    [[nodiscard]] bool isAhead(const FrameHeader& header) const noexcept;
    [[nodiscard]] std::size_t mostEarly() const noexcept;
    bool take(WorkerFrame frame);
    void replayEarly();
    void rest();
    /// Runs a step of the route; what it throws goes to whoever waits for the mean.
    template <class Work>
    void guarded(Work work);

    WorkerBoard& board_;
    WorkerStepState state_;
    std::uint32_t rank_ = 0;
    State phase_ = State::Idle;
    StepTicket ticket_ = 0;
    std::unique_ptr<WorkerRoute> route_; ///< refers to state_
    std::optional<Redo> redo_;           ///< ordered while the compute thread looks at the mean
    std::deque<WorkerFrame> early_;      ///< of orders that have not come yet
};

} // namespace gradlab::transport
