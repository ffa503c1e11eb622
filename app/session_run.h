// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a session holds of one run: its members with their buffers and logs, and its thread.
// Used by TrainingSession alone.
#pragma once

#include "engine/metrics/record_buffer.h"
#include "engine/metrics/record_sink.h"
#include "engine/training/training_run.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

namespace gradlab::app {

/// Hands each record to the log first, then to the window's buffer.
class SessionSink final : public engine::RecordSink {
public:
    void record(const engine::Record& record) override;
    void snapshot(const std::shared_ptr<const engine::GradientSnapshot>& snapshot) override;
    void flush() override;

    engine::RecordBuffer buffer;
    std::unique_ptr<engine::RecordSink> log; ///< null if nobody wants one
};

struct SessionMember {
    SessionMember(int runId, engine::Experiment what) : id(runId), experiment(std::move(what)) {}

    int id;
    engine::Experiment experiment;
    engine::TrainerOptions options;
    SessionSink sink;
    std::filesystem::path logPath;       ///< empty: none
    std::vector<engine::Record> waiting; ///< taken from the buffer, not handed on yet
    std::size_t handedOn = 0;            ///< of `waiting`
};

struct SessionRun {
    std::uint64_t number = 0;
    std::vector<std::unique_ptr<SessionMember>> members;
    bool started = false;
    std::atomic<bool> statePending = false;   ///< a queued call will look at the state
    std::unique_ptr<engine::TrainingRun> run; ///< last: its thread uses everything above

    /// @throws ExperimentError if `folder` is neither new nor empty. A race has a folder for each
    /// member.
    void openFolders(const std::filesystem::path& folder);
    void openScratchLogs(const std::filesystem::path& folder);
    [[nodiscard]] std::vector<engine::RunMember> memberList() const;
};

} // namespace gradlab::app
