// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/in_process/route.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/metrics/phase_timer.h"
#include "transport/in_process/dense_ring_route.h"
#include "transport/in_process/ring_gather_route.h"
#include "transport/in_process/server_route.h"
#include "transport/wire_format.h"

#include <string>

namespace gradlab::transport {

StepState::StepState(const engine::ExchangeSetup& exchangeSetup)
    : setup(exchangeSetup), messages(exchangeSetup.workers),
      link(exchangeSetup.link, exchangeSetup.workers) {
    for (auto& worker : messages)
        worker.resize(parts());
}

double StepState::now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - origin).count();
}

FrameHeader StepState::header(FrameType type, std::uint32_t rank, std::size_t part,
                              std::uint32_t chunk) const {
    FrameHeader header;
    header.type = type;
    header.session = setup.session;
    header.epoch = epoch;
    header.step = step;
    header.rank = rank;
    header.part = static_cast<std::uint16_t>(part);
    header.parts = static_cast<std::uint16_t>(parts());
    header.tensors = static_cast<std::uint32_t>(setup.plan.parts()[part].size());
    header.chunk = chunk;
    return header;
}

engine::ByteView StepState::receive(engine::ByteView message, const FrameHeader& expected) {
    const Frame frame = decodeFrame(message);
    if (frame.header != expected)
        throw engine::ProtocolError(
            "frame refused: it is of rank " + std::to_string(frame.header.rank) + ", step " +
            std::to_string(frame.header.step) + ", part " + std::to_string(frame.header.part) +
            ", expected rank " + std::to_string(expected.rank) + ", step " +
            std::to_string(expected.step) + ", part " + std::to_string(expected.part));
    return frame.body;
}

Route::~Route() = default;

std::unique_ptr<Route> makeRoute(StepState& state) {
    if (state.setup.topology == "server")
        return std::make_unique<ServerRoute>(state);
    GRADLAB_CHECK(state.setup.topology == "ring", state.setup.topology);
    if (state.setup.denseRing)
        return std::make_unique<DenseRingRoute>(state);
    return std::make_unique<RingGatherRoute>(state);
}

TimedWork::TimedWork(double& wall, double& cpu)
    : wall_(wall), cpu_(cpu), wallStart_(std::chrono::steady_clock::now()),
      cpuStart_(engine::threadCpuSeconds()) {}

TimedWork::~TimedWork() {
    cpu_ += engine::threadCpuSeconds() - cpuStart_;
    wall_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - wallStart_).count();
}

} // namespace gradlab::transport
