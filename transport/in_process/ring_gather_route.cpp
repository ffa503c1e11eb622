// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/in_process/ring_gather_route.h"

#include <algorithm>

namespace gradlab::transport {

RingGatherRoute::RingGatherRoute(StepState& state)
    : state_(state), bodies_(state.parts(), std::vector<engine::ByteView>(state.workers())),
      delivered_(state.parts(), 0) {}

void RingGatherRoute::beginStep() {
    std::fill(delivered_.begin(), delivered_.end(), std::size_t{0});
    applied_ = 0;
}

void RingGatherRoute::handOver(std::uint32_t rank, std::size_t part, double ready) {
    bodies_[part][rank] = StepState::receive(state_.message(rank, part),
                                             state_.header(FrameType::Gradient, rank, part));
    if (state_.workers() > 1)
        hop(rank, part, 1, ready);
    countDelivery(part);
}

void RingGatherRoute::arrive(const Arrival& arrival) {
    const TransferTag& tag = arrival.tag;
    const std::uint32_t sender = (tag.rank + tag.hop - 1) % state_.workers();
    const std::uint32_t receiver = (tag.rank + tag.hop) % state_.workers();
    const std::size_t bytes = state_.message(tag.rank, tag.part).size();
    state_.traffic.sent(sender, bytes, arrival.start, arrival.end);
    state_.traffic.received(receiver, bytes, arrival.start, arrival.end);
    if (tag.hop + 1 < state_.workers())
        hop(tag.rank, tag.part, tag.hop + 1, arrival.end);
    countDelivery(tag.part);
}

void RingGatherRoute::hop(std::uint32_t rank, std::size_t part, std::uint32_t hop, double ready) {
    const std::uint32_t sender = (rank + hop - 1) % state_.workers();
    state_.link.sendHop({FrameType::Gradient, rank, static_cast<std::uint32_t>(part), 0, hop},
                        sender, ready, state_.message(rank, part).size());
}

void RingGatherRoute::countDelivery(std::size_t part) {
    const std::size_t workers = state_.workers();
    if (++delivered_[part] < workers * workers)
        return;
    const TimedWork timed(state_.outcome.decodeWallS, state_.outcome.decodeCpuS);
    state_.replica->applyGathered(part, bodies_[part]);
    ++applied_;
}

} // namespace gradlab::transport
