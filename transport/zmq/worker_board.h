// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What passes between a worker's two threads: the compute thread, which carries out orders, and the
// network thread, which owns the sockets. Orders go one way, posts the other, and the step's status
// is where the compute thread waits. Leaves out: what they do with it.
#pragma once

#include "engine/training/gradient_exchange.h"
#include "transport/zmq/buffer_pool.h"
#include "transport/zmq/control_message.h"
#include "transport/zmq/sockets.h"
#include "transport/zmq/worker_phase.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace gradlab::transport {

/// One carrying-out of a step: a step that is given up and ordered again has another number.
using StepTicket = std::uint64_t;

struct Order {
    FrameHeader header;
    ControlMessage message;
    engine::ByteBuffer snapshot;             ///< of Welcome and Load
    StepTicket ticket = 0;                   ///< of Begin
    std::stop_source stop{std::nostopstate}; ///< of Begin: asks when the step is given up
};

// — compute thread to network thread —

/// The exchange's setup, at a step boundary.
struct PostSetup {
    engine::ExchangeSetup setup;
    std::shared_ptr<BufferPool> pool; ///< slots: a part's messages, then a part's chunks
};
/// The compute thread starts with a step: a dense ring's sums may be written to `replica` from now
/// on.
struct PostOpen {
    StepTicket ticket = 0;
    engine::Aggregator* replica = nullptr; ///< the node's; until the step is committed or closed
};
struct PostPart {
    StepTicket ticket = 0;
    std::uint64_t epoch = 0; ///< that its header names
    std::size_t part = 0;
    SharedBytes bytes;
    engine::SteadyTime when{};
};
/// The mean was looked at: the process can commit.
struct PostVote {
    StepTicket ticket = 0;
};
/// The replica is not to be touched any more.
struct PostClose {
    StepTicket ticket = 0;
};
/// To the coordinator, about step `step`.
struct PostControl {
    ControlMessage message;
    std::uint64_t step = 0;
};
struct PostSnapshot {
    std::uint64_t request = 0;
    SharedBytes frame; ///< room for the header at its front
};
/// Say goodbye and end.
struct PostLeave {
    std::string reason;
};
using Post = std::variant<PostSetup, PostOpen, PostPart, PostVote, PostClose, PostControl,
                          PostSnapshot, PostLeave>;

/// Why a stay in the cluster is over.
struct SessionEnd {
    enum class Kind {
        Finished, ///< the coordinator said that the run is over
        Left,     ///< on this side's wish
        Lost,     ///< refused for now, or silence: join anew
        Refused,  ///< for good
        Orphaned, ///< the parent process is gone
        Failed    ///< this process is broken: see error
    };
    Kind kind = Kind::Lost;
    std::string reason;
    std::exception_ptr error;
    std::optional<engine::SteadyTime> lastHeard; ///< of the coordinator
    bool joined = false;                         ///< it had become a member
};

/// A part whose mean the compute thread puts into the replica: decoding takes long, and others wait
/// for what the network thread sends and passes on.
struct MeanWork {
    std::size_t part = 0;
    bool gathered = false;                ///< everybody's messages; else the server's mean
    std::vector<engine::ByteView> bodies; ///< by position; of the mean one
    std::vector<std::shared_ptr<const void>> frames; ///< that they point into
};
/// What the mean's round has come to: something to decode, or nothing is left to be.
struct MeanNews {
    std::optional<MeanWork> work;
    std::uint64_t round = 0;
};

class WorkerBoard {
public:
    // — compute thread —
    /// Waits. Nothing when the stay is over: see end().
    [[nodiscard]] std::optional<Order> nextOrder();
    void post(Post post);
    /// Of the step order that was taken last.
    [[nodiscard]] StepTicket ticket() const;
    [[nodiscard]] std::uint64_t epoch() const; ///< that the current step is exchanged under
    /// Waits until there is work, or everything has been taken and the mean is complete.
    /// @throws engine::Cancelled when the step was given up or `stop` asks; what fail() was given
    [[nodiscard]] MeanNews awaitMean(StepTicket ticket, const std::stop_token& stop);
    /// After a vote: waits for the commit, or false when the step is exchanged again.
    /// @throws as awaitMean()
    [[nodiscard]] bool awaitCommit(StepTicket ticket, std::uint64_t round,
                                   const std::stop_token& stop);
    [[nodiscard]] engine::ExchangeOutcome outcome() const; ///< of the step just committed
    /// Returns when the network thread will not touch the step's replica again.
    void close(StepTicket ticket);

    // — network thread —
    [[nodiscard]] std::vector<Post> takePosts();
    void give(Order order);
    void beginStep(StepTicket ticket, std::uint64_t epoch, std::stop_source stop);
    /// Exchanged again, under another epoch.
    void restart(std::uint64_t epoch);
    void give(MeanWork work);
    /// Nothing more is to come in this round.
    void meanComplete();
    void committed(engine::ExchangeOutcome outcome);
    void givenUp();
    /// Thrown by whoever waits for the step.
    void fail(std::exception_ptr error);
    void closed(StepTicket ticket);
    void finish(SessionEnd end);

    // — any thread —
    [[nodiscard]] std::optional<SessionEnd> end() const;
    void setPhase(WorkerPhase phase) noexcept { phase_ = phase; }
    [[nodiscard]] WorkerPhase phase() const noexcept { return phase_; }
    /// How far the computing is; an empty function when nothing can be asked any more.
    void setProgress(std::function<std::uint64_t()> progress);
    [[nodiscard]] std::uint64_t progress() const;
    Wakeup& wakeup() noexcept { return wakeup_; }

private:
    enum class Status { None, Collecting, Complete, Committed, GivenUp };
    /// With the mutex held.
    void throwIfOver(StepTicket ticket, const std::stop_token& stop) const;

    mutable std::mutex mutex_; ///< guards everything but wakeup_ and phase_
    std::condition_variable_any news_;
    std::vector<Post> posts_;
    std::deque<Order> orders_;
    std::deque<MeanWork> work_; ///< of the current round
    std::function<std::uint64_t()> progress_;
    std::optional<SessionEnd> end_;
    StepTicket taken_ = 0;   ///< of the compute thread's order
    StepTicket current_ = 0; ///< of the network thread's step
    StepTicket closed_ = 0;
    Status status_ = Status::None;
    std::uint64_t epoch_ = 0;
    std::uint64_t round_ = 0;
    std::stop_source stop_{std::nostopstate};
    std::exception_ptr error_;
    engine::ExchangeOutcome outcome_;
    std::atomic<WorkerPhase> phase_ = WorkerPhase::Loading;
    Wakeup wakeup_;
};

} // namespace gradlab::transport
