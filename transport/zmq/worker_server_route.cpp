// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_server_route.h"

namespace gradlab::transport {

void WorkerServerRoute::begin() {
    accepted_.assign(state_.parts(), false);
    given_ = 0;
}

void WorkerServerRoute::handOver(std::size_t part, double ready) {
    state_.sendUp(shareBytes(state_.own[part]), ready);
}

bool WorkerServerRoute::accept(const FrameHeader& header) {
    if (header != state_.header(FrameType::Mean, kServerRank, header.part) ||
        accepted_[header.part] || !state_.has(header.part))
        return false;
    accepted_[header.part] = true;
    return true;
}

void WorkerServerRoute::arrive(WorkerFrame& frame, double /*when*/) {
    state_.board.give(MeanWork{frame.header.part, false, {frame.body}, {frame.bytes}});
    ++given_;
}

} // namespace gradlab::transport
