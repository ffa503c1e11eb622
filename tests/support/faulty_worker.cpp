// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker process that harms itself once, at a chosen point of a chosen step:
//   faulty_worker [--fault ACTION@PHASE[.N]@STEP@NAME] worker --connect ENDPOINT --name NAME …
// Only the worker of that name does; N is the how manieth time that it enters the phase in the
// step. Everything else is the product's own worker.
#include "engine/core/errors.h"
#include "engine/training/cluster_node.h"
#include "tests/support/fault_point.h"
#include "tests/support/own_connections.h"
#include "transport/zmq/worker_process.h"

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <map>
#include <string>

using namespace gradlab;
using tests::FaultPoint;

namespace {

void harm(const std::string& action) {
    if (action == "kill")
        (void)::kill(::getpid(), SIGKILL);
    else if (action == "stop")
        (void)::kill(::getpid(), SIGSTOP);
    else if (action == "cut")
        tests::cutConnections(tests::Connections::FromNeighbour);
    else if (action == "sever")
        tests::cutConnections(tests::Connections::All);
    else
        throw engine::ExperimentError("", "unknown action " + action + ": --fault");
}

class Fault {
public:
    explicit Fault(FaultPoint point) : point_(std::move(point)) {}
    /// In the compute thread.
    void operator()(transport::WorkerPhase phase, std::uint64_t step) {
        if (phase != point_.phase || step != point_.step || ++entered_ != point_.nth)
            return;
        harm(point_.action);
    }

private:
    FaultPoint point_;
    unsigned entered_ = 0;
};

int run(int argc, char** argv) {
    std::map<std::string, std::string> given;
    for (int i = 1; i + 1 < argc; ++i) {
        if (std::string(argv[i]).starts_with("--")) {
            given[argv[i]] = argv[i + 1];
            ++i;
        }
    }
    transport::WorkerOptions options;
    options.connect = given["--connect"];
    options.name = given["--name"];
    options.keysFile = given["--keys"];
    if (const std::string& parent = given["--parent-pid"]; !parent.empty())
        options.parentPid = std::stoll(parent);
    if (const std::string& fault = given["--fault"]; !fault.empty()) {
        const FaultPoint point = FaultPoint::parse(fault);
        if (point.name == options.name)
            options.onPhase = Fault(point);
    }
    switch (transport::runWorker(options, engine::ClusterNode::create, {})) {
    case transport::WorkerLeave::Finished:
        return 0;
    case transport::WorkerLeave::Interrupted:
        return 130;
    case transport::WorkerLeave::Orphaned:
        break;
    }
    return 4;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << "faulty_worker: " << error.what() << '\n';
        return 4;
    }
}
