// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines are hostile: wrong types and lengths are errors, never a crash.
#include "engine/metrics/gradient_snapshot_json.h"

#include "engine/core/errors.h"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <limits>

namespace gradlab::engine {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kLineBegin = R"({"kind":"inspection","step":)";
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string toBase64(const std::vector<std::int8_t>& bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t j = 0; j < 3; ++j)
            group = group << 8U | (j < count ? static_cast<std::uint8_t>(bytes[i + j]) : 0U);
        for (std::size_t j = 0; j < 4; ++j)
            text += j <= count ? kDigits[group >> (18U - 6U * j) & 63U] : '=';
    }
    return text;
}

std::vector<std::int8_t> fromBase64(std::string_view text) {
    std::vector<std::int8_t> bytes;
    std::uint32_t group = 0;
    unsigned bits = 0;
    while (text.ends_with('='))
        text.remove_suffix(1);
    for (const char c : text) {
        const std::size_t digit = kDigits.find(c);
        if (digit == std::string_view::npos)
            throw DataError("a map is not base64");
        group = group << 6U | static_cast<std::uint32_t>(digit);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes.push_back(static_cast<std::int8_t>(static_cast<std::uint8_t>(group >> bits)));
        }
    }
    return bytes;
}

/// A whole number that fits; the library's own conversion would cut or wrap others.
template <class Count>
void count(const Json& value, Count& out) {
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > std::numeric_limits<Count>::max())
        throw DataError("a count is not a whole number");
    out = static_cast<Count>(value.get<std::uint64_t>());
}

void counts(const Json& list, std::vector<std::uint64_t>& out) {
    if (!list.is_array())
        throw DataError("counts are not a list");
    for (const Json& value : list)
        count(value, out.emplace_back());
}

/// JSON has no NaN and no infinity.
double real(const Json& object, const char* key) {
    const Json& value = object.at(key);
    return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

Json toJson(const MagnitudeHistogram& histogram) {
    return {{"zeros", histogram.zeros},
            {"chosen_zeros", histogram.chosenZeros},
            {"first_bin", histogram.firstBin},
            {"all", histogram.all},
            {"chosen", histogram.chosen}};
}

MagnitudeHistogram magnitudesFrom(const Json& json) {
    MagnitudeHistogram histogram;
    count(json.at("zeros"), histogram.zeros);
    count(json.at("chosen_zeros"), histogram.chosenZeros);
    count(json.at("first_bin"), histogram.firstBin);
    counts(json.at("all"), histogram.all);
    counts(json.at("chosen"), histogram.chosen);
    if (histogram.firstBin > kMagnitudeBins || histogram.all.size() != histogram.chosen.size() ||
        histogram.all.size() > kMagnitudeBins - histogram.firstBin)
        throw DataError("a histogram has more bins than there are");
    return histogram;
}

Json toJson(const LevelHistogram& levels) {
    return {{"levels", levels.levels},
            {"width", levels.width},
            {"unit", levels.unit},
            {"drawn", levels.drawn},
            {"expected", levels.expected}};
}

LevelHistogram levelsFrom(const Json& json) {
    LevelHistogram levels;
    count(json.at("levels"), levels.levels);
    count(json.at("width"), levels.width);
    levels.unit = real(json, "unit");
    counts(json.at("drawn"), levels.drawn);
    json.at("expected").get_to(levels.expected);
    if (levels.width == 0 || levels.drawn.size() != levels.expected.size() ||
        levels.drawn.size() > LevelHistogram::kMostBars)
        throw DataError("the levels do not fit each other");
    return levels;
}

Json toJson(const HeatMap& map) {
    return {{"rows", map.rows},
            {"columns", map.columns},
            {"to_send", toBase64(map.toSend)},
            {"sent", toBase64(map.sent)},
            {"stayed", toBase64(map.stayed)}};
}

HeatMap mapFrom(const Json& json) {
    HeatMap map;
    count(json.at("rows"), map.rows);
    count(json.at("columns"), map.columns);
    map.toSend = fromBase64(json.at("to_send").get_ref<const std::string&>());
    map.sent = fromBase64(json.at("sent").get_ref<const std::string&>());
    map.stayed = fromBase64(json.at("stayed").get_ref<const std::string&>());
    const std::size_t cells = std::size_t{map.rows} * map.columns;
    if (map.rows > HeatMap::kFocusRows || map.columns > HeatMap::kFocusColumns ||
        map.toSend.size() != cells || map.sent.size() != cells || map.stayed.size() != cells)
        throw DataError("a map has other than rows times columns cells");
    return map;
}

Json toJson(const TensorSnapshot& tensor) {
    Json json = {{"elements", tensor.elements},
                 {"selected", tensor.selected},
                 {"nonzero", tensor.nonzero},
                 {"squared_gradient", tensor.squaredGradient},
                 {"squared_norm", tensor.squaredNorm},
                 {"squared_kept", tensor.squaredKept},
                 {"squared_error", tensor.squaredError},
                 {"squared_residual", tensor.squaredResidual},
                 {"largest", tensor.largest},
                 {"smallest_chosen", tensor.smallestChosen},
                 {"largest_left", tensor.largestLeft},
                 {"selection", tensor.selection},
                 {"magnitudes", toJson(tensor.magnitudes)}};
    if (tensor.levels.levels > 0)
        json["levels"] = toJson(tensor.levels);
    json["map"] = toJson(tensor.map);
    return json;
}

TensorSnapshot tensorFrom(const Json& json) {
    TensorSnapshot tensor;
    count(json.at("elements"), tensor.elements);
    count(json.at("selected"), tensor.selected);
    count(json.at("nonzero"), tensor.nonzero);
    tensor.squaredGradient = real(json, "squared_gradient");
    tensor.squaredNorm = real(json, "squared_norm");
    tensor.squaredKept = real(json, "squared_kept");
    tensor.squaredError = real(json, "squared_error");
    tensor.squaredResidual = real(json, "squared_residual");
    tensor.largest = real(json, "largest");
    tensor.smallestChosen = real(json, "smallest_chosen");
    tensor.largestLeft = real(json, "largest_left");
    json.at("selection").get_to(tensor.selection);
    tensor.magnitudes = magnitudesFrom(json.at("magnitudes"));
    if (json.contains("levels"))
        tensor.levels = levelsFrom(json.at("levels"));
    tensor.map = mapFrom(json.at("map"));
    return tensor;
}

GradientSnapshot snapshotFrom(const Json& json) {
    GradientSnapshot snapshot;
    count(json.at("step"), snapshot.step);
    json.at("method").get_to(snapshot.method);
    json.at("memory").get_to(snapshot.memory);
    snapshot.cost = real(json, "cost_s");
    snapshot.stepCost = real(json, "step_s");
    for (const Json& entry : json.at("tensors")) {
        SnapshotTensor tensor;
        entry.at("name").get_to(tensor.name);
        count(entry.at("rows"), tensor.rows);
        count(entry.at("columns"), tensor.columns);
        counts(entry.at("chosen_by"), tensor.chosenBy);
        snapshot.tensors.push_back(std::move(tensor));
    }
    for (const Json& entry : json.at("workers")) {
        WorkerSnapshot worker;
        count(entry.at("rank"), worker.rank);
        worker.cost = real(entry, "cost_s");
        for (const Json& tensor : entry.at("tensors"))
            worker.tensors.push_back(tensorFrom(tensor));
        if (worker.tensors.size() != snapshot.tensors.size())
            throw DataError("a worker has other tensors than the step");
        snapshot.workers.push_back(std::move(worker));
    }
    return snapshot;
}

} // namespace

std::string toJsonLine(const GradientSnapshot& snapshot) {
    Json json = {{"kind", "inspection"},      {"step", snapshot.step},
                 {"method", snapshot.method}, {"memory", snapshot.memory},
                 {"cost_s", snapshot.cost},   {"step_s", snapshot.stepCost},
                 {"tensors", Json::array()},  {"workers", Json::array()}};
    for (const SnapshotTensor& tensor : snapshot.tensors)
        json["tensors"].push_back({{"name", tensor.name},
                                   {"rows", tensor.rows},
                                   {"columns", tensor.columns},
                                   {"chosen_by", tensor.chosenBy}});
    for (const WorkerSnapshot& worker : snapshot.workers) {
        Json tensors = Json::array();
        for (const TensorSnapshot& tensor : worker.tensors)
            tensors.push_back(toJson(tensor));
        json["workers"].push_back(
            {{"rank", worker.rank}, {"cost_s", worker.cost}, {"tensors", std::move(tensors)}});
    }
    return json.dump() + '\n';
}

GradientSnapshot parseSnapshotLine(std::string_view line) {
    try {
        const Json json = Json::parse(line);
        if (json.at("kind") != "inspection")
            throw DataError("not an inspection");
        return snapshotFrom(json);
    } catch (const Json::exception& error) {
        throw DataError(std::string("not an inspection (") + error.what() + ")");
    }
}

std::optional<std::uint64_t> snapshotLineStep(std::string_view line) noexcept {
    if (!line.starts_with(kLineBegin))
        return std::nullopt;
    line.remove_prefix(kLineBegin.size());
    std::uint64_t step = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
    const bool ended = end != line.data() + line.size() && *end == ',';
    return error == std::errc{} && ended ? std::optional(step) : std::nullopt;
}

} // namespace gradlab::engine
