// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/benchmark/training_benchmark.h"

#include "engine/benchmark/bench_clock.h"
#include "engine/benchmark/machine_limits.h"
#include "engine/core/allocation_count.h"
#include "engine/core/median.h"
#include "engine/core/random.h"
#include "engine/metrics/phase_timer.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/trainer.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace gradlab::engine {

namespace {

constexpr std::uint64_t kWarmUp = 2; // buffers grow in the first step, memories fill in the second

/// Enough random tokens for as many windows as steps will be made, up to a few.
std::shared_ptr<const Corpus> randomCorpus(const Experiment& experiment, std::uint64_t steps) {
    constexpr std::uint64_t kMostWindows = 8;
    auto corpus = std::make_shared<Corpus>();
    const auto vocabulary = static_cast<std::uint32_t>(experiment.corpus.vocabulary);
    for (std::uint32_t id = 0; id < vocabulary; ++id)
        corpus->vocabulary.push_back("w" + std::to_string(id));
    const auto batch = static_cast<std::size_t>(experiment.training.batch);
    const auto bptt = static_cast<std::size_t>(experiment.training.bptt);
    const std::size_t windows = std::min(steps, kMostWindows);
    RandomStream random(static_cast<std::uint32_t>(experiment.training.seed), RandomPurpose::Bench,
                        1, 0, 0);
    corpus->train.resize(batch * (bptt * windows + 1));
    for (std::int32_t& token : corpus->train)
        token = static_cast<std::int32_t>(random.below(vocabulary));
    const auto evaluated = static_cast<std::size_t>(2 * experiment.training.evalBatch);
    corpus->valid.assign(corpus->train.begin(),
                         corpus->train.begin() + static_cast<std::ptrdiff_t>(
                                                     std::min(evaluated, corpus->train.size())));
    corpus->test = corpus->valid;
    corpus->unigramPerplexity = vocabulary;
    corpus->unigramPerplexityValid = vocabulary;
    corpus->charactersPerToken = 1.0;
    return corpus;
}

class LastStep final : public RecordSink {
public:
    void record(const Record& record) override {
        if (const auto* step = std::get_if<StepRecord>(&record))
            last = *step;
    }
    StepRecord last;
};

/// Nothing but steps: no evaluation, no end before the measurement's.
Experiment stepsOnly(Experiment experiment) {
    constexpr std::int64_t kNever = 1'000'000;
    CorpusSettings corpus;
    corpus.vocabulary = experiment.corpus.vocabulary;
    experiment.corpus = corpus;
    experiment.training.steps = 0;
    experiment.training.epochs = kNever;
    experiment.training.patience = kNever;
    experiment.training.evalEvery = kNever;
    return experiment;
}

double flopsPerToken(const Experiment& experiment) {
    const auto v = static_cast<double>(experiment.corpus.vocabulary);
    const auto h = static_cast<double>(experiment.model.hidden);
    const auto l = static_cast<double>(experiment.model.layers);
    return 6.0 * (v * h + 8.0 * l * h * h);
}

Precision precisionOf(const Experiment& experiment) {
    const std::string& name = experiment.training.precision;
    return name == "f64" ? Precision::F64 : name == "bf16" ? Precision::BF16 : Precision::F32;
}

} // namespace

TrainingCost measureTraining(const TrainingBenchmark& request,
                             const TransportFactories& transports) {
    requireValid(request.experiment);
    const Experiment experiment = stepsOnly(resolved(request.experiment));
    TrainingCost cost;
    resetPeakMemory();
    LastStep sink;
    std::vector<double> seconds;
    {
        const auto trainer = Trainer::create(
            experiment, randomCorpus(experiment, request.steps + kWarmUp), transports, sink, {});
        auto before = countedAllocations();
        for (std::uint64_t step = 0; step < kWarmUp + request.steps; ++step) {
            if (step == kWarmUp)
                before = countedAllocations();
            const auto begin = BenchClock::now();
            static_cast<void>(trainer->advance({}));
            if (step >= kWarmUp) {
                seconds.push_back(secondsSince(begin));
                addTimes(cost.t, sink.last.t);
                addTimes(cost.cpu, sink.last.cpu);
                cost.aggregateCpu += sink.last.aggregateCpu;
            }
        }
        const auto after = countedAllocations();
        const auto steps = static_cast<double>(request.steps);
        cost.allocationsPerStep = before && after ? static_cast<double>(*after - *before) / steps
                                                  : std::numeric_limits<double>::quiet_NaN();
        cost.peakRssMib = peakResidentMib();
        scaleTimes(cost.t, 1.0 / steps);
        scaleTimes(cost.cpu, 1.0 / steps);
        cost.aggregateCpu /= steps;
    }
    cost.bytesMessage = sink.last.bytesMessage;
    cost.bytesUp = sink.last.bytesUp;
    cost.bytesDown = sink.last.bytesDown;
    cost.secondsPerStep = median(seconds);
    cost.tokensPerSecond =
        static_cast<double>(experiment.training.batch * experiment.training.bptt) /
        cost.secondsPerStep;
    cost.compressionShare = cost.cpu.compression() / cost.cpu.compute();
    cost.productGflops =
        measureProductGflops(precisionOf(experiment), static_cast<int>(experiment.cluster.threads));
    cost.shareOfLimit =
        flopsPerToken(experiment) * cost.tokensPerSecond / (cost.productGflops * 1e9);
    return cost;
}

} // namespace gradlab::engine
