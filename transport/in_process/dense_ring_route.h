// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Dense ring: reduce-scatter, then all-gather, of raw chunks. Chunk c starts at rank c; each
// neighbour adds its own values, rank c−1 completes the sum and sends it round once more. The
// workers' encoded messages themselves do not travel.
//   bytes up = bytes down = about 2·(N−1)/N of the dense gradient, and a header a frame
// Every worker does an N-th of the adding, so an N-th of its CPU time is a worker's decoding.
#pragma once

#include "transport/in_process/route.h"

namespace gradlab::transport {

class DenseRingRoute final : public Route {
public:
    explicit DenseRingRoute(StepState& state);
    void beginStep() override;
    void handOver(std::uint32_t rank, std::size_t part, double ready) override;
    void arrive(const Arrival& arrival) override;
    [[nodiscard]] bool done() const noexcept override {
        return applied_ == state_.parts() * state_.workers();
    }

private:
    struct Chunk {
        engine::ByteBuffer frame;          ///< recycled
        std::uint32_t waitingAt = kNobody; ///< rank that has it but not yet its own part
    };
    static constexpr std::uint32_t kNobody = 0xFFFFFFFFU;

    [[nodiscard]] Chunk& chunkOf(std::size_t part, std::uint32_t chunk) {
        return chunks_[part * state_.workers() + chunk];
    }
    [[nodiscard]] engine::ByteView ownBody(std::uint32_t rank, std::size_t part) const;
    void startChunk(std::uint32_t rank, std::size_t part);
    void addOwn(std::uint32_t rank, std::size_t part, std::uint32_t chunk);
    void receivePartial(const Arrival& arrival, std::uint32_t receiver);
    void receiveSum(const Arrival& arrival);
    /// Frames the chunk and sends it on from `rank`, as a partial or, when it is complete, a sum.
    void forward(std::uint32_t rank, std::size_t part, std::uint32_t chunk);
    void apply(std::size_t part, std::uint32_t chunk);
    void hop(FrameType type, std::uint32_t sender, std::size_t part, std::uint32_t chunk,
             std::uint32_t hop, double ready);

    StepState& state_;          ///< the exchange's, outlives this
    std::vector<Chunk> chunks_; ///< [part][chunk]
    std::vector<bool> own_;     ///< [part][rank]: handed over
    std::size_t applied_ = 0;
};

} // namespace gradlab::transport
