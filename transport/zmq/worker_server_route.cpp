// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_server_route.h"

#include "transport/in_process/route.h"

namespace gradlab::transport {

void WorkerServerRoute::begin() {
    accepted_.assign(state_.parts(), false);
    applied_ = 0;
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
    const TimedWork timed(state_.outcome.decodeWallS, state_.outcome.decodeCpuS);
    state_.replica->applyDownlink(frame.header.part, frame.body);
    ++applied_;
}

} // namespace gradlab::transport
