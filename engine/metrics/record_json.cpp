// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Records to lines. Reading them is record_json_reader.cpp's.
#include "engine/metrics/record_json.h"

#include "engine/core/json_text.h"

#include <nlohmann/json.hpp>

namespace gradlab::engine {

namespace {

void addTimesObject(JsonLine& line, std::string_view name, const StepTimes& times) {
    line.begin(name);
    line.add("forward", times.forward);
    line.add("backward", times.backward);
    line.add("compress", times.compress);
    line.add("encode", times.encode);
    line.add("transfer", times.transfer);
    line.add("wait", times.wait);
    line.add("turn", times.turn);
    line.add("decode", times.decode);
    line.add("update", times.update);
    line.add("transfer_hidden", times.transferHidden);
    line.end();
}

void addOptional(JsonLine& line, std::string_view name, const std::optional<double>& value) {
    if (value)
        line.add(name, *value);
}

std::string partsJson(const std::vector<SentPart>& parts) {
    std::string text = "[";
    for (const SentPart& part : parts) {
        if (text.size() > 1)
            text += ",";
        text += "[" + formatReal(part.readyS) + "," + formatReal(part.bytes) + "]";
    }
    return text + "]";
}

std::string shapesJson(const std::vector<TensorShape>& tensors) {
    std::string text = "[";
    for (const TensorShape& tensor : tensors) {
        if (text.size() > 1)
            text += ",";
        text += "{\"name\":" + jsonString(tensor.name) + ",\"shape\":[";
        for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
            if (i > 0)
                text += ',';
            text += std::to_string(tensor.shape[i]);
        }
        text += "]}";
    }
    return text + "]";
}

/// The experiment's document on one line; a text that is no document stays a text.
std::string compactJson(const std::string& document) {
    const auto parsed = nlohmann::ordered_json::parse(document, nullptr, false);
    return parsed.is_discarded() ? jsonString(document) : parsed.dump();
}

std::string toLine(const StartRecord& record) {
    JsonLine line;
    line.add("kind", "start");
    line.addJson("experiment", compactJson(record.experimentJson));
    line.add("version", record.version);
    line.add("host", record.host);
    line.add("cpu", record.cpu);
    line.add("isa", record.isa);
    line.add("parameters", record.parameters);
    line.addJson("tensors", shapesJson(record.tensors));
    line.add("vocabulary", record.vocabulary);
    line.add("train_tokens", record.trainTokens);
    line.add("corpus_hash", record.corpusHash);
    addOptional(line, "entropy_floor", record.entropyFloor);
    addOptional(line, "entropy_floor_valid", record.entropyFloorValid);
    line.add("unigram_perplexity", record.unigramPerplexity);
    line.add("unigram_perplexity_valid", record.unigramPerplexityValid);
    line.add("characters_per_token", record.charactersPerToken);
    line.add("steps_per_epoch", record.stepsPerEpoch);
    line.add("overlap", record.overlap);
    line.add("cpu_time_shown", record.cpuTimeShown);
    return line.finish();
}

std::string toLine(const StepRecord& record) {
    JsonLine line;
    line.add("kind", "step");
    line.add("step", record.step);
    line.add("epoch", record.epoch);
    line.add("tokens", record.tokens);
    line.add("wall_s", record.wallS);
    line.add("simulated_s", record.simulatedS);
    line.add("loss", record.loss);
    line.add("lr", record.lr);
    line.add("ratio", record.ratio);
    line.add("selected", record.selected);
    line.add("nonzero", record.nonzero);
    line.add("density", record.density);
    line.add("bytes_message", record.bytesMessage);
    line.add("bytes_up", record.bytesUp);
    line.add("bytes_down", record.bytesDown);
    line.add("bytes_dense", record.bytesDense);
    line.add("bytes_paper", record.bytesPaper);
    line.add("grad_norm", record.gradNorm);
    line.add("residual_norm", record.residualNorm);
    line.add("error", record.error);
    line.add("energy_kept", record.energyKept);
    line.add("clipped", record.clipped);
    line.add("aggregate_cpu", record.aggregateCpu);
    line.add("link_s", record.linkS);
    line.add("contributors", record.contributors);
    addTimesObject(line, "t", record.t);
    addTimesObject(line, "cpu", record.cpu);
    return line.finish();
}

std::string toLine(const WorkerRecord& record) {
    JsonLine line;
    line.add("kind", "worker");
    line.add("step", record.step);
    line.add("rank", record.rank);
    line.add("loss", record.loss);
    line.add("selected", record.selected);
    line.add("nonzero", record.nonzero);
    line.add("bytes_message", record.bytesMessage);
    line.add("bytes_up", record.bytesUp);
    line.add("bytes_down", record.bytesDown);
    line.add("residual_norm", record.residualNorm);
    if (!record.parts.empty())
        line.addJson("parts", partsJson(record.parts));
    addTimesObject(line, "t", record.t);
    addTimesObject(line, "cpu", record.cpu);
    return line.finish();
}

std::string toLine(const EvalRecord& record) {
    JsonLine line;
    line.add("kind", "eval");
    line.add("step", record.step);
    line.add("epoch", record.epoch);
    line.add("split", record.split);
    line.add("nll", record.nll);
    line.add("tokens", record.tokens);
    line.add("perplexity", record.perplexity);
    line.add("wall_s", record.wallS);
    line.add("simulated_s", record.simulatedS);
    if (!record.sample.empty())
        line.add("sample", record.sample);
    return line.finish();
}

std::string toLine(const EventRecord& record) {
    JsonLine line;
    line.add("kind", "event");
    line.add("step", record.step);
    line.add("event", record.event);
    line.add("details", record.details);
    if (!record.field.empty()) {
        line.add("field", record.field);
        line.add("from", record.from);
        line.add("to", record.to);
    }
    return line.finish();
}

std::string toLine(const EndRecord& record) {
    JsonLine line;
    line.add("kind", "end");
    line.add("reason", record.reason);
    line.add("steps", record.steps);
    addOptional(line, "best_valid_perplexity", record.bestValidPerplexity);
    addOptional(line, "test_perplexity", record.testPerplexity);
    addOptional(line, "test_perplexity_at_best", record.testPerplexityAtBest);
    line.begin("totals");
    line.add("wall_s", record.wallS);
    line.add("simulated_s", record.simulatedS);
    line.add("tokens", record.tokens);
    line.add("bytes_up", record.bytesUp);
    line.add("bytes_down", record.bytesDown);
    line.add("bytes_message", record.bytesMessage);
    line.add("bytes_dense", record.bytesDense);
    line.add("bytes_paper", record.bytesPaper);
    line.end();
    if (record.targetSteps) {
        line.begin("target");
        line.add("steps", *record.targetSteps);
        addOptional(line, "bytes", record.targetBytes);
        addOptional(line, "simulated_s", record.targetSimulatedS);
        line.end();
    }
    if (!record.message.empty())
        line.add("message", record.message);
    return line.finish();
}

} // namespace

std::string toJsonLine(const Record& record) {
    return std::visit([](const auto& one) { return toLine(one); }, record);
}

} // namespace gradlab::engine
