// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A fork: another run that goes on from a run's checkpoint, with some of its fields changed. Here
// is what may change and where the checkpoints are; loading one is the trainer's.
#pragma once

#include "engine/core/export.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gradlab::engine {

/// Where a run can be forked.
struct ForkPoint {
    std::uint64_t step = 0;
    std::filesystem::path checkpoint;
};

/// The checkpoints of the run in `folder` by rising step; none if it has none, or is no run's
/// folder.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<ForkPoint>
forkPoints(const std::filesystem::path& folder);

/// "runs/monday", its latest checkpoint, or "runs/monday@120", the one of step 120.
/// @throws DataError naming what there is
[[nodiscard]] GRADLAB_ENGINE_EXPORT ForkPoint findForkPoint(const std::string& folderAndStep);

/// Whether a fork may have another value of the field than the checkpoint's run. Not what text,
/// parameters, hidden states and memories are made for: corpus, model, batch, bptt, precision,
/// workers, memory_units.
[[nodiscard]] GRADLAB_ENGINE_EXPORT bool mayForkChange(const std::string& path);

/// @throws ExperimentError naming the first field that a fork of `origin` cannot have as `wanted`
/// has it
GRADLAB_ENGINE_EXPORT void requireForkable(const Experiment& origin, const Experiment& wanted);

/// "Learning rate 20 → 5, Memory none → residual"; empty if nothing is changed. The name does not
/// count.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string forkChanges(const Experiment& origin,
                                                            const Experiment& wanted);

} // namespace gradlab::engine
