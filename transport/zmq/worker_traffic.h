// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker's frames cost in one step: bytes and times of what it sent and got, and the
// emulated network that holds frames back until their time. Frames are held back where they arrive;
// for those that left, the same schedule is kept here only to know how long they were on the way.
// Leaves out: what frames say.
#pragma once

#include "engine/training/gradient_exchange.h"
#include "transport/emulated_link.h"
#include "transport/in_process/traffic_account.h"
#include "transport/message.h"
#include "transport/zmq/worker_clock.h"

#include <zmq.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gradlab::transport {

/// A frame of the step, its checksum verified. `body` points into `bytes`.
struct WorkerFrame {
    FrameHeader header;
    engine::ByteView body;
    std::shared_ptr<zmq::message_t> bytes;
    std::optional<std::int64_t> readyNs; ///< coordinator's clock: when it entered the sender's link
    engine::SteadyTime at{};             ///< when it was taken out of the socket
};

/// Of the network thread. Times in seconds since the step began here.
class WorkerTraffic {
public:
    explicit WorkerTraffic(const WorkerClock& clock) : clock_(clock) {}

    void setLink(const engine::LinkSettings& link, bool server);
    void beginStep();
    /// Forgets what is held back. `contributors` share the server's link.
    void beginRound(std::size_t contributors);

    void handedOver(std::size_t bytes, double when);
    /// A frame enters this worker's link at `ready`. Returns what travels beside it: `ready` on the
    /// coordinator's clock, nothing without emulation.
    [[nodiscard]] std::optional<std::int64_t> sent(std::size_t bytes, double ready);
    void hold(WorkerFrame frame);

    struct Arrival {
        WorkerFrame frame;
        double when = 0.0;
    };
    /// The next frame whose time has come; it counts as received.
    [[nodiscard]] std::optional<Arrival> next();
    /// When next() has something to give; far away if nothing is held.
    [[nodiscard]] engine::SteadyTime nextTime() const;

    [[nodiscard]] double secondsOf(engine::SteadyTime time) const;
    [[nodiscard]] double now() const { return secondsOf(std::chrono::steady_clock::now()); }
    /// Of the whole step, what aborted rounds moved included.
    [[nodiscard]] engine::RankTraffic result();

private:
    void countSent();

    const WorkerClock& clock_; ///< the network thread's
    engine::LinkSettings settings_;
    bool server_ = true;
    EmulatedLink arriving_{{}, 1};
    EmulatedLink leaving_{{}, 1};
    std::vector<WorkerFrame> held_;         ///< by TransferTag::hop of arriving_
    std::vector<std::size_t> leavingBytes_; ///< by TransferTag::hop of leaving_
    TrafficAccount account_;
    engine::SteadyTime origin_{};
};

} // namespace gradlab::transport
