// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// train --seeds: the same experiments once from each seed, one run after the other. A folder has a
// run's folder for each (seed-42, …), the experiment, and seeds.json with what they say together.
#pragma once

#include "app/cli/train_command.h"
#include "engine/metrics/step_record.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::app {

/// How one run ended.
struct TrainOutcome {
    int exitCode = 0;
    std::vector<std::optional<engine::EndRecord>> ends; ///< by experiment
};
using TrainOnce =
    std::function<TrainOutcome(const TrainArguments&, const std::vector<FieldOverride>&)>;

/// Whether --out with --seeds made the folder.
[[nodiscard]] bool isSeedSeries(const std::string& folder);

/// Runs the seeds of `arguments`, or those of the folder to resume that have not ended. A seed
/// whose numbers leave the finite range is told and passed over. @return the exit code. @throws the
/// engine's errors
[[nodiscard]] int runSeedSeries(const TrainArguments& arguments,
                                const std::vector<FieldOverride>& overrides,
                                const TrainOnce& trainOnce);

} // namespace gradlab::app
