// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/worker_command.h"

#include "app/cli/help_text.h"
#include "app/cli/interrupt.h"
#include "app/cli/program_error.h"
#include "engine/core/errors.h"
#include "engine/data/text_file.h"
#include "engine/training/cluster_node.h"
#include "transport/zmq/worker_process.h"

#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <string>
#include <string_view>

namespace gradlab::app {

namespace {

constexpr std::size_t kLongestName = 200;

/// UTF-8 without control characters: names are shown in tables and logs.
bool isPrintable(std::string_view text) {
    while (!text.empty()) {
        const std::size_t bytes = engine::codePointBytes(text);
        if (bytes == 0)
            return false;
        const auto lead = static_cast<unsigned char>(text.front());
        if (lead < 0x20 || lead == 0x7F ||
            (lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0))
            return false;
        text.remove_prefix(bytes);
    }
    return true;
}

void requireName(const std::string& name) {
    if (isPrintable(name) && columnsOf(name) <= kLongestName)
        return;
    const std::string wrong =
        isPrintable(name) ? "the name has " + std::to_string(columnsOf(name)) + " characters"
                          : "the name has a character that cannot be printed";
    throw engine::ExperimentError("", wrong + ": --name; give at most " +
                                          std::to_string(kLongestName) + " printable ones");
}

transport::WorkerOptions optionsOf(const WorkerArguments& arguments) {
    if (arguments.connect.empty())
        throw engine::ExperimentError(
            "", "no coordinator is given: --connect; give the endpoint that it shows, "
                "tcp://HOST:PORT");
    requireName(arguments.name);
    transport::WorkerOptions options;
    options.connect = arguments.connect;
    options.name = arguments.name;
    options.keysFile = arguments.keys;
    options.listen = arguments.listen;
    options.insecure = arguments.insecure;
    options.rejoin = std::chrono::seconds(arguments.rejoin);
    options.threads = static_cast<std::size_t>(arguments.threads);
    options.parentPid = arguments.parentPid;
    if (!arguments.quiet)
        options.notice = [](const std::string& line) { std::cout << line + "\n" << std::flush; };
    return options;
}

int exitCodeOf(transport::WorkerLeave leave) {
    switch (leave) {
    case transport::WorkerLeave::Finished:
        return kExitDone;
    case transport::WorkerLeave::Interrupted:
        return kExitInterrupted;
    case transport::WorkerLeave::Orphaned:
        return kExitWorkers;
    }
    return kExitBug;
}

} // namespace

int runWorkerCommand(const WorkerArguments& arguments) {
    const transport::WorkerOptions options = optionsOf(arguments);
    // A local worker's end is its coordinator's affair: Ctrl-C reaches every process of a terminal.
    if (arguments.parentPid != 0) {
        std::signal(SIGINT, SIG_IGN);
        std::signal(SIGHUP, SIG_IGN);
        std::signal(SIGPIPE, SIG_IGN);
        // At once with the thread that started it, its coordinator's network thread; the watch on
        // the parent's pid finds a coordinator that had gone before this line.
        (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
    } else {
        catchInterrupts();
    }
    const InterruptWatch watch;
    const transport::WorkerLeave how =
        transport::runWorker(options, engine::ClusterNode::create, watch.token());
    if (options.notice && how == transport::WorkerLeave::Finished)
        options.notice("the run is over");
    return exitCodeOf(how);
}

std::string workerHelp() {
    return R"(Joins a run as one of its workers: gets its columns of the text and the parameters from the
coordinator, computes and compresses gradients, exchanges them, until the run is over.

gradlab-cli worker --connect ENDPOINT [options]

The coordinator is a gradlab or gradlab-cli train with --transport zmq; it shows its endpoint. It
starts local workers by itself; with --wait-for N it waits for N that come from elsewhere.

Examples, the coordinator first:
  gradlab-cli train --transport zmq --workers 2 --wait-for 2 --bind tcp://127.0.0.1:5555
  gradlab-cli worker --connect tcp://127.0.0.1:5555
On two machines, after gradlab-cli keygen --out keys.json --workers 2 and a copy for each:
  gradlab-cli train --transport zmq --workers 2 --wait-for 2 --bind 'tcp://*:5555' --keys keys.json
  gradlab-cli worker --connect tcp://lab1:5555 --keys keys.json --name worker-0
  gradlab-cli worker --connect tcp://lab1:5555 --keys keys.json --name worker-1 \
      --listen 'tcp://192.168.1.12:*'

Options:
  --connect ENDPOINT
      Where the coordinator listens, tcp://HOST:PORT. The port after it must be reachable too.
  --name NAME
      Unique in the run; a second worker of the same name replaces the first. At most 200 printable
      characters. With --keys the name of one of the file's workers. Default: this machine's name
      and the process's number.
  --keys FILE
      The cluster file that gradlab-cli keygen made; the coordinator must use the same.
  --listen ENDPOINT
      Where the neighbour in a ring sends to: an address of this machine by which the other workers
      reach it. Default: tcp://127.0.0.1:*, which serves workers on one machine. Not used with
      topology server.
  --insecure
      Listen on other than loopback addresses without keys: whoever reaches them may send.
  --rejoin N
      Look for a lost coordinator for N seconds, then leave with exit code 4; 0: leave at once.
      Default: 60.
  --threads N
      Cores to compute with. Default: what the coordinator gives, this machine's cores for a remote
      worker.
  --quiet
      Print nothing but errors.
  -h, --help, --version

Exit codes: 0 the run is over, 2 a bad option, 3 a bad file of keys, 4 refused or no coordinator,
5 the numbers left the finite range, 130 stopped by Ctrl-C after telling the coordinator.
)";
}

} // namespace gradlab::app
