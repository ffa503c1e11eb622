// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/probe_command.h"

#include "app/cli/corpus_loading.h"
#include "app/cli/interrupt.h"
#include "app/cli/program_error.h"
#include "app/cli/transports.h"
#include "engine/core/errors.h"
#include "engine/metrics/link_model.h"
#include "engine/metrics/record_sink.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/trainer.h"
#include "transport/zmq/probe.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <stop_token>
#include <thread>

namespace gradlab::app {

namespace {

using Json = nlohmann::ordered_json;
using engine::Experiment;

constexpr double kBitsPerByte = 8.0;

/// Bytes of one step, mean over workers.
struct StepBytes {
    std::string method;
    double message = 0.0;
    double up = 0.0;
    double down = 0.0;
};

class LastStep final : public engine::RecordSink {
public:
    void record(const engine::Record& record) override {
        if (const auto* step = std::get_if<engine::StepRecord>(&record))
            last = *step;
    }
    engine::StepRecord last;
};

/// Two steps of the experiment with another method, workers as threads: the messages' sizes.
StepBytes bytesOf(Experiment experiment, const std::string& method,
                  const std::shared_ptr<const engine::Corpus>& corpus,
                  const engine::TransportFactories& transports) {
    constexpr int kSteps = 2;
    experiment.compression.method = method;
    experiment.compression.memory = "auto";
    experiment.cluster.transport = "threads";
    experiment.cluster.link.emulate = false;
    LastStep sink;
    const auto trainer =
        engine::Trainer::create(engine::resolved(experiment), corpus, transports, sink, {});
    for (int i = 0; i < kSteps; ++i)
        (void)trainer->advance({});
    return {method, sink.last.bytesMessage, sink.last.bytesUp, sink.last.bytesDown};
}

/// The contract's link model; up and down may differ in rate.
double communication(const Experiment& experiment, const StepBytes& bytes, double rateUp,
                     double rateDown, const transport::MeasuredNetwork& network, double latency) {
    engine::LinkModel link;
    link.workers = network.workers.size();
    link.latency = latency;
    link.bytesPerSecond = rateUp / kBitsPerByte;
    link.serverBytesPerSecond = network.serverRateUp / kBitsPerByte;
    if (experiment.cluster.topology == "ring")
        return bytes.method == "none" ? engine::ringReduceSeconds(link, bytes.message)
                                      : engine::ringGatherSeconds(link, bytes.message);
    const engine::PartReady all{0.0, bytes.message};
    const double up = engine::serverUplinkSeconds(link, std::span(&all, 1), 0.0);
    link.bytesPerSecond = rateDown / kBitsPerByte;
    link.serverBytesPerSecond = network.serverRateDown / kBitsPerByte;
    return up + engine::serverDownlinkSeconds(link, bytes.down);
}

Json document(const Experiment& experiment, const transport::MeasuredNetwork& network,
              const std::vector<StepBytes>& methods) {
    Json workers = Json::array();
    double up = std::numeric_limits<double>::infinity();
    double down = up;
    double latency = 0.0;
    for (const transport::MeasuredLink& link : network.workers) {
        Json step = Json::object();
        for (const StepBytes& bytes : methods)
            step[bytes.method] = communication(experiment, bytes, link.rateUp, link.rateDown,
                                               network, link.latencyS);
        workers.push_back({{"rank", link.rank},
                           {"name", link.name},
                           {"host", link.host},
                           {"rate_down", link.rateDown},
                           {"rate_up", link.rateUp},
                           {"latency_s", link.latencyS},
                           {"communication_s", step}});
        up = std::min(up, link.rateUp);
        down = std::min(down, link.rateDown);
        latency = std::max(latency, link.latencyS);
    }
    Json predicted = Json::array();
    for (const StepBytes& bytes : methods)
        predicted.push_back(
            {{"method", bytes.method},
             {"bytes_message", bytes.message},
             {"bytes_up", bytes.up},
             {"bytes_down", bytes.down},
             {"communication_s", communication(experiment, bytes, up, down, network, latency)}});
    return {{"topology", experiment.cluster.topology},
            {"workers", workers},
            {"server_rate_down", network.serverRateDown},
            {"server_rate_up", network.serverRateUp},
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

transport::MeasuredNetwork measure(const Experiment& experiment, bool insecure) {
    std::stop_source leave;
    const std::jthread watch([&leave](const std::stop_token& done) {
        constexpr std::chrono::milliseconds kEvery{50};
        while (!done.stop_requested()) {
            if (interrupted())
                leave.request_stop();
            std::this_thread::sleep_for(kEvery);
        }
    });
    return transport::probeNetwork(experiment.cluster, coordinatorOptions(insecure),
                                   leave.get_token());
}

} // namespace

int runProbe(const ProbeArguments& arguments, const std::vector<FieldOverride>& overrides) {
    catchInterrupts();
    const Experiment experiment = experimentOf(arguments, overrides);
    const auto corpus = makeCorpusLoader()(experiment.corpus, [](double) {});
    const auto transports = makeTransports(arguments.insecure);
    std::vector<StepBytes> methods;
    for (const char* method : {"none", "topk", "qsgd"})
        methods.push_back(bytesOf(experiment, method, corpus, transports));
    try {
        const transport::MeasuredNetwork network = measure(experiment, arguments.insecure);
        std::cout << document(experiment, network, methods).dump(2) << std::endl;
    } catch (const engine::Cancelled&) {
        return reportError(
            {"stopped by Ctrl-C: gradlab-cli probe; nothing was changed", kExitInterrupted});
    }
    return kExitDone;
}

std::string probeHelp() {
    return R"(Measures the network between a coordinator and its workers, and predicts from it how long a step's
communication takes without compression, with top-k and with QSGD.

gradlab-cli probe [FILE] [options of train] [--insecure]

With --wait-for N it waits for N workers (gradlab-cli worker --connect …) at --bind; without, it
starts --workers of them on this machine. Each is measured alone, both ways, then all at once. Prints
one JSON document: of each worker rate_down and rate_up (bit/s), latency_s (one way) and its step's
communication_s; server_rate_down and server_rate_up of all together; predicted, with the slowest.

Examples:
  gradlab-cli probe --workers 2
  gradlab-cli probe --workers 4 --wait-for 4 --bind 'tcp://*:5555' --keys keys.json --hidden 650

Exit codes: 0 done, 2 a bad option or experiment, 3 bad data, 4 workers lost, 130 Ctrl-C.
)";
}

} // namespace gradlab::app
