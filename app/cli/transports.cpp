// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/transports.h"

#include "transport/in_process/in_process_exchange.h"
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

transport::CoordinatorOptions coordinatorOptions(bool insecure) {
    transport::CoordinatorOptions options;
    options.workerCommand = workerCommand();
    options.insecure = insecure;
    return options;
}

engine::TransportFactories makeTransports(bool insecure) {
    return {transport::makeInProcessExchange,
            [options = coordinatorOptions(insecure)](const engine::ClusterSetup& setup) {
                return transport::makeZmqCoordinator(setup, options);
            }};
}

} // namespace gradlab::app
