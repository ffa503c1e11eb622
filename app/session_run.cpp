// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Run folders and member lists of a session's run; commands are TrainingSession's.
#include "app/session_run.h"

#include "app/scratch_log.h"
#include "engine/metrics/run_folder.h"

namespace gradlab::app {

void SessionSink::record(const engine::Record& record) {
    if (log)
        log->record(record);
    buffer.record(record);
}

void SessionSink::snapshot(const std::shared_ptr<const engine::GradientSnapshot>& snapshot) {
    if (log)
        log->snapshot(snapshot);
    buffer.snapshot(snapshot);
}

void SessionSink::flush() {
    if (log)
        log->flush();
}

void SessionRun::openFolders(const std::filesystem::path& folder) {
    std::vector<engine::Experiment> race;
    for (const auto& member : members)
        race.push_back(member->experiment);
    auto folders = engine::newRunFolders(folder, race);
    for (std::size_t i = 0; i < members.size(); ++i) {
        members[i]->options.checkpointFolder = folders[i]->checkpoints();
        members[i]->logPath = folders[i]->log();
        members[i]->sink.log = std::move(folders[i]);
    }
}

void SessionRun::openScratchLogs(const std::filesystem::path& folder) {
    for (const auto& member : members) {
        member->logPath = folder / ("run-" + std::to_string(member->id) + ".jsonl");
        member->sink.log = std::make_unique<ScratchLog>(member->logPath);
    }
}

std::vector<engine::RunMember> SessionRun::memberList() const {
    std::vector<engine::RunMember> list;
    for (const auto& member : members)
        list.push_back({member->experiment, &member->sink, member->options});
    return list;
}

} // namespace gradlab::app
