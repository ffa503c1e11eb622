// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/checkpoint.h"

#include "engine/core/errors.h"
#include "engine/core/safetensors.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace gradlab::engine {

namespace {

constexpr const char* kFormat = "gradlab-checkpoint-1";

std::string workerPrefix(std::size_t rank) {
    return "worker." + std::to_string(rank) + ".";
}

void requireFormat(const SafetensorsFile& file) {
    const auto found = file.metadata().find("format");
    if (found == file.metadata().end() || found->second != kFormat)
        throw DataError("not a checkpoint of this program's version: " + file.name() +
                        "; resume from a run folder's checkpoints/step-N.safetensors");
    file.requireIntact();
}

std::optional<std::uint64_t> stepOfName(const std::string& name) {
    constexpr std::string_view begin = "step-";
    constexpr std::string_view end = ".safetensors";
    if (!name.starts_with(begin) || !name.ends_with(end))
        return std::nullopt;
    const std::string_view digits =
        std::string_view(name).substr(begin.size(), name.size() - begin.size() - end.size());
    std::uint64_t step = 0;
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (result.ec != std::errc() || result.ptr != digits.data() + digits.size())
        return std::nullopt;
    return step;
}

} // namespace

template <class T>
void writeCheckpoint(const CheckpointContents<T>& contents, const std::filesystem::path& file) {
    SafetensorsWriter writer;
    contents.replica.addTo(writer);
    if (!contents.best.empty())
        writer.add("best", {contents.best.size()}, std::as_const(contents.best).span());
    for (std::size_t rank = 0; rank < contents.workers.size(); ++rank)
        addWorkerState(writer, workerPrefix(rank), contents.workers[rank]);
    writer.addChecksum();
    writer.setMetadata("format", kFormat);
    writer.setMetadata("totals", totalsToJson(contents.totals));
    writer.setMetadata("experiment", contents.experimentJson);
    writer.setMetadata("corpus_hash", contents.corpusHash);
    writer.write(file);
}

template <class T>
void readCheckpoint(CheckpointContents<T>& contents, const std::filesystem::path& path) {
    const SafetensorsFile file = SafetensorsFile::read(path);
    requireFormat(file);
    if (file.metadata("corpus_hash") != contents.corpusHash)
        throw DataError("the corpus is not the one that the run was trained on: " + path.string() +
                        "; resume with the same text");
    contents.replica.loadFrom(file);
    if (file.contains("best")) {
        contents.best = AlignedBuffer<T>(contents.replica.parameters().size());
        file.copyTo("best", contents.best.span());
    }
    for (std::size_t rank = 0; rank < contents.workers.size(); ++rank)
        contents.workers[rank] = readWorkerState<T>(file, workerPrefix(rank));
    contents.totals = totalsFromJson(file.metadata("totals"), path.string());
}

Experiment readCheckpointExperiment(const std::filesystem::path& path) {
    const SafetensorsFile file = SafetensorsFile::read(path);
    requireFormat(file);
    return parseExperiments(file.metadata("experiment"), path.string()).front();
}

std::uint64_t readCheckpointStep(const std::filesystem::path& path) {
    const SafetensorsFile file = SafetensorsFile::read(path);
    requireFormat(file);
    return totalsFromJson(file.metadata("totals"), path.string()).step;
}

std::string checkpointName(std::uint64_t step) {
    return "step-" + std::to_string(step) + ".safetensors";
}

std::vector<std::pair<std::uint64_t, std::filesystem::path>>
listCheckpoints(const std::filesystem::path& folder) {
    std::vector<std::pair<std::uint64_t, std::filesystem::path>> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (const auto step = stepOfName(entry.path().filename().string()))
            found.emplace_back(*step, entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

std::optional<std::filesystem::path> latestCheckpoint(const std::filesystem::path& folder) {
    const auto found = listCheckpoints(folder);
    if (found.empty())
        return std::nullopt;
    return found.back().second;
}

void pruneCheckpoints(const std::filesystem::path& folder, std::size_t keep) {
    const auto found = listCheckpoints(folder);
    for (std::size_t i = 0; i + keep < found.size(); ++i) {
        std::error_code ignored;
        std::filesystem::remove(found[i].second, ignored);
    }
}

template void writeCheckpoint(const CheckpointContents<float>&, const std::filesystem::path&);
template void writeCheckpoint(const CheckpointContents<double>&, const std::filesystem::path&);
template void readCheckpoint(CheckpointContents<float>&, const std::filesystem::path&);
template void readCheckpoint(CheckpointContents<double>&, const std::filesystem::path&);

} // namespace gradlab::engine
