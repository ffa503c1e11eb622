// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_probe.h"

#include <algorithm>
#include <utility>

namespace gradlab::transport {
namespace {

constexpr std::uint32_t kMostEchoes = 1024;

} // namespace

void WorkerProbe::order(const ProbeOrder& order) {
    order_ = order;
}

void WorkerProbe::receive(const FrameHeader& header, const ReceivedBytes& frame) {
    const auto now = std::chrono::steady_clock::now();
    if (header.step != request_ || frames_ == 0) {
        request_ = header.step;
        frames_ = 0;
        bytes_ = 0;
        first_ = now;
    }
    ++frames_;
    bytes_ += frame.bytes->size();
    last_ = now;
    frame_ = frame.bytes;
}

std::optional<ProbeResult> WorkerProbe::takeResult(WorkerSockets& sockets) {
    if (!order_ || order_->request != request_ || frames_ == 0 || frames_ < order_->frames)
        return std::nullopt;
    const ProbeOrder order = *std::exchange(order_, std::nullopt);
    if (order.echo)
        for (std::uint32_t i = 0; i < std::min(order.frames, kMostEchoes); ++i) {
            zmq::message_t copy; // of the reference, not of the bytes
            copy.copy(*frame_);
            sockets.sendData(std::move(copy));
        }
    const ProbeResult result{request_, std::chrono::duration<double>(last_ - first_).count(),
                             bytes_};
    frame_.reset();
    frames_ = 0;
    return result;
}

} // namespace gradlab::transport
