// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the network thread tells the run's thread: one state under one mutex, changed by the one and
// waited for by the other. Leaves out: orders the other way (CoordinatorNetwork::post).
#pragma once

#include "engine/core/errors.h"
#include "engine/training/cluster_coordinator.h"
#include "engine/training/membership.h"
#include "transport/zmq/coordinator_probe.h"
#include "transport/zmq/sockets.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace gradlab::transport {

/// A part of which everybody's frame is there and verified; `frames` by contributor, ascending.
struct PartWork {
    std::uint64_t epoch = 0;
    std::size_t part = 0;
    std::vector<std::uint32_t> ranks;
    std::vector<std::shared_ptr<zmq::message_t>> frames;
};

/// Somebody has a place and can be sent its snapshot.
struct SnapshotWanted {
    engine::MemberId member = 0;
    std::uint32_t rank = 0;
};

struct InboxState {
    // — a boundary —
    std::uint64_t boundariesDone = 0; ///< number of the last one that is over
    std::deque<SnapshotWanted> snapshotsWanted;

    // — a step —
    enum class Step { Idle, Running, Committed, GivenUp };
    Step step = Step::Idle;
    std::uint64_t epoch = 0;
    std::deque<PartWork> work;
    engine::ExchangeOutcome outcome; ///< of a committed one: contributors, epoch, hand-over
    std::exception_ptr stepFailure;  ///< why it was given up; none: because this side asked

    // — reports —
    bool reportsDone = true;
    std::vector<engine::WorkerReport> reports;

    // — fetch and load —
    std::uint64_t answered = 0;               ///< number of the last request that is over
    std::optional<engine::ByteBuffer> answer; ///< to it; none: the worker was lost

    // — a probe —
    std::map<std::uint64_t, std::optional<LinkSample>> probes; ///< by request; none: worker lost

    std::vector<std::uint32_t> active;
    std::vector<engine::ClusterEvent> events;
    bool pauseRequested = false;
    std::string stopped; ///< not empty: no further step, and why
    engine::ClusterView view;
    std::exception_ptr broken; ///< the network thread ended by an exception
};

class CoordinatorInbox {
public:
    /// The network thread's: changes the state and wakes whoever waits.
    template <class Change>
    void change(Change&& apply) {
        const std::lock_guard lock(mutex_);
        std::forward<Change>(apply)(state_);
        changed_.notify_all();
    }
    /// As change(), where nobody waits for it; any thread.
    template <class Read>
    auto with(Read&& read) {
        const std::lock_guard lock(mutex_);
        return std::forward<Read>(read)(state_);
    }
    /// Blocks until `ready(state)`, then returns `take(state)`.
    /// @throws engine::Cancelled when `stop` asks first; what ended the network thread
    template <class Ready, class Take>
    auto await(std::stop_token stop, Ready&& ready, Take&& take) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [&] { return state_.broken || ready(state_); });
        if (state_.broken)
            std::rethrow_exception(state_.broken);
        if (!ready(state_))
            throw engine::Cancelled();
        return std::forward<Take>(take)(state_);
    }

private:
    std::mutex mutex_; ///< guards state_
    std::condition_variable_any changed_;
    InboxState state_;
};

} // namespace gradlab::transport
