// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Ring all-gather: every frame goes from neighbour to neighbour, N−1 hops, unchanged; then each
// process has all messages and forms the mean itself.
//   bytes up = the frames of everybody but the next neighbour, bytes down = of everybody else
// The hops of a frame share its memory here, so its checksum is verified once.
#pragma once

#include "transport/in_process/route.h"

namespace gradlab::transport {

class RingGatherRoute final : public Route {
public:
    explicit RingGatherRoute(StepState& state);
    void beginStep() override;
    void handOver(std::uint32_t rank, std::size_t part, double ready) override;
    void arrive(const Arrival& arrival) override;
    [[nodiscard]] bool done() const noexcept override { return applied_ == state_.parts(); }

private:
    void hop(std::uint32_t rank, std::size_t part, std::uint32_t hop, double ready);
    /// One more worker has one more message of the part.
    void countDelivery(std::size_t part);

    StepState& state_;                                  ///< the exchange's, outlives this
    std::vector<std::vector<engine::ByteView>> bodies_; ///< [part][rank], verified
    std::vector<std::size_t> delivered_;                ///< of each part; N·N when it is complete
    std::size_t applied_ = 0;
};

} // namespace gradlab::transport
