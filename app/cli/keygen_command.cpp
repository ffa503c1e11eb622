// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/keygen_command.h"

#include "app/cli/program_error.h"
#include "engine/core/errors.h"
#include "transport/zmq/curve_keys.h"

#include <filesystem>
#include <iostream>

namespace gradlab::app {

int runKeygen(const KeygenArguments& arguments) {
    if (arguments.out.empty())
        throw engine::ExperimentError("", "no file is given: --out; give the file to make");
    std::error_code error;
    if (std::filesystem::exists(std::filesystem::symlink_status(arguments.out, error)))
        throw engine::ExperimentError("", "the file exists: --out " + arguments.out +
                                              "; remove it if no cluster uses its keys any more");
    const auto keys = transport::ClusterKeys::make(static_cast<std::size_t>(arguments.workers));
    keys.save(arguments.out);
    std::cout << arguments.out + ": keys of a coordinator and of " +
                     std::to_string(arguments.workers) +
                     " workers, worker-0 and so on; each machine needs a copy that you alone can "
                     "read\n"
              << std::flush;
    return kExitDone;
}

std::string keygenHelp() {
    return R"(Makes the keys by which the members of a cluster know each other and encrypt what they say.

gradlab-cli keygen --out FILE [--workers N]

FILE holds the key pairs of a coordinator and of workers named worker-0, worker-1 and so on. Copy it
to every machine of the cluster, readable by you alone (scp -p keeps it so). With it the coordinator
and every worker that listens admit nobody else. Anybody who has read it can join: then make another.

Examples:
  gradlab-cli keygen --out keys.json --workers 8
  gradlab-cli train --transport zmq --bind 'tcp://*:5555' --keys keys.json --workers 8 --wait-for 8
  gradlab-cli worker --connect tcp://lab1:5555 --keys keys.json --name worker-0

Options:
  --out FILE
      The file to make; an existing one is left alone.
  --workers N
      How many workers get keys, in [1, 4096]. Default: 4.
  -h, --help, --version

Exit codes: 0 done, 2 a bad option, 3 the file cannot be written.
)";
}

} // namespace gradlab::app
