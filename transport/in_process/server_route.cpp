// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/in_process/server_route.h"

#include "transport/wire_format.h"

#include <algorithm>

namespace gradlab::transport {

ServerRoute::ServerRoute(StepState& state)
    : state_(state), server_(engine::Aggregator::create(state.setup.plan, state.setup.aggregator)),
      bodies_(state.parts(), std::vector<engine::ByteView>(state.workers())),
      arrived_(state.parts(), 0), down_(state.parts()) {}

void ServerRoute::beginStep() {
    std::fill(arrived_.begin(), arrived_.end(), 0U);
    applied_ = 0;
}

void ServerRoute::handOver(std::uint32_t rank, std::size_t part, double ready) {
    state_.link.sendUp({FrameType::Gradient, rank, static_cast<std::uint32_t>(part)}, rank, ready,
                       state_.message(rank, part).size());
}

void ServerRoute::arrive(const Arrival& arrival) {
    if (arrival.tag.type == FrameType::Gradient)
        receiveGradient(arrival);
    else
        receiveMean(arrival);
}

void ServerRoute::receiveGradient(const Arrival& arrival) {
    const std::uint32_t rank = arrival.tag.rank;
    const std::size_t part = arrival.tag.part;
    const engine::ByteView message = state_.message(rank, part);
    state_.traffic.sent(rank, message.size(), arrival.start, arrival.end);
    aggregating(state_.outcome, [&] {
        bodies_[part][rank] =
            StepState::receive(message, state_.header(FrameType::Gradient, rank, part));
    });
    ++arrived_[part];
    if (state_.setup.overlap) {
        if (arrived_[part] == state_.workers())
            sendMean(part);
    } else if (std::all_of(arrived_.begin(), arrived_.end(),
                           [&](std::uint32_t count) { return count == state_.workers(); })) {
        for (std::size_t each = 0; each < arrived_.size(); ++each)
            sendMean(each);
    }
}

void ServerRoute::sendMean(std::size_t part) {
    engine::ByteBuffer& down = down_[part];
    aggregating(state_.outcome, [&] {
        server_->aggregate(part, bodies_[part], state_.step, engine::kFrameHeaderBytes, down);
        encodeFrame(state_.header(FrameType::Mean, kServerRank, part), down);
    });
    state_.link.sendDown({FrameType::Mean, kServerRank, static_cast<std::uint32_t>(part)},
                         state_.now(), down.size());
}

void ServerRoute::receiveMean(const Arrival& arrival) {
    const std::size_t part = arrival.tag.part;
    for (std::uint32_t rank = 0; rank < state_.workers(); ++rank)
        state_.traffic.received(rank, down_[part].size(), arrival.start, arrival.end);
    const TimedWork timed(state_.outcome.decodeWallS, state_.outcome.decodeCpuS);
    state_.replica->applyDownlink(
        part, StepState::receive(down_[part], state_.header(FrameType::Mean, kServerRank, part)));
    ++applied_;
}

} // namespace gradlab::transport
