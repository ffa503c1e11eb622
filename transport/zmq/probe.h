// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Measures the network between a coordinator and its workers: nothing is trained. Leaves out: what
// a step would take on it (engine/metrics/link_model.h).
#pragma once

#include "engine/training/cluster_coordinator.h"
#include "transport/zmq/coordinator_options.h"

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace gradlab::transport {

struct MeasuredLink {
    std::uint32_t rank = 0;
    std::string name;
    std::string host;
    std::string machine; ///< boot id: equal on one machine
    std::int64_t cores = 1;
    double rateDown = 0.0; ///< bits per second to the worker, alone on the network
    double rateUp = 0.0;
    double latencyS = 0.0; ///< one way: half the median round trip of a header
};

struct MeasuredNetwork {
    std::vector<MeasuredLink> workers; ///< by rank
    double serverRateDown = 0.0;       ///< bits per second to all of them at once, together
    double serverRateUp = 0.0;
};

/// Waits for the cluster's workers (or starts them, see makeZmqCoordinator), measures one after the
/// other and then all at once, and sends them home. Blocks. `setup` needs the experiment's cluster
/// alone.
/// @throws engine::ExperimentError, TransportError when a worker is lost meanwhile, Cancelled
[[nodiscard]] MeasuredNetwork probeNetwork(const engine::ClusterSettings& cluster,
                                           const CoordinatorOptions& options,
                                           const std::stop_token& stop);

} // namespace gradlab::transport
