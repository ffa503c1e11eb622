// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs an experiment to its end with threads as workers and keeps every record.
#pragma once

#include "engine/training/experiment_schema.h"
#include "engine/training/trainer.h"
#include "transport/in_process/in_process_exchange.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gradlab::tests {

class CollectingSink final : public engine::RecordSink {
public:
    void record(const engine::Record& record) override {
        if (const auto* start = std::get_if<engine::StartRecord>(&record))
            starts.push_back(*start);
        if (const auto* step = std::get_if<engine::StepRecord>(&record))
            steps.push_back(*step);
        if (const auto* worker = std::get_if<engine::WorkerRecord>(&record))
            workers.push_back(*worker);
        if (const auto* eval = std::get_if<engine::EvalRecord>(&record))
            evals.push_back(*eval);
        if (const auto* event = std::get_if<engine::EventRecord>(&record))
            events.push_back(*event);
        if (const auto* last = std::get_if<engine::EndRecord>(&record))
            end = *last;
    }
    void snapshot(const std::shared_ptr<const engine::GradientSnapshot>& snapshot) override {
        snapshots.push_back(snapshot);
    }
    std::vector<std::shared_ptr<const engine::GradientSnapshot>> snapshots;
    std::vector<engine::StartRecord> starts;
    std::vector<engine::StepRecord> steps;
    std::vector<engine::WorkerRecord> workers;
    std::vector<engine::EvalRecord> evals;
    std::vector<engine::EventRecord> events;
    std::optional<engine::EndRecord> end;
};

inline engine::TransportFactories threadTransports() {
    return {transport::makeInProcessExchange, {}};
}

inline std::shared_ptr<const engine::Corpus>
loadExperimentCorpus(const engine::CorpusSettings& settings) {
    engine::CorpusSource source;
    source.source = settings.source;
    source.valid = settings.valid;
    source.test = settings.test;
    source.unit = settings.unit == "char" ? engine::TokenUnit::Character : engine::TokenUnit::Word;
    source.vocabulary = static_cast<std::size_t>(settings.vocabulary);
    static std::map<std::string, std::shared_ptr<const engine::Corpus>> cache;
    auto& cached = cache[source.source + '\n' + source.valid + '\n' + source.test + '\n' +
                         settings.unit + '\n' + std::to_string(settings.vocabulary)];
    if (cached == nullptr)
        cached = engine::loadCorpus(source);
    return cached;
}

inline std::unique_ptr<engine::Trainer> makeTrainer(const engine::Experiment& experiment,
                                                    CollectingSink& sink,
                                                    const engine::TrainerOptions& options = {}) {
    return engine::Trainer::create(experiment, loadExperimentCorpus(experiment.corpus),
                                   threadTransports(), sink, options);
}

struct CollectedRun {
    CollectingSink records;
    std::uint64_t hash = 0;
};

inline CollectedRun runToEnd(const engine::Experiment& experiment,
                             const engine::TrainerOptions& options = {}) {
    CollectedRun run;
    const auto trainer = makeTrainer(experiment, run.records, options);
    while (trainer->advance({})) {
    }
    run.hash = trainer->parameterHash();
    return run;
}

/// The experiment of the oracle's curves (tests/data), 80 steps in f64, without compression.
inline engine::Experiment oracleExperiment() {
    engine::Experiment experiment = engine::defaultExperiment();
    const std::string data = GRADLAB_TEST_DATA;
    experiment.corpus.source = data + "/tiny.train.txt";
    experiment.corpus.valid = data + "/tiny.valid.txt";
    experiment.corpus.test = data + "/tiny.valid.txt";
    experiment.corpus.vocabulary = 0;
    experiment.model.hidden = 12;
    experiment.model.layers = 2;
    experiment.model.init = data + "/init.safetensors";
    experiment.training.bptt = 7;
    experiment.training.batch = 8;
    experiment.training.steps = 80;
    experiment.training.epochs = 1000;
    experiment.training.patience = 1000;
    experiment.training.lr = 8.0;
    experiment.training.clip = 0.25;
    experiment.training.evalBatch = 4;
    experiment.training.precision = "f64";
    experiment.cluster.workers = 1;
    experiment.cluster.threads = 2;
    return experiment;
}

/// "topk" with the given ratio and memory; "" = auto.
inline void setCompression(engine::Experiment& experiment, const std::string& method,
                           const std::string& memory = "auto") {
    engine::setField(experiment, "compression.method", method);
    engine::setField(experiment, "compression.memory", memory);
}

} // namespace gradlab::tests
