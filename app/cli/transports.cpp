// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/transports.h"

#include "engine/core/errors.h"
#include "transport/in_process/in_process_exchange.h"
#include "transport/zmq/curve_keys.h"
#include "transport/zmq/zmq_coordinator.h"

#include <filesystem>

namespace gradlab::app {

namespace {

std::vector<std::string> workerCommand() {
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    const std::filesystem::path program = self.parent_path() / "gradlab-cli";
    if (error || !std::filesystem::exists(program, error))
        return {};
    return {program.string()};
}

} // namespace

void requireKeysOfLocalWorkers(const engine::ClusterSettings& cluster) {
    if (cluster.transport != "zmq" || cluster.waitFor > 0 || cluster.keys.empty())
        return;
    const auto keys = transport::ClusterKeys::load(cluster.keys);
    std::int64_t known = 0;
    for (std::int64_t i = 0; i < cluster.workers; ++i) {
        const auto pair = keys.workers.find("worker-" + std::to_string(i));
        known += pair != keys.workers.end() && !pair->second.secretKey.empty() ? 1 : 0;
    }
    if (known < cluster.workers)
        throw engine::ExperimentError("cluster.keys",
                                      "the file has the keys of " + std::to_string(known) + " of " +
                                          std::to_string(cluster.workers) +
                                          " local workers: cluster.keys (--keys) " + cluster.keys +
                                          "; make one with gradlab-cli keygen --workers " +
                                          std::to_string(cluster.workers));
}

transport::CoordinatorOptions coordinatorOptions(bool insecure) {
    transport::CoordinatorOptions options;
    options.workerCommand = workerCommand();
    options.insecure = insecure;
    return options;
}

engine::TransportFactories makeTransports(bool insecure) {
    return {transport::makeInProcessExchange,
            [options = coordinatorOptions(insecure)](const engine::ClusterSetup& setup) {
                requireKeysOfLocalWorkers(setup.experiment.cluster);
                return transport::makeZmqCoordinator(setup, options);
            }};
}

} // namespace gradlab::app
