// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/step_prediction.h"

#include "engine/compression/message_plan.h"
#include "engine/core/median.h"
#include "engine/metrics/link_model.h"
#include "engine/metrics/record_sink.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/trainer.h"
#include "engine/training/training_rules.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace gradlab::app {

namespace {

using engine::Experiment;
using engine::StepRecord;

constexpr double kBitsPerByte = 8.0;
constexpr int kControlHops = 4; ///< begin, holds, commit, done
constexpr int kFewestSteps = 3; ///< the first one, in which memory is first touched, does not count
constexpr int kMostSteps = 12;
constexpr std::chrono::seconds kLongEnough{2};

/// A step with what its workers say of it; what is cumulative in a record is the step's own here.
struct TrainedStep {
    StepRecord record;
    std::vector<engine::WorkerRecord> workers;
};

class StepList final : public engine::RecordSink {
public:
    void record(const engine::Record& record) override {
        if (const auto* step = std::get_if<StepRecord>(&record)) {
            steps.push_back({*step, {}});
            steps.back().record.simulatedS -= simulatedS_;
            steps.back().record.wallS -= wallS_;
            simulatedS_ = step->simulatedS;
            wallS_ = step->wallS;
        } else if (const auto* worker = std::get_if<engine::WorkerRecord>(&record)) {
            steps.back().workers.push_back(*worker);
        }
    }
    std::vector<TrainedStep> steps;

private:
    double simulatedS_ = 0.0;
    double wallS_ = 0.0;
};

engine::LinkModel modelOf(double rate, double serverRate, const PredictionLink& link) {
    engine::LinkModel model;
    model.workers = link.workers;
    model.latency = link.latencyS;
    model.bytesPerSecond = rate / kBitsPerByte;
    model.serverBytesPerSecond = serverRate / kBitsPerByte;
    return model;
}

engine::LinkModel uplink(const PredictionLink& link) {
    return modelOf(link.rateUp, link.serverRateUp, link);
}

engine::LinkModel downlink(const PredictionLink& link) {
    return modelOf(link.rateDown, link.serverRateDown, link);
}

/// Steps on this machine, over the modelled link in what is simulated; the first one is left out.
std::vector<TrainedStep> trainedSteps(Experiment experiment, const char* transport,
                                      const std::shared_ptr<const engine::Corpus>& corpus,
                                      const engine::TransportFactories& transports,
                                      const std::stop_token& stop) {
    const engine::ClusterSettings here; // loopback, workers started from here, no keys
    experiment.cluster.transport = transport;
    experiment.cluster.bind = here.bind;
    experiment.cluster.waitFor = here.waitFor;
    experiment.cluster.keys = here.keys;
    experiment.cluster.link.emulate = false;
    experiment.training.evalEvery = std::numeric_limits<std::int32_t>::max();
    experiment.training.steps = 0;
    engine::TrainerOptions options;
    options.perWorker = true;
    StepList sink;
    const auto trainer =
        engine::Trainer::create(engine::resolved(experiment), corpus, transports, sink, options);
    const auto begin = std::chrono::steady_clock::now();
    while (
        sink.steps.size() < kFewestSteps ||
        (sink.steps.size() < kMostSteps && std::chrono::steady_clock::now() - begin < kLongEnough))
        if (!trainer->advance(stop))
            break;
    if (sink.steps.size() > 1)
        sink.steps.erase(sink.steps.begin());
    return std::move(sink.steps);
}

template <class Value>
double middle(const std::vector<TrainedStep>& steps, Value&& value) {
    std::vector<double> values;
    values.reserve(steps.size());
    for (const TrainedStep& step : steps)
        values.push_back(value(step));
    return engine::median(std::move(values));
}

/// Each part's share of a message, in the order in which parts are sent.
std::vector<double> partShares(const Experiment& experiment, std::size_t vocabulary) {
    const engine::MessagePlan plan(
        engine::ParameterLayout(engine::modelShape(experiment, vocabulary)),
        engine::compressionScope(experiment));
    std::vector<double> shares;
    for (const auto& part : plan.parts()) {
        shares.push_back(0.0);
        for (const std::uint32_t unit : part)
            shares.back() += static_cast<double>(plan.units()[unit].size);
        shares.back() /= static_cast<double>(plan.size());
    }
    return shares;
}

/// Seconds from the last hand-over to the mean's arrival: means go down while later parts still
/// come up. Without overlap all parts are handed over at the end.
double exchangeOf(const TrainedStep& step, const PredictionLink& link, bool ring, bool overlap,
                  const std::vector<double>& shares) {
    if (ring)
        return step.record.linkS;
    double slowest = 0.0;
    for (const engine::WorkerRecord& worker : step.workers) {
        std::vector<engine::PartReady> parts;
        for (const engine::SentPart& part : worker.parts)
            parts.push_back({part.readyS * link.workersACore, part.bytes});
        const double end = parts.empty() ? 0.0 : parts.back().seconds;
        if (!overlap) {
            parts.clear();
            for (const double share : shares)
                parts.push_back({end, share * static_cast<double>(worker.bytesMessage)});
        }
        const auto bytesDown = static_cast<double>(worker.bytesDown);
        // A dense mean of small messages is not shared among the parts as they are: all of it is
        // taken to follow the last one.
        const bool alike = worker.bytesDown <= link.workers * worker.bytesMessage;
        slowest = std::max(
            slowest, alike ? engine::serverPipelineSeconds(uplink(link), downlink(link), parts,
                                                           bytesDown, step.record.aggregateCpu, end)
                           : engine::serverUplinkSeconds(uplink(link), parts, end) +
                                 step.record.aggregateCpu +
                                 engine::serverDownlinkSeconds(downlink(link), bytesDown));
    }
    return slowest;
}

} // namespace

PredictionLink predictionLink(const transport::MeasuredNetwork& network) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    PredictionLink link;
    link.workers = network.workers.size();
    link.rateUp = link.rateDown = kInfinity;
    link.serverRateUp = network.serverRateUp;
    link.serverRateDown = network.serverRateDown;
    struct Load {
        double workersACore = 0.0;
        std::size_t workers = 0;
    };
    std::map<std::string, Load> onMachine;
    for (const transport::MeasuredLink& worker : network.workers) {
        link.rateUp = std::min(link.rateUp, worker.rateUp);
        link.rateDown = std::min(link.rateDown, worker.rateDown);
        link.latencyS = std::max(link.latencyS, worker.latencyS);
        Load& load = onMachine[worker.machine];
        load.workersACore += 1.0 / static_cast<double>(std::max<std::int64_t>(1, worker.cores));
        link.workersACore = std::max(link.workersACore, load.workersACore);
        link.workersAMachine = std::max(link.workersAMachine, ++load.workers);
    }
    return link;
}

double exchangeSeconds(const PredictionLink& link, const std::string& topology,
                       const StepPrediction& step) {
    if (topology == "ring") {
        const engine::LinkModel model = modelOf(link.rate(), link.serverRate(), link);
        return step.method == "none" ? engine::ringReduceSeconds(model, step.bytesMessage)
                                     : engine::ringGatherSeconds(model, step.bytesMessage);
    }
    const engine::PartReady all{0.0, step.bytesMessage};
    return engine::serverUplinkSeconds(uplink(link), std::span(&all, 1), 0.0) +
           engine::serverDownlinkSeconds(downlink(link), step.bytesDown);
}

StepPrediction predictStep(const Experiment& experiment, const std::string& method,
                           const PredictionLink& link,
                           const std::shared_ptr<const engine::Corpus>& corpus,
                           const engine::TransportFactories& transports,
                           const std::stop_token& stop) {
    const bool ring = experiment.cluster.topology == "ring";
    Experiment one = experiment;
    one.compression.method = method;
    one.compression.memory = "auto";
    one.cluster.link.bandwidth = ring ? link.rate() : link.rateUp;
    one.cluster.link.serverBandwidth = ring ? link.serverRate() : link.serverRateUp;
    one.cluster.link.latency = link.latencyS;
    const std::vector<double> shares = partShares(experiment, corpus->vocabulary.size());
    const bool shared = link.workersAMachine > 1;
    const std::vector<TrainedStep> steps =
        trainedSteps(std::move(one), shared ? "zmq" : "threads", corpus, transports, stop);

    StepPrediction predicted;
    predicted.method = method;
    predicted.bytesMessage = steps.back().record.bytesMessage;
    predicted.bytesUp = steps.back().record.bytesUp;
    predicted.bytesDown = steps.back().record.bytesDown;
    predicted.compressionS =
        middle(steps, [](const auto& step) { return step.record.cpu.compression(); });
    const double exchange = middle(steps, [&](const auto& step) {
        return exchangeOf(step, link, ring, experiment.cluster.overlap, shares);
    });
    predicted.serverS = std::min(
        exchange, middle(steps, [](const auto& step) { return step.record.aggregateCpu; }));
    predicted.communicationS = exchange - predicted.serverS + kControlHops * link.latencyS;
    const double busy = middle(steps, [](const auto& step) {
        return step.record.simulatedS - step.record.linkS - step.record.aggregateCpu;
    });
    predicted.computeS = busy - predicted.compressionS;
    if (shared)
        predicted.turnS =
            std::max(0.0, middle(steps,
                                 [](const auto& step) {
                                     return step.record.wallS - step.record.t.communication();
                                 }) -
                              busy - predicted.serverS);
    predicted.stepS = busy + predicted.turnS + predicted.serverS + predicted.communicationS;
    return predicted;
}

} // namespace gradlab::app
