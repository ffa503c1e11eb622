// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_command.h"

#include "app/cli/bench_json.h"
#include "app/cli/program_error.h"
#include "app/cli/transports.h"
#include "engine/training/experiment_schema.h"

#include <iostream>

namespace gradlab::app {

namespace {

constexpr std::int64_t kMeasuredSteps = 5;

} // namespace

const std::vector<std::string>& benchCompressFields() {
    static const std::vector<std::string> fields = {
        "compression.", "training.precision", "training.seed", "training.lr", "cluster.threads"};
    return fields;
}

const std::vector<std::string>& benchTrainFields() {
    static const std::vector<std::string> fields = {"corpus.vocabulary", "model.", "training.",
                                                    "compression.", "cluster."};
    return fields;
}

int runBenchCompress(const BenchCompressArguments& arguments,
                     const std::vector<FieldOverride>& overrides) {
    std::vector<engine::Experiment> one{engine::defaultExperiment()};
    one.front().compression.method = "topk";
    one.front().cluster.workers = 1;
    one.front().cluster.threads = 1;
    applyOverrides(overrides, one);
    engine::CompressionBenchmark request;
    request.experiment = one.front();
    request.elements = static_cast<std::size_t>(arguments.elements);
    request.gradient = arguments.gradient;
    request.rounds = static_cast<int>(arguments.rounds);
    const engine::CompressionCost cost = engine::measureCompression(request);
    std::cout << compressionLine(engine::resolved(request.experiment), cost).dump() << std::endl;
    return kExitDone;
}

int runBenchTrain(const std::vector<FieldOverride>& overrides) {
    std::vector<engine::Experiment> one{engine::defaultExperiment()};
    one.front().training.steps = kMeasuredSteps;
    applyOverrides(overrides, one);
    const engine::TrainingBenchmark request{
        one.front(),
        static_cast<std::uint64_t>(std::max<std::int64_t>(1, one.front().training.steps))};
    const engine::TrainingCost cost = engine::measureTraining(request, makeTransports(false));
    std::cout << trainingLine(engine::resolved(request.experiment), cost).dump() << std::endl;
    return kExitDone;
}

} // namespace gradlab::app
