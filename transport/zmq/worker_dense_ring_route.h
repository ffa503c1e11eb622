// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Dense ring: reduce-scatter, then all-gather, of raw chunks. Chunk c starts at the contributor at
// position c; each neighbour adds its own values; position c − 1 completes the sum and sends it
// round once more. The worker's encoded messages themselves do not travel.
#pragma once

#include "transport/zmq/worker_route.h"

namespace gradlab::transport {

class WorkerDenseRingRoute final : public WorkerRoute {
public:
    explicit WorkerDenseRingRoute(WorkerStepState& state) : state_(state) {}
    void begin() override;
    void handOver(std::size_t part, double ready) override;
    [[nodiscard]] bool accept(const FrameHeader& header) override;
    void arrive(WorkerFrame& frame, double when) override;
    [[nodiscard]] bool done() const noexcept override {
        return applied_ == state_.parts() * state_.contributors();
    }

private:
    struct Chunk {
        bool partialAccepted = false;
        bool sumAccepted = false;
        std::shared_ptr<zmq::message_t> waiting; ///< came before the worker's own part
    };
    [[nodiscard]] Chunk& chunkOf(std::size_t part, std::size_t chunk) {
        return chunks_[part * state_.contributors() + chunk];
    }
    /// Who completes the sum of a chunk.
    [[nodiscard]] std::size_t lastOf(std::size_t chunk) const noexcept {
        return (chunk + state_.contributors() - 1) % state_.contributors();
    }
    void startChunk(std::size_t part, double ready);
    /// Adds the worker's own values where the chunk came to lie, and sends it on.
    void addOwn(std::size_t part, std::size_t chunk, zmq::message_t& frame);
    void receiveSum(WorkerFrame& frame, double when);
    void apply(std::size_t part, std::size_t chunk, engine::ByteView sum);

    WorkerStepState& state_;    ///< WorkerStep's, outlives this
    std::vector<Chunk> chunks_; ///< [part][chunk]
    std::size_t applied_ = 0;
};

} // namespace gradlab::transport
