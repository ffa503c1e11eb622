// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Server topology: the worker's parts go up, the mean of each comes down as soon as everybody's are
// there.
#pragma once

#include "transport/zmq/worker_route.h"

namespace gradlab::transport {

class WorkerServerRoute final : public WorkerRoute {
public:
    explicit WorkerServerRoute(WorkerStepState& state) : state_(state) {}
    void begin() override;
    void handOver(std::size_t part, double ready) override;
    [[nodiscard]] bool accept(const FrameHeader& header) override;
    void arrive(WorkerFrame& frame, double when) override;
    [[nodiscard]] bool done() const noexcept override { return given_ == state_.parts(); }

private:
    WorkerStepState& state_;     ///< WorkerStep's, outlives this
    std::vector<bool> accepted_; ///< [part]
    std::size_t given_ = 0;
};

} // namespace gradlab::transport
