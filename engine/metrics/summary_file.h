// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// summary.json: how a run ended, in one object. Written whole at the end record, or not at all.
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/record_sink.h"

#include <filesystem>
#include <string>

namespace gradlab::engine {

/// The document: reason, steps, perplexities, totals, both compression ratios, the experiment. Ends
/// with a newline.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string summaryJson(const StartRecord& start,
                                                            const EndRecord& end);

class GRADLAB_ENGINE_EXPORT SummaryFile final : public RecordSink {
public:
    explicit SummaryFile(std::filesystem::path path);
    ~SummaryFile() override;
    /// Keeps the start record; writes at the end record. @throws DataError when the file cannot be
    /// written.
    void record(const Record& record) override;

private:
    std::filesystem::path path_;
    StartRecord start_;
};

} // namespace gradlab::engine
