// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A run's folder: experiment.json, metrics.jsonl, summary.json, events.out.tfevents.*,
// checkpoints/, and inspections.jsonl if steps were looked into. A race has a folder for each
// experiment, and its own experiment.json above them. Nothing is made before the run really starts.
// Leaves out: what is in a checkpoint (training).
#pragma once

#include "engine/core/export.h"
#include "engine/core/folder_lock.h"
#include "engine/metrics/event_file.h"
#include "engine/metrics/inspection_log.h"
#include "engine/metrics/record_sink.h"
#include "engine/metrics/run_log.h"
#include "engine/metrics/summary_file.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::engine {

/// One run's folder as a record sink: made at the first record (the start), then fed with every
/// record.
class GRADLAB_ENGINE_EXPORT RunFolder final : public RecordSink {
public:
    ~RunFolder() override;
    /// @throws ExperimentError naming --out if the folder was taken meanwhile or cannot be made;
    /// DataError when it cannot be written, or another program writes it.
    void record(const Record& record) override;
    void snapshot(const std::shared_ptr<const GradientSnapshot>& snapshot) override;
    void flush() override;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoints"; }
    [[nodiscard]] std::filesystem::path log() const { return path_ / "metrics.jsonl"; }
    [[nodiscard]] std::filesystem::path inspections() const { return path_ / kInspections; }
    static constexpr const char* kInspections = "inspections.jsonl";
    /// Whether anything was written, and so there is something to keep.
    [[nodiscard]] bool isOpen() const noexcept { return open_; }

    /// A file to write when the folder is made: where it goes and its text.
    struct Document {
        std::filesystem::path path;
        std::string text;
    };
    /// Of a new run: `documents` are written when it starts.
    RunFolder(std::filesystem::path folder, std::vector<Document> documents);
    /// Of a run that goes on at `step`: what the log has past it is cut when it starts.
    RunFolder(std::filesystem::path folder, std::uint64_t step);

private:
    void open();

    std::filesystem::path path_;
    std::vector<Document> documents_;
    std::optional<FolderLock> lock_; ///< from the first record on
    RunLog log_;
    InspectionLog inspections_;
    EventFile events_;
    SummaryFile summary_;
    std::uint64_t resumeStep_ = 0;
    bool resumed_ = false;
    bool open_ = false;
};

/// Folders of a new run, one an experiment; a single experiment uses `folder` itself. Makes nothing
/// yet.
/// @throws ExperimentError naming --out unless `folder` is new or empty, in a folder that may be
/// written
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<std::unique_ptr<RunFolder>>
newRunFolders(const std::filesystem::path& folder, const std::vector<Experiment>& race);

/// "2-top-k-1" of the race's second experiment "Top-k 1 %".
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string raceFolderName(std::size_t index,
                                                               const Experiment& experiment);

/// One experiment of a run that can go on.
struct ResumePoint {
    std::filesystem::path folder;
    std::filesystem::path checkpoint; ///< the latest; it holds experiment and step
};

/// Where each experiment of the folder's run can go on.
/// @throws DataError if it is no run folder or has no checkpoint
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<ResumePoint>
findResumePoints(const std::filesystem::path& folder);

} // namespace gradlab::engine
