// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker process from hello to its end: joins, carries out the coordinator's orders with a
// ClusterNode, joins anew after a loss. Leaves out: command line, sockets (WorkerNetwork), learning
// (ClusterNode).
#pragma once

#include "engine/training/cluster_node.h"
#include "transport/zmq/worker_phase.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace gradlab::transport {

struct WorkerOptions {
    std::string connect;                      ///< the coordinator's endpoint
    std::string name;                         ///< unique in the run; empty: host:pid
    std::string keysFile;                     ///< empty: no keys
    std::string listen = "tcp://127.0.0.1:*"; ///< for the neighbour in a ring
    bool insecure = false;                    ///< listen beyond loopback without keys
    std::chrono::seconds rejoin{60};          ///< how long a lost coordinator is looked for; 0: not
    std::size_t threads = 0;                  ///< cores to use; 0: as the coordinator says
    std::int64_t parentPid = 0;               ///< ends as soon as this parent is gone; 0: stays
    std::chrono::milliseconds lostAfter{2000}; ///< of a silent coordinator. Tests shorten it.
    std::function<void(const std::string&)>
        notice;        ///< a line for people; two threads, may be empty
    PhaseHook onPhase; ///< compute thread; may be empty
};

/// engine::ClusterNode::create, or a test's own.
using NodeFactory = std::function<std::unique_ptr<engine::ClusterNode>(
    engine::ByteView snapshot, const engine::ExchangeFactory& exchange, std::size_t threads)>;

enum class WorkerLeave {
    Finished,    ///< the run is over
    Interrupted, ///< `stop` asked; the coordinator was told
    Orphaned     ///< the parent process is gone
};

/// Blocks until the worker is no longer needed. `stop`: leave, telling the coordinator.
/// @throws engine::ExperimentError for an option or a run that this machine cannot do,
/// engine::DataError for the file of keys, engine::TransportError when refused for good or when no
/// coordinator answers for `rejoin`
[[nodiscard]] WorkerLeave runWorker(const WorkerOptions& options, const NodeFactory& makeNode,
                                    const std::stop_token& stop);

} // namespace gradlab::transport
