// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator of a run whose workers are processes over ZeroMQ. Listens from the call on; with
// cluster.wait_for = 0 it starts the workers itself, and ends them.
#pragma once

#include "engine/training/cluster_coordinator.h"
#include "transport/zmq/coordinator_options.h"

#include <memory>

namespace gradlab::transport {

/// @throws engine::ExperimentError naming cluster.bind or cluster.keys
[[nodiscard]] std::unique_ptr<engine::ClusterCoordinator>
makeZmqCoordinator(const engine::ClusterSetup& setup, const CoordinatorOptions& options);

} // namespace gradlab::transport
