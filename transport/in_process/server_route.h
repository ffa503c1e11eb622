// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Server topology: every worker's part goes up; as soon as all are there the server forms the
// part's mean, while other parts are still being computed, and sends it down to everybody.
//   bytes up = the worker's own frames, bytes down = the mean's frames
#pragma once

#include "transport/in_process/route.h"

namespace gradlab::transport {

class ServerRoute final : public Route {
public:
    explicit ServerRoute(StepState& state);
    void beginStep() override;
    void handOver(std::uint32_t rank, std::size_t part, double ready) override;
    void arrive(const Arrival& arrival) override;
    [[nodiscard]] bool done() const noexcept override { return applied_ == state_.parts(); }

private:
    void receiveGradient(const Arrival& arrival);
    void sendMean(std::size_t part);
    void receiveMean(const Arrival& arrival);

    StepState& state_;                                  ///< the exchange's, outlives this
    std::unique_ptr<engine::Aggregator> server_;        ///< beside the replica's
    std::vector<std::vector<engine::ByteView>> bodies_; ///< [part][rank], verified
    std::vector<std::uint32_t> arrived_;                ///< frames of each part
    std::vector<engine::ByteBuffer> down_;              ///< [part], recycled
    std::size_t applied_ = 0;
};

} // namespace gradlab::transport
