// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/training_rules.h"

#include "engine/core/errors.h"

#include <string>

namespace gradlab::engine {

namespace {

double realParameter(const Experiment& experiment, const char* name) {
    const auto found = experiment.compression.parameters.find(name);
    return found == experiment.compression.parameters.end() ? 0.0 : std::get<double>(found->second);
}

} // namespace

ModelShape modelShape(const Experiment& experiment, std::size_t vocabulary) {
    return {vocabulary, static_cast<std::size_t>(experiment.model.hidden),
            static_cast<std::size_t>(experiment.model.layers), experiment.model.tied};
}

CompressionScope compressionScope(const Experiment& experiment) {
    return experiment.compression.scope == "model" ? CompressionScope::Model
                                                   : CompressionScope::Tensor;
}

ProductType productType(const Experiment& experiment) {
    return experiment.training.precision == "bf16" ? ProductType::Bf16 : ProductType::Native;
}

AggregatorSettings aggregatorSettings(const Experiment& experiment) {
    AggregatorSettings settings;
    settings.precision = experiment.training.precision == "f64" ? Precision::F64 : Precision::F32;
    settings.downlink = experiment.compression.downlink;
    settings.compression = experiment.compression;
    settings.seed = static_cast<std::uint32_t>(experiment.training.seed);
    return settings;
}

bool overlapPossible(const Experiment& experiment) {
    const bool localClip =
        experiment.compression.memory == "dgc" && realParameter(experiment, "local_clip") > 0.0;
    return experiment.cluster.overlap && experiment.compression.scope != "model" && !localClip;
}

ExchangeForm exchangeForm(const Experiment& experiment) {
    if (experiment.cluster.topology != "ring")
        return ExchangeForm::Server;
    // Sums in transit need values of the gradient's type; narrower ones are gathered.
    const char* gradient = experiment.training.precision == "f64" ? "f64" : "f32";
    const bool dense =
        experiment.compression.method == "none" && experiment.compression.values == gradient;
    return dense ? ExchangeForm::RingReduce : ExchangeForm::RingGather;
}

ExchangeSetup exchangeSetup(const Experiment& experiment, const MessagePlan& plan) {
    ExchangeSetup setup;
    setup.plan = plan;
    setup.aggregator = aggregatorSettings(experiment);
    setup.workers = static_cast<std::uint32_t>(experiment.cluster.workers);
    setup.topology = experiment.cluster.topology;
    setup.denseRing = exchangeForm(experiment) == ExchangeForm::RingReduce;
    setup.overlap = overlapPossible(experiment);
    setup.link = experiment.cluster.link;
    return setup;
}

SgdSettings sgdSettings(const Experiment& experiment) {
    SgdSettings settings;
    settings.lr = experiment.training.lr;
    settings.momentum = experiment.training.momentum;
    settings.weightDecay =
        experiment.compression.memory == "dgc" ? 0.0 : experiment.training.weightDecay;
    settings.clip = experiment.training.clip;
    const auto units = experiment.compression.parameters.find("memory_units");
    settings.updateUnits = experiment.compression.memory == "residual" &&
                           units != experiment.compression.parameters.end() &&
                           std::get<std::string>(units->second) == "update";
    return settings;
}

ColumnBlock workerColumns(const Experiment& experiment, const TokenIds& stream,
                          std::uint32_t rank) {
    const auto batch = static_cast<std::size_t>(experiment.training.batch);
    const std::size_t columns = batch / static_cast<std::size_t>(experiment.cluster.workers);
    return cutColumns(stream, batch, rank * columns, columns);
}

CompressorIdentity compressorIdentity(const Experiment& experiment, std::uint32_t rank) {
    return {static_cast<std::uint32_t>(experiment.training.seed), rank,
            static_cast<std::uint32_t>(experiment.cluster.workers)};
}

std::uint64_t windowsPerEpoch(const Experiment& experiment, std::size_t tokens) {
    const auto batch = static_cast<std::size_t>(experiment.training.batch);
    const auto bptt = static_cast<std::size_t>(experiment.training.bptt);
    const std::size_t rows = tokens / batch;
    if (rows < bptt + 1)
        throw DataError("too few tokens for one window of " + std::to_string(bptt) + " rows in " +
                        std::to_string(batch) + " columns: " + experiment.corpus.source +
                        "; use a smaller --batch or --bptt");
    return (rows - 1) / bptt;
}

WorkerStep workerStep(const Experiment& experiment, std::uint64_t step, std::uint64_t windows) {
    WorkerStep now;
    now.position.step = step;
    now.position.epoch = (step - 1) / windows;
    now.position.lr = experiment.training.lr;
    now.position.weightDecay = experiment.training.weightDecay;
    now.window = (step - 1) % windows;
    now.dropout = experiment.model.dropout;
    now.seed = static_cast<std::uint32_t>(experiment.training.seed);
    now.overlap = overlapPossible(experiment);
    return now;
}

} // namespace gradlab::engine
