// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// metrics.jsonl: a run's records, one JSON object a line, appended and readable at any time. Leaves
// out: what a line looks like (record_json.h).
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/append_file.h"
#include "engine/metrics/record_sink.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

namespace gradlab::engine {

/// Writes each record at once; a crash costs the line being written. Opens its file at the first
/// record, so that a run that never starts leaves none.
class GRADLAB_ENGINE_EXPORT RunLog final : public RecordSink {
public:
    explicit RunLog(std::filesystem::path path);
    ~RunLog() override;
    /// @throws DataError when the file cannot be written.
    void record(const Record& record) override;

private:
    std::filesystem::path path_;
    std::optional<AppendFile> file_;
};

/// Every record of a log in order. A last line that was cut is left out, kinds of later versions
/// too.
/// @throws DataError naming file and line
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<Record>
readRunLog(const std::filesystem::path& path);

/// The same one at a time, for logs of any size: until `use` returns false.
GRADLAB_ENGINE_EXPORT void readRunLog(const std::filesystem::path& path,
                                      const std::function<bool(const Record&)>& use);

/// For resuming at `step`: drops every line past it, every end record, and a cut last line. Written
/// aside and renamed. A missing log stays missing.
/// @throws DataError naming file and line
GRADLAB_ENGINE_EXPORT void cutRunLogAfter(const std::filesystem::path& path, std::uint64_t step);

} // namespace gradlab::engine
