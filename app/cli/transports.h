// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The transports that both programs give the engine.
#pragma once

#include "engine/training/cluster_coordinator.h"
#include "engine/training/experiment.h"
#include "transport/zmq/coordinator_options.h"

namespace gradlab::app {

/// Threads, and processes over ZeroMQ. Local workers are `gradlab-cli worker`, found beside the
/// running program. `insecure`: other than loopback addresses may be bound without keys.
[[nodiscard]] engine::TransportFactories makeTransports(bool insecure);
[[nodiscard]] transport::CoordinatorOptions coordinatorOptions(bool insecure);

/// The workers that the coordinator would start, worker-0 and so on, must all have keys.
/// @throws engine::ExperimentError naming cluster.keys, engine::DataError for the file itself
void requireKeysOfLocalWorkers(const engine::ClusterSettings& cluster);

} // namespace gradlab::app
