// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Finds logs in a folder and two levels below; reading a log is the engine's.
#include "app/recorded_run.h"

#include "engine/core/errors.h"
#include "engine/metrics/run_log.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>

namespace gradlab::app {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLevels = 2; // of a race from several seeds: seed-42/1-dense

void addLogs(const fs::path& folder, int levels, std::vector<fs::path>& logs) {
    std::error_code error;
    if (fs::exists(folder / "metrics.jsonl", error)) {
        logs.push_back(folder / "metrics.jsonl");
        return;
    }
    if (levels == 0)
        return;
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (entry.is_directory(error) && !entry.is_symlink(error))
            folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    for (const fs::path& own : folders)
        addLogs(own, levels - 1, logs);
}

std::vector<fs::path> findLogs(const fs::path& folder) {
    std::vector<fs::path> logs;
    addLogs(folder, kMostLevels, logs);
    return logs;
}

engine::Experiment experimentOf(const std::vector<engine::Record>& records, const fs::path& log) {
    engine::Experiment experiment = engine::defaultExperiment();
    for (const engine::Record& record : records) {
        const auto* start = std::get_if<engine::StartRecord>(&record);
        if (start == nullptr)
            continue;
        try {
            experiment = engine::parseExperiments(start->experimentJson, log.string()).front();
        } catch (const engine::Error&) {
            // Of another version: its records are worth seeing even so.
        }
        break;
    }
    if (experiment.name.empty())
        experiment.name = fs::absolute(log).parent_path().filename().string();
    return experiment;
}

} // namespace

std::vector<RecordedRun> readRunFolder(const fs::path& folder) {
    std::vector<RecordedRun> runs;
    for (const fs::path& log : findLogs(folder)) {
        RecordedRun run;
        run.log = log;
        run.records = engine::readRunLog(log);
        run.folder = log.parent_path();
        run.experiment = experimentOf(run.records, log);
        runs.push_back(std::move(run));
    }
    if (runs.empty())
        throw engine::DataError("no run: " + folder.string() +
                                " has no metrics.jsonl, nor has a folder in it; name a folder "
                                "that was written with --out");
    return runs;
}

} // namespace gradlab::app
