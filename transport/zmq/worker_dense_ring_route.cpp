// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_dense_ring_route.h"

#include "transport/in_process/route.h"
#include "transport/wire_format.h"

#include <span>
#include <utility>

namespace gradlab::transport {
namespace {

std::span<std::byte> bytesOf(zmq::message_t& frame) {
    return {static_cast<std::byte*>(frame.data()), frame.size()};
}

} // namespace

void WorkerDenseRingRoute::begin() {
    chunks_.assign(state_.parts() * state_.contributors(), {});
    applied_ = 0;
}

void WorkerDenseRingRoute::handOver(std::size_t part, double ready) {
    startChunk(part, ready);
    for (std::size_t chunk = 0; chunk < state_.contributors(); ++chunk)
        if (const auto waiting = std::exchange(chunkOf(part, chunk).waiting, nullptr))
            addOwn(part, chunk, *waiting);
}

bool WorkerDenseRingRoute::accept(const FrameHeader& header) {
    const std::size_t n = state_.contributors();
    if (header.chunk >= n)
        return false;
    Chunk& chunk = chunkOf(header.part, header.chunk);
    if (header.type == FrameType::PartialChunk) {
        const std::uint32_t before = state_.rankAt(state_.position + n - 1);
        if (header.chunk == state_.position || chunk.partialAccepted ||
            header != state_.header(header.type, before, header.part, header.chunk))
            return false;
        return chunk.partialAccepted = true;
    }
    const std::size_t last = lastOf(header.chunk);
    if (last == state_.position || chunk.sumAccepted ||
        header !=
            state_.header(FrameType::SummedChunk, state_.rankAt(last), header.part, header.chunk))
        return false;
    return chunk.sumAccepted = true;
}

void WorkerDenseRingRoute::arrive(WorkerFrame& frame, double when) {
    if (frame.header.type == FrameType::SummedChunk)
        receiveSum(frame, when);
    else if (state_.has(frame.header.part))
        addOwn(frame.header.part, frame.header.chunk, *frame.bytes);
    else
        chunkOf(frame.header.part, frame.header.chunk).waiting = frame.bytes;
}

void WorkerDenseRingRoute::startChunk(std::size_t part, double ready) {
    const std::size_t slot = state_.parts() + part;
    const std::size_t n = state_.contributors();
    engine::ByteBuffer chunk = state_.pool->take(slot);
    state_.replica->takeChunk(part, state_.position, n, state_.ownBody(part),
                              engine::kFrameHeaderBytes, chunk);
    if (n == 1)
        return apply(part, 0, engine::ByteView(chunk).subspan(engine::kFrameHeaderBytes));
    encodeFrame(state_.header(FrameType::PartialChunk, state_.rank(), part,
                              static_cast<std::uint32_t>(state_.position)),
                chunk);
    state_.sendNext(shareBytes(state_.pool->share(slot, std::move(chunk))), ready);
}

void WorkerDenseRingRoute::addOwn(std::size_t part, std::size_t chunk, zmq::message_t& frame) {
    const bool complete = lastOf(chunk) == state_.position;
    {
        const TimedWork timed(state_.outcome.decodeWallS, state_.outcome.decodeCpuS);
        state_.replica->addChunk(part, chunk, state_.contributors(), state_.ownBody(part),
                                 bytesOf(frame).subspan(engine::kFrameHeaderBytes));
        encodeFrame(state_.header(complete ? FrameType::SummedChunk : FrameType::PartialChunk,
                                  state_.rank(), part, static_cast<std::uint32_t>(chunk)),
                    bytesOf(frame));
    }
    zmq::message_t copy; // of the reference, not of the bytes
    copy.copy(frame);
    state_.sendNext(std::move(copy), state_.traffic.now());
    if (complete)
        apply(part, chunk, bytesOf(frame).subspan(engine::kFrameHeaderBytes));
}

void WorkerDenseRingRoute::receiveSum(WorkerFrame& frame, double when) {
    if ((state_.position + 1) % state_.contributors() != lastOf(frame.header.chunk)) {
        zmq::message_t copy;
        copy.copy(*frame.bytes);
        state_.sendNext(std::move(copy), when);
    }
    apply(frame.header.part, frame.header.chunk, frame.body);
}

void WorkerDenseRingRoute::apply(std::size_t part, std::size_t chunk, engine::ByteView sum) {
    const TimedWork timed(state_.outcome.decodeWallS, state_.outcome.decodeCpuS);
    state_.replica->applyChunk(part, chunk, state_.contributors(), sum, state_.contributors());
    ++applied_;
}

} // namespace gradlab::transport
