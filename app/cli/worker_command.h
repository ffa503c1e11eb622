// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli worker: one worker process of somebody's run.
#pragma once

#include <cstdint>
#include <string>

namespace gradlab::app {

struct WorkerArguments {
    std::string connect;
    std::string name;
    std::string keys;
    std::string listen = "tcp://127.0.0.1:*";
    std::int64_t rejoin = 60;   ///< seconds
    std::int64_t threads = 0;   ///< 0: as the coordinator says
    std::int64_t parentPid = 0; ///< set by a coordinator for the workers that it starts
    bool insecure = false;
    bool quiet = false;
};

[[nodiscard]] std::string workerHelp();

/// @return the exit code. @throws the engine's errors
[[nodiscard]] int runWorkerCommand(const WorkerArguments& arguments);

} // namespace gradlab::app
