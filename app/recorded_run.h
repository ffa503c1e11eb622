// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs read back from a run folder, to be shown beside those of the session.
#pragma once

#include "engine/metrics/step_record.h"
#include "engine/training/experiment.h"

#include <filesystem>
#include <vector>

namespace gradlab::app {

struct RecordedRun {
    engine::Experiment experiment;
    std::vector<engine::Record> records;
    std::filesystem::path folder;
    std::filesystem::path log; ///< where they are from
};

/// The run of the folder, or those of its sub-folders (a race) and of theirs (one from several
/// seeds).
/// @throws DataError if there is no log in it, or none that can be read.
[[nodiscard]] std::vector<RecordedRun> readRunFolder(const std::filesystem::path& folder);

} // namespace gradlab::app
