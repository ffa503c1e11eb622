// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// inspections.jsonl of a run's folder: the snapshots that the experiment asked for, one a line,
// beside the log. Leaves out: what a line looks like (gradient_snapshot_json.h).
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/append_file.h"
#include "engine/metrics/gradient_snapshot.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace gradlab::engine {

/// Opens its file at the first snapshot: a run that is not looked into has none.
class InspectionLog {
public:
    explicit InspectionLog(std::filesystem::path path) : path_(std::move(path)) {}
    /// @throws DataError when the file cannot be written.
    void append(const GradientSnapshot& snapshot);

private:
    std::filesystem::path path_;
    std::optional<AppendFile> file_;
};

/// A file of snapshots, found line by line and read one at a time. Not thread-safe.
class GRADLAB_ENGINE_EXPORT InspectionFile {
public:
    /// A missing file has no steps. A last line that was cut, and lines of other kinds, are left
    /// out. @throws DataError if it cannot be read
    explicit InspectionFile(std::filesystem::path path);
    [[nodiscard]] const std::vector<std::uint64_t>& steps() const noexcept { return steps_; }
    /// @throws DataError naming file and step
    [[nodiscard]] GradientSnapshot read(std::size_t index) const;

private:
    struct Line {
        std::uint64_t begin = 0;
        std::uint64_t length = 0;
    };
    std::filesystem::path path_;
    std::vector<std::uint64_t> steps_; ///< ascending
    std::vector<Line> lines_;          ///< of steps_
};

/// For resuming at `step`: drops every line past it and a cut last line. Written aside and renamed.
/// A missing file stays missing.
void cutInspectionsAfter(const std::filesystem::path& path, std::uint64_t step);

} // namespace gradlab::engine
