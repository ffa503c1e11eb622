// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/probe_command.h"

#include "app/cli/corpus_loading.h"
#include "app/cli/interrupt.h"
#include "app/cli/program_error.h"
#include "app/cli/step_prediction.h"
#include "app/cli/transports.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"
#include "transport/zmq/probe.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <iostream>
#include <string>
#include <vector>

namespace gradlab::app {

namespace {

using Json = nlohmann::ordered_json;
using engine::Experiment;

std::string fieldText(const char* option, double value) {
    return std::string(option) + " " +
           engine::formatFieldValue(*engine::findField(option), engine::FieldValue(value));
}

/// The options of train whose simulated seconds are those of this network.
std::string linkOptions(const PredictionLink& link) {
    constexpr double kRateDigit = 1e3; // bits per second
    constexpr double kTimeDigit = 1e7; // a second's tenths of a microsecond
    const auto rate = [](double value) { return std::round(value / kRateDigit) * kRateDigit; };
    return fieldText("--bandwidth", rate(link.rate())) + " " +
           fieldText("--latency", std::round(link.latencyS * kTimeDigit) / kTimeDigit) + " " +
           fieldText("--server-bandwidth", rate(link.serverRate()));
}

Json workerJson(const transport::MeasuredLink& worker, const PredictionLink& slowest,
                const std::string& topology, const std::vector<StepPrediction>& steps) {
    PredictionLink link = slowest;
    link.rateUp = worker.rateUp;
    link.rateDown = worker.rateDown;
    link.latencyS = worker.latencyS;
    Json communication = Json::object();
    for (const StepPrediction& step : steps)
        communication[step.method] = exchangeSeconds(link, topology, step);
    return {{"rank", worker.rank},          {"name", worker.name},
            {"host", worker.host},          {"cores", worker.cores},
            {"rate_down", worker.rateDown}, {"rate_up", worker.rateUp},
            {"latency_s", worker.latencyS}, {"communication_s", communication}};
}

Json stepJson(const StepPrediction& step) {
    return {{"method", step.method},
            {"bytes_message", step.bytesMessage},
            {"bytes_up", step.bytesUp},
            {"bytes_down", step.bytesDown},
            {"compute_s", step.computeS},
            {"compression_s", step.compressionS},
            {"turn_s", step.turnS},
            {"server_s", step.serverS},
            {"communication_s", step.communicationS},
            {"step_s", step.stepS}};
}

Json document(const Experiment& experiment, const transport::MeasuredNetwork& network,
              const std::vector<StepPrediction>& steps) {
    const std::string& topology = experiment.cluster.topology;
    const PredictionLink link = predictionLink(network);
    Json workers = Json::array();
    for (const transport::MeasuredLink& worker : network.workers)
        workers.push_back(workerJson(worker, link, topology, steps));
    Json predicted = Json::array();
    for (const StepPrediction& step : steps)
        predicted.push_back(stepJson(step));
    return {{"topology", topology},
            {"overlap", experiment.cluster.overlap},
            {"workers", workers},
            {"server_rate_down", network.serverRateDown},
            {"server_rate_up", network.serverRateUp},
            {"workers_a_core", link.workersACore},
            {"link_options", linkOptions(link)},
            {"predicted", predicted}};
}

Experiment experimentOf(const ProbeArguments& arguments,
                        const std::vector<FieldOverride>& overrides) {
    std::vector<Experiment> race{engine::defaultExperiment()};
    if (!arguments.file.empty())
        race = engine::readExperiments(arguments.file);
    race.resize(1);
    applyOverrides(overrides, race);
    race.front().cluster.transport = "zmq";
    (void)engine::requireValidRace(race);
    return engine::resolved(race.front());
}

} // namespace

int runProbe(const ProbeArguments& arguments, const std::vector<FieldOverride>& overrides) {
    catchInterrupts();
    const Experiment experiment = experimentOf(arguments, overrides);
    const auto corpus = makeCorpusLoader()(experiment.corpus, [](double) {});
    const auto transports = makeTransports(arguments.insecure);
    const InterruptWatch watch;
    try {
        const transport::MeasuredNetwork network = transport::probeNetwork(
            experiment.cluster, coordinatorOptions(arguments.insecure), watch.token());
        const PredictionLink link = predictionLink(network);
        std::vector<StepPrediction> steps;
        for (const char* method : {"none", "topk", "qsgd"})
            steps.push_back(
                predictStep(experiment, method, link, corpus, transports, watch.token()));
        std::cout << document(experiment, network, steps).dump(2) << std::endl;
    } catch (const engine::Cancelled&) {
        return reportError(
            {"stopped by Ctrl-C: gradlab-cli probe; nothing was changed", kExitInterrupted});
    }
    return kExitDone;
}

std::string probeHelp() {
    return R"(Measures the network between a coordinator and its workers, and predicts from it how long a step
of an experiment takes without compression, with top-k and with QSGD: does compressing pay here?

gradlab-cli probe [FILE] [options of train] [--insecure]

With --wait-for N it waits for N workers (gradlab-cli worker --connect …) at --bind; without, it
starts --workers of them on this machine. Each is measured alone, both ways, then all at once; then
a few steps of the experiment are made here. Prints one JSON document:
  workers           of each rate_down and rate_up (bit/s), latency_s (one way), cores, and
                    communication_s: its step's, if nothing of it is hidden behind computing
  server_rate_down, server_rate_up   all of them at once, together
  workers_a_core    on the fullest machine; those beyond one wait for a turn
  link_options      options of train: simulated seconds are then of this network
  predicted         of each method bytes and a step's seconds, with the slowest line: step_s =
                    compute_s + compression_s + turn_s + server_s + communication_s (what is not
                    hidden). A worker counts as one core of this machine's kind.

Examples:
  gradlab-cli probe --workers 2
  gradlab-cli probe --workers 4 --wait-for 4 --bind 'tcp://*:5555' --keys keys.json --hidden 650

Exit codes: 0 done, 2 a bad option or experiment, 3 bad data, 4 workers lost, 130 Ctrl-C.
)";
}

} // namespace gradlab::app
