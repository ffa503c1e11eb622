// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/in_process/dense_ring_route.h"

#include "transport/wire_format.h"

#include <algorithm>

namespace gradlab::transport {

DenseRingRoute::DenseRingRoute(StepState& state)
    : state_(state), chunks_(state.parts() * state.workers()),
      own_(state.parts() * state.workers(), false) {}

void DenseRingRoute::beginStep() {
    std::fill(own_.begin(), own_.end(), false);
    for (Chunk& chunk : chunks_)
        chunk.waitingAt = kNobody;
    applied_ = 0;
}

void DenseRingRoute::handOver(std::uint32_t rank, std::size_t part, double) {
    own_[part * state_.workers() + rank] = true;
    startChunk(rank, part);
    for (std::uint32_t chunk = 0; chunk < state_.workers(); ++chunk)
        if (chunkOf(part, chunk).waitingAt == rank) {
            chunkOf(part, chunk).waitingAt = kNobody;
            addOwn(rank, part, chunk);
        }
}

void DenseRingRoute::arrive(const Arrival& arrival) {
    const TransferTag& tag = arrival.tag;
    const std::uint32_t receiver = (tag.rank + 1) % state_.workers();
    const std::size_t bytes = chunkOf(tag.part, tag.chunk).frame.size();
    state_.traffic.sent(tag.rank, bytes, arrival.start, arrival.end);
    state_.traffic.received(receiver, bytes, arrival.start, arrival.end);
    if (tag.type == FrameType::PartialChunk)
        receivePartial(arrival, receiver);
    else
        receiveSum(arrival);
}

engine::ByteView DenseRingRoute::ownBody(std::uint32_t rank, std::size_t part) const {
    return state_.message(rank, part).subspan(engine::kFrameHeaderBytes);
}

void DenseRingRoute::startChunk(std::uint32_t rank, std::size_t part) {
    state_.replica->takeChunk(part, rank, state_.workers(), ownBody(rank, part),
                              engine::kFrameHeaderBytes, chunkOf(part, rank).frame);
    if (state_.workers() == 1)
        apply(part, rank);
    else
        forward(rank, part, rank);
}

void DenseRingRoute::addOwn(std::uint32_t rank, std::size_t part, std::uint32_t chunk) {
    double cpu = 0.0;
    const engine::SteadyTime begin = std::chrono::steady_clock::now();
    {
        const TimedWork timed(state_.outcome.decodeWallS, cpu);
        state_.replica->addChunk(
            part, chunk, state_.workers(), ownBody(rank, part),
            std::span(chunkOf(part, chunk).frame).subspan(engine::kFrameHeaderBytes));
    }
    // Decoding for the worker; and, like a server's work, not waiting for the network.
    state_.outcome.aggregating.push_back({begin, std::chrono::steady_clock::now()});
    state_.outcome.decodeCpuS += cpu / state_.workers();
    forward(rank, part, chunk);
}

void DenseRingRoute::receivePartial(const Arrival& arrival, std::uint32_t receiver) {
    const TransferTag& tag = arrival.tag;
    Chunk& chunk = chunkOf(tag.part, tag.chunk);
    (void)StepState::receive(chunk.frame,
                             state_.header(FrameType::PartialChunk, tag.rank, tag.part, tag.chunk));
    if (own_[tag.part * state_.workers() + receiver])
        addOwn(receiver, tag.part, tag.chunk);
    else
        chunk.waitingAt = receiver;
}

void DenseRingRoute::receiveSum(const Arrival& arrival) {
    const TransferTag& tag = arrival.tag;
    if (tag.hop + 1 < state_.workers())
        hop(FrameType::SummedChunk, (tag.rank + 1) % state_.workers(), tag.part, tag.chunk,
            tag.hop + 1, arrival.end);
    else
        apply(tag.part, tag.chunk);
}

void DenseRingRoute::forward(std::uint32_t rank, std::size_t part, std::uint32_t chunk) {
    const std::uint32_t workers = state_.workers();
    const bool complete = (rank + 1) % workers == chunk;
    const FrameType type = complete ? FrameType::SummedChunk : FrameType::PartialChunk;
    encodeFrame(state_.header(type, rank, part, chunk), chunkOf(part, chunk).frame);
    hop(type, rank, part, chunk, 1, state_.now());
}

void DenseRingRoute::apply(std::size_t part, std::uint32_t chunk) {
    const TimedWork timed(state_.outcome.decodeWallS, state_.outcome.decodeCpuS);
    const std::uint32_t workers = state_.workers();
    engine::ByteView sum = chunkOf(part, chunk).frame;
    // A sum goes round unchanged in the same memory, so its checksum is verified once, here.
    if (workers > 1)
        sum = StepState::receive(sum, state_.header(FrameType::SummedChunk,
                                                    (chunk + workers - 1) % workers, part, chunk));
    else
        sum = sum.subspan(engine::kFrameHeaderBytes);
    state_.replica->applyChunk(part, chunk, workers, sum, workers);
    ++applied_;
}

void DenseRingRoute::hop(FrameType type, std::uint32_t sender, std::size_t part,
                         std::uint32_t chunk, std::uint32_t hop, double ready) {
    state_.link.sendHop({type, sender, static_cast<std::uint32_t>(part), chunk, hop}, sender, ready,
                        chunkOf(part, chunk).frame.size());
}

} // namespace gradlab::transport
