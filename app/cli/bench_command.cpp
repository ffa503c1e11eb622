// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_command.h"

#include "app/cli/bench_json.h"
#include "app/cli/interrupt.h"
#include "app/cli/program_error.h"
#include "app/cli/terminal_line.h"
#include "app/cli/transports.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <sstream>

namespace gradlab::app {

namespace {

constexpr std::int64_t kMeasuredSteps = 5;

std::vector<std::string> listOf(const std::string& text) {
    std::vector<std::string> items;
    std::istringstream stream(text);
    for (std::string item; std::getline(stream, item, ',');)
        items.push_back(item);
    return items;
}

std::vector<std::int64_t> countsOf(const std::string& text) {
    std::vector<std::int64_t> counts;
    for (const std::string& item : listOf(text)) {
        const engine::FieldSpec& field = *engine::findField("cluster.workers");
        counts.push_back(std::get<std::int64_t>(engine::parseFieldValue(field, item)));
    }
    return counts;
}

std::string timeLeft(double elapsed, double done) {
    constexpr double kEnough = 0.02; // of the work, before a guess is worth reading
    if (done < kEnough)
        return {};
    const auto seconds = std::llround(elapsed * (1.0 - done) / done);
    constexpr long long kMinute = 60;
    return seconds < 2 * kMinute ? ", about " + std::to_string(seconds) + " s left"
                                 : ", about " + std::to_string(seconds / kMinute) + " min left";
}

} // namespace

int runBench(const BenchArguments& arguments) {
    catchInterrupts();
    BenchSuite suite = arguments.suite;
    suite.models = listOf(arguments.models);
    suite.workers = countsOf(arguments.workers);
    TerminalLine line(true);
    const auto begin = std::chrono::steady_clock::now();
    try {
        const auto document = runBenchSuite(suite, [&](const std::string& what, double done) {
            if (interrupted())
                throw engine::Cancelled();
            constexpr double kPercent = 100.0;
            const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
            line.show("bench: " + std::to_string(std::lround(kPercent * done)) + " %, " + what +
                      timeLeft(elapsed.count(), done));
        });
        line.clear();
        std::cout << document.dump(2) << std::endl;
    } catch (const engine::Cancelled&) {
        line.clear();
        return reportError(
            {"stopped by Ctrl-C: gradlab-cli bench; nothing was printed", kExitInterrupted});
    }
    return kExitDone;
}

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
