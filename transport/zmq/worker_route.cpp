// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_route.h"

#include "engine/core/check.h"
#include "transport/zmq/worker_dense_ring_route.h"
#include "transport/zmq/worker_ring_gather_route.h"
#include "transport/zmq/worker_server_route.h"

#include <algorithm>
#include <utility>

namespace gradlab::transport {

std::size_t WorkerStepState::positionOf(std::uint32_t wanted) const noexcept {
    return static_cast<std::size_t>(std::find(ranks.begin(), ranks.end(), wanted) - ranks.begin());
}

FrameHeader WorkerStepState::header(FrameType type, std::uint32_t sender, std::size_t part,
                                    std::uint32_t chunk) const {
    FrameHeader header;
    header.type = type;
    header.session = session;
    header.epoch = epoch;
    header.step = step;
    header.rank = sender;
    header.part = static_cast<std::uint16_t>(part);
    header.parts = static_cast<std::uint16_t>(parts());
    header.tensors = static_cast<std::uint32_t>(setup.plan.parts()[part].size());
    header.chunk = chunk;
    return header;
}

void WorkerStepState::sendUp(zmq::message_t message, double ready) {
    const auto readyNs = traffic.sent(message.size(), ready);
    sockets.sendData(std::move(message), readyNs);
}

void WorkerStepState::sendNext(zmq::message_t message, double ready) {
    const auto readyNs = traffic.sent(message.size(), ready);
    sockets.sendNext(std::move(message), readyNs);
}

WorkerRoute::~WorkerRoute() = default;

std::unique_ptr<WorkerRoute> makeWorkerRoute(WorkerStepState& state) {
    if (state.setup.topology == "server")
        return std::make_unique<WorkerServerRoute>(state);
    GRADLAB_CHECK(state.setup.topology == "ring", state.setup.topology);
    if (state.setup.denseRing)
        return std::make_unique<WorkerDenseRingRoute>(state);
    return std::make_unique<WorkerRingGatherRoute>(state);
}

} // namespace gradlab::transport
