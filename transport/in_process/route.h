// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A topology's way from messages to means: what is sent where, frame by frame. Routes run in the
// run's thread alone. Leaves out: waiting, threads, membership (InProcessExchange).
#pragma once

#include "engine/core/allocation_count.h"
#include "engine/training/gradient_exchange.h"
#include "transport/emulated_link.h"
#include "transport/in_process/traffic_account.h"
#include "transport/message.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace gradlab::transport {

/// The step in flight, shared by the exchange and its route.
struct StepState {
    explicit StepState(const engine::ExchangeSetup& exchangeSetup);

    [[nodiscard]] std::size_t parts() const noexcept { return setup.plan.parts().size(); }
    [[nodiscard]] std::uint32_t workers() const noexcept { return setup.workers; }
    /// Seconds since the step's start.
    [[nodiscard]] double now() const;
    /// The header of a frame of this step.
    [[nodiscard]] FrameHeader header(FrameType type, std::uint32_t rank, std::size_t part,
                                     std::uint32_t chunk = 0) const;
    /// Checks a frame on receipt and gives its body. @throws engine::ProtocolError if it is damaged
    /// or not the frame that `expected` names
    [[nodiscard]] static engine::ByteView receive(engine::ByteView message,
                                                  const FrameHeader& expected);
    [[nodiscard]] engine::ByteView message(std::uint32_t rank, std::size_t part) const {
        return messages[rank][part];
    }

    engine::ExchangeSetup setup;
    std::vector<std::vector<engine::ByteBuffer>> messages; ///< [rank][part], recycled
    EmulatedLink link;
    TrafficAccount traffic;
    engine::ExchangeOutcome outcome;       ///< its times; the rest is filled in at the end
    engine::Aggregator* replica = nullptr; ///< of the call of finish(); the caller's
    engine::SteadyTime origin{};
    std::uint64_t step = 0;
    std::uint64_t epoch = 0;
};

class Route {
public:
    virtual ~Route();
    virtual void beginStep() = 0;
    /// A worker's part is in state.messages; it entered its link at `ready`.
    virtual void handOver(std::uint32_t rank, std::size_t part, double ready) = 0;
    virtual void arrive(const Arrival& arrival) = 0;
    /// The replica holds the mean of every part.
    [[nodiscard]] virtual bool done() const noexcept = 0;
};

/// The one for the setup's topology. `state` outlives it.
[[nodiscard]] std::unique_ptr<Route> makeRoute(StepState& state);

/// Adds the wall and CPU time of its scope to two sums.
class TimedWork {
public:
    TimedWork(double& wall, double& cpu);
    ~TimedWork();
    TimedWork(const TimedWork&) = delete;
    TimedWork& operator=(const TimedWork&) = delete;

private:
    double& wall_;
    double& cpu_;
    engine::SteadyTime wallStart_;
    double cpuStart_;
    engine::AllocationScope counted_;
};

/// Runs a piece of a server's work and notes when it was, and its CPU time.
template <class Work>
void aggregating(engine::ExchangeOutcome& outcome, const Work& work) {
    const engine::SteadyTime begin = std::chrono::steady_clock::now();
    {
        double wall = 0.0;
        const TimedWork timed(wall, outcome.aggregateCpuS);
        work();
    }
    outcome.aggregating.push_back({begin, std::chrono::steady_clock::now()});
}

} // namespace gradlab::transport
