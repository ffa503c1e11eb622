// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines back to records. Lines are hostile: a value of the wrong type is an error, never a crash.
#include "engine/core/errors.h"
#include "engine/metrics/record_json.h"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <limits>

namespace gradlab::engine {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void failLine(std::string_view key) {
    throw DataError("bad value of '" + std::string(key) + "'");
}

/// One object of a line; `prefix` ("t.") is how `nonfinite` names its members.
class Reader {
public:
    Reader(const Json& object, const Json* nonfinite, std::string prefix)
        : object_(object), nonfinite_(nonfinite), prefix_(std::move(prefix)) {}

    void read(const char* key, double& value) const {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (found->is_null())
            value = nonfinite(key);
        else if (found->is_number())
            value = found->get<double>();
        else
            failLine(key);
    }
    void read(const char* key, std::optional<double>& value) const {
        double number = 0.0;
        if (find(key) == nullptr)
            return;
        read(key, number);
        value = number;
    }
    void read(const char* key, std::uint64_t& value) const {
        const Json* found = find(key);
        if (found == nullptr)
            return;
        if (found->is_number_unsigned())
            value = found->get<std::uint64_t>();
        else if (found->is_string())
            value = fromText(key, found->get_ref<const std::string&>());
        else
            failLine(key);
    }
    void read(const char* key, std::uint32_t& value) const {
        std::uint64_t wide = value;
        read(key, wide);
        if (wide > std::numeric_limits<std::uint32_t>::max())
            failLine(key);
        value = static_cast<std::uint32_t>(wide);
    }
    void read(const char* key, bool& value) const {
        const Json* found = find(key);
        if (found != nullptr && !found->is_boolean())
            failLine(key);
        if (found != nullptr)
            value = found->get<bool>();
    }
    void read(const char* key, std::string& value) const {
        const Json* found = find(key);
        if (found != nullptr && !found->is_string())
            failLine(key);
        if (found != nullptr)
            value = found->get<std::string>();
    }
    [[nodiscard]] std::optional<Reader> group(const char* key) const {
        const Json* found = find(key);
        if (found == nullptr)
            return std::nullopt;
        if (!found->is_object())
            failLine(key);
        return Reader(*found, nonfinite_, std::string(key) + ".");
    }
    [[nodiscard]] const Json* find(const char* key) const {
        const auto found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }

private:
    static std::uint64_t fromText(const char* key, const std::string& text) {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size())
            failLine(key);
        return value;
    }
    [[nodiscard]] double nonfinite(const char* key) const {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        if (nonfinite_ == nullptr || !nonfinite_->is_object())
            return nan;
        const auto named = nonfinite_->find(prefix_ + key);
        if (named == nonfinite_->end() || !named->is_string())
            return nan;
        const auto& text = named->get_ref<const std::string&>();
        if (text == "inf")
            return std::numeric_limits<double>::infinity();
        return text == "-inf" ? -std::numeric_limits<double>::infinity() : nan;
    }

    const Json& object_;
    const Json* nonfinite_;
    std::string prefix_;
};

void readTimes(const Reader& reader, const char* name, StepTimes& times) {
    const auto group = reader.group(name);
    if (!group)
        return;
    group->read("forward", times.forward);
    group->read("backward", times.backward);
    group->read("compress", times.compress);
    group->read("encode", times.encode);
    group->read("transfer", times.transfer);
    group->read("wait", times.wait);
    group->read("turn", times.turn);
    group->read("decode", times.decode);
    group->read("update", times.update);
    group->read("transfer_hidden", times.transferHidden);
}

std::vector<TensorShape> readShapes(const Json& list) {
    std::vector<TensorShape> tensors;
    if (!list.is_array())
        failLine("tensors");
    for (const Json& entry : list) {
        TensorShape tensor;
        if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string() ||
            !entry.contains("shape") || !entry["shape"].is_array())
            failLine("tensors");
        tensor.name = entry["name"].get<std::string>();
        for (const Json& size : entry["shape"]) {
            if (!size.is_number_unsigned())
                failLine("tensors");
            tensor.shape.push_back(size.get<std::uint64_t>());
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

std::vector<SentPart> readParts(const Json& list) {
    std::vector<SentPart> parts;
    if (!list.is_array())
        failLine("parts");
    for (const Json& entry : list) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_number() ||
            !entry[1].is_number())
            failLine("parts");
        parts.push_back({entry[0].get<double>(), entry[1].get<double>()});
    }
    return parts;
}

StartRecord readStart(const Reader& reader) {
    StartRecord record;
    if (const Json* experiment = reader.find("experiment"))
        record.experimentJson =
            experiment->is_string() ? experiment->get<std::string>() : experiment->dump();
    reader.read("version", record.version);
    reader.read("host", record.host);
    reader.read("cpu", record.cpu);
    reader.read("isa", record.isa);
    reader.read("parameters", record.parameters);
    if (const Json* tensors = reader.find("tensors"))
        record.tensors = readShapes(*tensors);
    reader.read("vocabulary", record.vocabulary);
    reader.read("train_tokens", record.trainTokens);
    reader.read("corpus_hash", record.corpusHash);
    reader.read("entropy_floor", record.entropyFloor);
    reader.read("entropy_floor_valid", record.entropyFloorValid);
    reader.read("unigram_perplexity", record.unigramPerplexity);
    reader.read("unigram_perplexity_valid", record.unigramPerplexityValid);
    reader.read("characters_per_token", record.charactersPerToken);
    reader.read("steps_per_epoch", record.stepsPerEpoch);
    reader.read("overlap", record.overlap);
    reader.read("cpu_time_shown", record.cpuTimeShown);
    return record;
}

StepRecord readStep(const Reader& reader) {
    StepRecord record;
    reader.read("step", record.step);
    reader.read("epoch", record.epoch);
    reader.read("tokens", record.tokens);
    reader.read("wall_s", record.wallS);
    reader.read("simulated_s", record.simulatedS);
    reader.read("loss", record.loss);
    reader.read("lr", record.lr);
    reader.read("ratio", record.ratio);
    reader.read("selected", record.selected);
    reader.read("nonzero", record.nonzero);
    reader.read("density", record.density);
    reader.read("bytes_message", record.bytesMessage);
    reader.read("bytes_up", record.bytesUp);
    reader.read("bytes_down", record.bytesDown);
    reader.read("bytes_dense", record.bytesDense);
    reader.read("bytes_paper", record.bytesPaper);
    reader.read("grad_norm", record.gradNorm);
    reader.read("residual_norm", record.residualNorm);
    reader.read("error", record.error);
    reader.read("energy_kept", record.energyKept);
    reader.read("clipped", record.clipped);
    reader.read("aggregate_cpu", record.aggregateCpu);
    reader.read("link_s", record.linkS);
    reader.read("contributors", record.contributors);
    readTimes(reader, "t", record.t);
    readTimes(reader, "cpu", record.cpu);
    return record;
}

WorkerRecord readWorker(const Reader& reader) {
    WorkerRecord record;
    reader.read("step", record.step);
    reader.read("rank", record.rank);
    reader.read("loss", record.loss);
    reader.read("selected", record.selected);
    reader.read("nonzero", record.nonzero);
    reader.read("bytes_message", record.bytesMessage);
    reader.read("bytes_up", record.bytesUp);
    reader.read("bytes_down", record.bytesDown);
    reader.read("residual_norm", record.residualNorm);
    if (const Json* parts = reader.find("parts"))
        record.parts = readParts(*parts);
    readTimes(reader, "t", record.t);
    readTimes(reader, "cpu", record.cpu);
    return record;
}

EvalRecord readEval(const Reader& reader) {
    EvalRecord record;
    reader.read("step", record.step);
    reader.read("epoch", record.epoch);
    reader.read("split", record.split);
    reader.read("nll", record.nll);
    reader.read("tokens", record.tokens);
    reader.read("perplexity", record.perplexity);
    reader.read("wall_s", record.wallS);
    reader.read("simulated_s", record.simulatedS);
    reader.read("sample", record.sample);
    return record;
}

EventRecord readEvent(const Reader& reader) {
    EventRecord record;
    reader.read("step", record.step);
    reader.read("event", record.event);
    reader.read("details", record.details);
    reader.read("field", record.field);
    reader.read("from", record.from);
    reader.read("to", record.to);
    return record;
}

EndRecord readEnd(const Reader& reader) {
    EndRecord record;
    reader.read("reason", record.reason);
    reader.read("steps", record.steps);
    reader.read("best_valid_perplexity", record.bestValidPerplexity);
    reader.read("test_perplexity", record.testPerplexity);
    reader.read("test_perplexity_at_best", record.testPerplexityAtBest);
    if (const auto totals = reader.group("totals")) {
        totals->read("wall_s", record.wallS);
        totals->read("simulated_s", record.simulatedS);
        totals->read("tokens", record.tokens);
        totals->read("bytes_up", record.bytesUp);
        totals->read("bytes_down", record.bytesDown);
        totals->read("bytes_message", record.bytesMessage);
        totals->read("bytes_dense", record.bytesDense);
        totals->read("bytes_paper", record.bytesPaper);
    }
    if (const auto target = reader.group("target")) {
        std::uint64_t steps = 0;
        target->read("steps", steps);
        record.targetSteps = steps;
        target->read("bytes", record.targetBytes);
        target->read("simulated_s", record.targetSimulatedS);
    }
    reader.read("message", record.message);
    return record;
}

} // namespace

std::optional<Record> parseJsonLine(std::string_view line) {
    // A record has two levels below the experiment's four; deeper text is not ours.
    constexpr int kDeepest = 12;
    bool tooDeep = false;
    const auto limit = [&](int depth, Json::parse_event_t, Json&) {
        tooDeep = tooDeep || depth > kDeepest;
        return !tooDeep;
    };
    Json json;
    try {
        json = Json::parse(line, limit);
    } catch (const Json::exception&) {
        throw DataError("not a JSON object");
    }
    if (tooDeep || !json.is_object())
        throw DataError("not a JSON object");
    const auto nonfinite = json.find("nonfinite");
    const Reader reader(json, nonfinite == json.end() ? nullptr : &*nonfinite, "");
    std::string kind;
    reader.read("kind", kind);
    if (kind == "start")
        return readStart(reader);
    if (kind == "step")
        return readStep(reader);
    if (kind == "worker")
        return readWorker(reader);
    if (kind == "eval")
        return readEval(reader);
    if (kind == "event")
        return readEvent(reader);
    if (kind == "end")
        return readEnd(reader);
    if (kind.empty())
        failLine("kind");
    return std::nullopt;
}

} // namespace gradlab::engine
