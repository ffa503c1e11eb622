// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/run_folder.h"

#include "engine/core/atomic_file.h"
#include "engine/core/errors.h"
#include "engine/training/checkpoint.h"
#include "engine/training/experiment_schema.h"

#include <unistd.h>

#include <string_view>
#include <system_error>
#include <utility>

namespace gradlab::engine {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void failFolder(const std::string& wrong, const fs::path& folder) {
    throw ExperimentError("", wrong + ": --out " + folder.string() +
                                  "; give a folder that is new or empty");
}

/// The nearest folder above that exists: there the new ones will be made.
fs::path existingParent(const fs::path& folder) {
    fs::path parent = fs::absolute(folder);
    std::error_code error;
    while (!fs::exists(parent, error) && parent.has_relative_path())
        parent = parent.parent_path();
    return parent;
}

/// Checks without changing anything.
void requireUnused(const fs::path& folder) {
    std::error_code error;
    if (folder.empty())
        failFolder("no folder is given", folder);
    const fs::path existing = existingParent(folder);
    if (!fs::is_directory(existing, error))
        failFolder("'" + existing.string() + "' is not a folder", folder);
    if (::access(existing.c_str(), W_OK | X_OK) != 0)
        failFolder("the folder '" + existing.string() + "' may not be written", folder);
    if (fs::exists(folder, error) && !fs::is_empty(folder, error))
        failFolder("the folder is already used", folder);
}

void makeFolder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        failFolder("the folder cannot be made (" + error.message() + ")", folder);
}

void writeDocument(const fs::path& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

ResumePoint resumePointOf(const fs::path& folder) {
    const auto checkpoint = latestCheckpoint(folder / "checkpoints");
    if (!checkpoint)
        throw DataError("no checkpoint to go on from: " + folder.string() +
                        "; start the run anew with its experiment.json");
    return {folder, *checkpoint};
}

} // namespace

RunFolder::RunFolder(fs::path folder, std::vector<Document> documents)
    : path_(std::move(folder)), documents_(std::move(documents)), log_(path_ / "metrics.jsonl"),
      inspections_(path_ / kInspections), events_(path_), summary_(path_ / "summary.json") {}

RunFolder::RunFolder(fs::path folder, std::uint64_t step)
    : RunFolder(std::move(folder), std::vector<Document>{}) {
    resumeStep_ = step;
    resumed_ = true;
}

RunFolder::~RunFolder() = default;

void RunFolder::open() {
    if (resumed_) {
        lock_.emplace(path_);
        cutRunLogAfter(log(), resumeStep_);
        cutInspectionsAfter(inspections(), resumeStep_);
    } else {
        makeFolder(path_);
        lock_.emplace(path_);
        requireUnused(path_);
        makeFolder(checkpoints());
        for (const Document& document : documents_)
            writeDocument(document.path, document.text);
    }
    open_ = true;
}

void RunFolder::record(const Record& record) {
    if (!open_)
        open();
    // A resumed log has its start already; the `resumed` event tells where it goes on.
    if (!(resumed_ && std::holds_alternative<StartRecord>(record)))
        log_.record(record);
    events_.record(record);
    summary_.record(record);
}

void RunFolder::snapshot(const std::shared_ptr<const GradientSnapshot>& snapshot) {
    if (open_ && snapshot->scheduled)
        inspections_.append(*snapshot);
}

void RunFolder::flush() {
    log_.flush();
    events_.flush();
    summary_.flush();
}

std::string raceFolderName(std::size_t index, const Experiment& experiment) {
    std::string name = std::to_string(index + 1);
    bool gap = true;
    for (const char c : displayName(experiment)) {
        const bool upper = c >= 'A' && c <= 'Z';
        const bool plain = upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
        if (plain && gap)
            name += '-';
        if (plain)
            name += upper ? static_cast<char>(c - 'A' + 'a') : c;
        gap = !plain;
    }
    constexpr std::size_t kLongest = 60;
    return name.substr(0, kLongest);
}

std::vector<std::unique_ptr<RunFolder>> newRunFolders(const fs::path& folder,
                                                      const std::vector<Experiment>& race) {
    requireUnused(folder);
    std::vector<std::unique_ptr<RunFolder>> folders;
    using Documents = std::vector<RunFolder::Document>;
    if (race.size() == 1) {
        Documents documents{{folder / "experiment.json", toJson(race.front())}};
        folders.push_back(std::make_unique<RunFolder>(folder, std::move(documents)));
        return folders;
    }
    for (std::size_t i = 0; i < race.size(); ++i) {
        const fs::path own = folder / raceFolderName(i, race[i]);
        Documents documents{{own / "experiment.json", toJson(race[i])}};
        if (i == 0)
            documents.push_back({folder / "experiment.json", raceToJson(race)});
        folders.push_back(std::make_unique<RunFolder>(own, std::move(documents)));
    }
    return folders;
}

std::vector<ResumePoint> findResumePoints(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_regular_file(folder / "experiment.json", error))
        throw DataError("not a run's folder: " + folder.string() +
                        "; give one that --out made, with its experiment.json");
    const auto race = readExperiments(folder / "experiment.json");
    std::vector<ResumePoint> points;
    if (race.size() == 1) {
        points.push_back(resumePointOf(folder));
        return points;
    }
    for (std::size_t i = 0; i < race.size(); ++i)
        points.push_back(resumePointOf(folder / raceFolderName(i, race[i])));
    return points;
}

} // namespace gradlab::engine
