// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Ring all-gather: a worker sends its own parts on, passes on what it gets unless it is the
// neighbour's own, and forms the mean of a part itself once it has everybody's.
#pragma once

#include "transport/zmq/worker_route.h"

namespace gradlab::transport {

class WorkerRingGatherRoute final : public WorkerRoute {
public:
    explicit WorkerRingGatherRoute(WorkerStepState& state) : state_(state) {}
    void begin() override;
    void handOver(std::size_t part, double ready) override;
    [[nodiscard]] bool accept(const FrameHeader& header) override;
    void arrive(WorkerFrame& frame, double when) override;
    [[nodiscard]] bool done() const noexcept override { return given_ == state_.parts(); }

private:
    struct Part {
        MeanWork work;              ///< bodies by position
        std::vector<bool> accepted; ///< [position]
    };
    void place(std::size_t part, std::size_t position, engine::ByteView body,
               std::shared_ptr<const void> frame);

    WorkerStepState& state_; ///< WorkerStep's, outlives this
    std::vector<Part> parts_;
    std::size_t given_ = 0;
};

} // namespace gradlab::transport
