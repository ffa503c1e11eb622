// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/run_fork.h"

#include "engine/core/errors.h"
#include "engine/training/checkpoint.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace gradlab::engine {

namespace {

std::string textOf(const FieldSpec& field, const Experiment& experiment) {
    return isFieldUsed(field, experiment)
               ? formatFieldValue(field, getField(experiment, field.path))
               : "–";
}

/// "folder@120" → folder, 120. A folder of that very name wins.
std::pair<std::filesystem::path, std::optional<std::uint64_t>> split(const std::string& text) {
    const std::size_t at = text.rfind('@');
    std::error_code ignored;
    if (at == std::string::npos || std::filesystem::exists(text, ignored))
        return {text, std::nullopt};
    std::uint64_t step = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + at + 1, end, step);
    if (read.ec != std::errc() || read.ptr != end)
        return {text, std::nullopt};
    return {text.substr(0, at), step};
}

std::string stepsOf(const std::vector<ForkPoint>& points) {
    std::string text;
    for (const ForkPoint& point : points)
        text += (text.empty() ? "" : ", ") + std::to_string(point.step);
    return text;
}

[[noreturn]] void refuse(const FieldSpec& field, const std::string& from, const std::string& to) {
    throw ExperimentError(field.path, field.path + " cannot change in a fork: it is " + from +
                                          " in the checkpoint, " + to + " was asked for (" +
                                          field.option + "); start a new run with it");
}

} // namespace

std::vector<ForkPoint> forkPoints(const std::filesystem::path& folder) {
    std::vector<ForkPoint> points;
    for (auto& [step, path] : listCheckpoints(folder / "checkpoints"))
        points.push_back({step, std::move(path)});
    return points;
}

ForkPoint findForkPoint(const std::string& folderAndStep) {
    const auto asked = split(folderAndStep);
    const std::vector<ForkPoint> points = forkPoints(asked.first);
    if (points.empty())
        throw DataError("no checkpoint to fork from: --fork " + folderAndStep +
                        "; give the folder of one run that has checkpoints, or FOLDER@STEP");
    if (!asked.second)
        return points.back();
    const std::uint64_t step = *asked.second;
    const auto found = std::find_if(points.begin(), points.end(),
                                    [step](const ForkPoint& point) { return point.step == step; });
    if (found == points.end())
        throw DataError("no checkpoint of step " + std::to_string(step) + ": --fork " +
                        folderAndStep + "; there are " + stepsOf(points));
    return *found;
}

bool mayForkChange(const std::string& path) {
    constexpr std::array<std::string_view, 5> kFixed = {"training.batch", "training.bptt",
                                                        "training.precision", "cluster.workers",
                                                        "compression.memory_units"};
    if (path.starts_with("corpus."))
        return false;
    if (path.starts_with("model."))
        return path == "model.dropout";
    return std::find(kFixed.begin(), kFixed.end(), path) == kFixed.end();
}

void requireForkable(const Experiment& origin, const Experiment& wanted) {
    const Experiment before = resolved(origin);
    const Experiment after = resolved(wanted);
    for (const FieldSpec& field : experimentSchema()) {
        const std::string from = textOf(field, before);
        const std::string to = textOf(field, after);
        // A field that only one of them uses came or went with another one.
        if (mayForkChange(field.path) || from == to || !isFieldUsed(field, before) ||
            !isFieldUsed(field, after))
            continue;
        refuse(field, from, to);
    }
    if (after.cluster.transport == "zmq" && before.compression.memory != after.compression.memory)
        throw ExperimentError("compression.memory",
                              "compression.memory cannot change in a fork with worker processes: " +
                                  before.compression.memory + " → " + after.compression.memory +
                                  "; use --transport threads");
}

std::string forkChanges(const Experiment& origin, const Experiment& wanted) {
    const Experiment before = resolved(origin);
    const Experiment after = resolved(wanted);
    std::string text;
    for (const FieldSpec& field : experimentSchema()) {
        const std::string from = textOf(field, before);
        const std::string to = textOf(field, after);
        if (from != to)
            text.append(text.empty() ? "" : ", ")
                .append(field.label)
                .append(" ")
                .append(from)
                .append(" → ")
                .append(to);
    }
    return text;
}

} // namespace gradlab::engine
