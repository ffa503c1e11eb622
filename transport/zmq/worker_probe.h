// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's side of measuring the line: times probe frames as they come in and sends as many back
// if asked to. The order and the frames come over different sockets, in any order.
#pragma once

#include "transport/zmq/control_message.h"
#include "transport/zmq/worker_sockets.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace gradlab::transport {

/// Of the network thread.
class WorkerProbe {
public:
    void order(const ProbeOrder& order);
    void receive(const FrameHeader& header, const ReceivedBytes& frame);
    /// Once: the result, when order and frames are there. Echoes are then under way.
    [[nodiscard]] std::optional<ProbeResult> takeResult(WorkerSockets& sockets);

private:
    std::uint64_t request_ = 0; ///< of the frames counted
    std::uint32_t frames_ = 0;
    std::uint64_t bytes_ = 0;
    std::chrono::steady_clock::time_point first_;
    std::chrono::steady_clock::time_point last_;
    std::shared_ptr<zmq::message_t> frame_; ///< the last one
    std::optional<ProbeOrder> order_;
};

} // namespace gradlab::transport
