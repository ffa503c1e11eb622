// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_ring_gather_route.h"

#include <utility>

namespace gradlab::transport {

void WorkerRingGatherRoute::begin() {
    parts_.assign(state_.parts(), {});
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        Part& part = parts_[i];
        part.work.part = i;
        part.work.gathered = true;
        part.work.bodies.resize(state_.contributors());
        part.accepted.resize(state_.contributors(), false);
        part.accepted[state_.position] = true;
    }
    given_ = 0;
}

void WorkerRingGatherRoute::handOver(std::size_t part, double ready) {
    if (state_.contributors() > 1)
        state_.sendNext(shareBytes(state_.own[part]), ready);
    place(part, state_.position, state_.ownBody(part), state_.own[part]);
}

bool WorkerRingGatherRoute::accept(const FrameHeader& header) {
    const std::size_t position = state_.positionOf(header.rank);
    if (position == state_.contributors() ||
        header != state_.header(FrameType::Gradient, header.rank, header.part))
        return false;
    std::vector<bool>& accepted = parts_[header.part].accepted;
    if (accepted[position])
        return false;
    accepted[position] = true;
    return true;
}

void WorkerRingGatherRoute::arrive(WorkerFrame& frame, double when) {
    if (state_.rankAt(state_.position + 1) != frame.header.rank) {
        zmq::message_t copy; // of the reference, not of the bytes
        copy.copy(*frame.bytes);
        state_.sendNext(std::move(copy), when);
    }
    place(frame.header.part, state_.positionOf(frame.header.rank), frame.body, frame.bytes);
}

void WorkerRingGatherRoute::place(std::size_t index, std::size_t position, engine::ByteView body,
                                  std::shared_ptr<const void> frame) {
    MeanWork& work = parts_[index].work;
    work.bodies[position] = body;
    work.frames.push_back(std::move(frame));
    if (work.frames.size() < state_.contributors())
        return;
    state_.board.give(std::move(work));
    ++given_;
}

} // namespace gradlab::transport
