// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_json.h"

#include "engine/metrics/record_fields.h"
#include "engine/training/experiment_schema.h"

namespace gradlab::app {

using Json = nlohmann::ordered_json;

namespace {

/// Every compression field that the method uses, by its option's name.
void addCompression(Json& line, const engine::Experiment& experiment) {
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        if (!field.path.starts_with("compression.") || !engine::isFieldUsed(field, experiment))
            continue;
        const std::string name = field.path.substr(field.path.find('.') + 1);
        std::visit([&](const auto& value) { line[name] = value; },
                   engine::getField(experiment, field.path));
    }
}

/// By the log's table of fields.
Json times(const engine::StepTimes& t) {
    struct {
        Json json = Json::object();
        void field(const char* name, double seconds) { json[name] = seconds; }
    } writer;
    engine::visitTimes(writer, t);
    return writer.json;
}

} // namespace

Json compressionLine(const engine::Experiment& experiment, const engine::CompressionCost& cost) {
    Json line;
    addCompression(line, experiment);
    line["precision"] = experiment.training.precision;
    line["threads"] = experiment.cluster.threads;
    line["elements"] = cost.elements;
    line["selected"] = cost.selected;
    line["copy_ms"] = cost.copyMs;
    line["encode_ms"] = cost.encodeMs;
    line["decode_ms"] = cost.decodeMs;
    line["bytes"] = cost.bytes;
    line["bytes_paper"] = cost.bytesPaper;
    line["bound_bytes"] = cost.boundBytes;
    line["copies"] = cost.encodeMs / cost.copyMs;
    line["decode_copies"] = cost.decodeMs / cost.copyMs;
    line["allocations"] = cost.allocations; // null where none are counted
    return line;
}

Json trainingLine(const engine::Experiment& experiment, const engine::TrainingCost& cost) {
    Json line;
    line["hidden"] = experiment.model.hidden;
    line["layers"] = experiment.model.layers;
    line["vocabulary"] = experiment.corpus.vocabulary;
    line["batch"] = experiment.training.batch;
    line["bptt"] = experiment.training.bptt;
    line["workers"] = experiment.cluster.workers;
    line["threads"] = experiment.cluster.threads;
    line["transport"] = experiment.cluster.transport;
    line["precision"] = experiment.training.precision;
    addCompression(line, experiment);
    line["tokens_per_second"] = cost.tokensPerSecond;
    line["seconds_per_step"] = cost.secondsPerStep;
    line["compression_share"] = cost.compressionShare;
    line["peak_rss_mib"] = cost.peakRssMib;
    line["product_gflops"] = cost.productGflops;
    line["share_of_limit"] = cost.shareOfLimit;
    line["allocations_per_step"] = cost.allocationsPerStep;
    line["bytes_message"] = cost.bytesMessage;
    line["bytes_up"] = cost.bytesUp;
    line["bytes_down"] = cost.bytesDown;
    line["aggregate_cpu"] = cost.aggregateCpu;
    line["t"] = times(cost.t);
    line["cpu"] = times(cost.cpu);
    return line;
}

} // namespace gradlab::app
