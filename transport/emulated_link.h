// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The modelled network as a schedule: when does each frame leave, when has it arrived? Every worker
// has a link of rate B in each direction, a server has one of rate S in each direction, every way
// takes a latency of a. Pure computing with times that the caller gives; nothing sleeps here.
//
// A link sends one frame after the other (a token bucket without burst) in the order in which they
// become ready. A frame to the server passes the worker's link and the server's at once, so it
// takes what the slower of them takes; what the server sends goes to all workers at once and shares
// its link. For N equal messages that are ready together this is the contract's link model:
//   server 2a + max(u/B, N·u/S) + max(d/B, N·d/S); ring hops (N−1)·(a + u/B).
#pragma once

#include "engine/training/experiment.h"
#include "transport/message.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradlab::transport {

/// What travels; the link only carries it from the call to the arrival.
struct TransferTag {
    FrameType type = FrameType::Gradient;
    std::uint32_t rank = 0;
    std::uint32_t part = 0;
    std::uint32_t chunk = 0;
    std::uint32_t hop = 0; ///< of a ring, from 1
};

/// Seconds on the caller's clock.
struct Arrival {
    TransferTag tag;
    double start = 0.0; ///< its first byte left
    double end = 0.0;   ///< its last byte arrived
};

/// Not thread-safe. Times of calls must not lie before events that next() has already processed.
class EmulatedLink {
public:
    /// Without `emulate` every frame arrives when it is ready.
    EmulatedLink(const engine::LinkSettings& settings, std::size_t workers);

    void sendUp(const TransferTag& tag, std::size_t worker, double ready, std::size_t bytes);
    /// To every worker; one arrival stands for all of them.
    void sendDown(const TransferTag& tag, double ready, std::size_t bytes);
    /// From `worker` to its neighbour in the ring.
    void sendHop(const TransferTag& tag, std::size_t worker, double ready, std::size_t bytes);

    /// The next frame that has arrived by `now`, in order of arrival.
    [[nodiscard]] std::optional<Arrival> next(double now);
    /// When next() has something to do; infinity if nothing is under way.
    [[nodiscard]] double nextEvent() const noexcept;
    /// Forgets what is under way; every link is free from time 0 on.
    void reset();

private:
    struct Way {
        std::size_t link = 0; ///< index into free_
        double seconds = 0.0; ///< that the frame occupies it
    };
    struct Transfer {
        TransferTag tag;
        std::array<Way, 2> ways;
        std::size_t wayCount = 1;
        double start = 0.0;
        double end = 0.0;
    };
    struct Event {
        double time = 0.0;
        std::uint64_t order = 0; ///< breaks ties: first come, first served
        std::size_t transfer = 0;
        std::size_t stage = 0; ///< next way, or wayCount: arrived
    };
    void add(const Transfer& transfer, double ready);
    void push(double time, std::size_t transfer, std::size_t stage);
    /// Lets the transfer occupy its next way.
    void enter(const Event& event);
    static bool later(const Event& a, const Event& b) noexcept;

    double secondsPerByte_ = 0.0;
    double serverSecondsPerByte_ = 0.0;
    double latency_ = 0.0;
    std::size_t workers_;
    std::vector<double> free_; ///< when each link is free: workers' up, server in, server out, down
    std::vector<Transfer> transfers_;
    std::vector<Event> events_; ///< heap, earliest first
    std::uint64_t order_ = 0;
};

} // namespace gradlab::transport
