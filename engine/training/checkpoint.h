// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that decides the next step, in one safetensors file: parameters under PyTorch's names,
// velocity, the best parameters, every worker's memory and hidden state; counters, experiment and
// corpus hash as metadata. Random numbers need no state: they are functions of seed and step.
// Written aside, synced and renamed.
#pragma once

#include "engine/core/export.h"
#include "engine/training/experiment.h"
#include "engine/training/replica.h"
#include "engine/training/run_totals.h"
#include "engine/training/worker_state.h"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gradlab::engine {

/// What a checkpoint is made of; views of the trainer's own objects.
template <class T>
struct CheckpointContents {
    Replica<T>& replica;
    std::vector<WorkerState<T>> workers; ///< by rank
    AlignedBuffer<T>& best;              ///< parameters of the best validation; empty = none yet
    RunTotals& totals;
    std::string experimentJson;
    std::string corpusHash;
};

/// @throws DataError naming the file.
template <class T>
void writeCheckpoint(const CheckpointContents<T>& contents, const std::filesystem::path& file);

/// Overwrites the contents' state; the workers' becomes a copy of the file's, for whoever holds
/// them. The experiment's model, precision and workers must be the
/// checkpoint's.
/// @throws DataError naming the file if it is damaged, of another corpus, or of another model.
template <class T>
void readCheckpoint(CheckpointContents<T>& contents, const std::filesystem::path& file);

/// The experiment that the checkpoint's run had at that step, changes applied.
/// @throws DataError
[[nodiscard]] GRADLAB_ENGINE_EXPORT Experiment
readCheckpointExperiment(const std::filesystem::path& file);
/// Steps done by the checkpoint's run. @throws DataError
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::uint64_t
readCheckpointStep(const std::filesystem::path& file);

/// "step-120.safetensors"
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string checkpointName(std::uint64_t step);
/// The checkpoint of the highest step in a folder; empty if there is none.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::optional<std::filesystem::path>
latestCheckpoint(const std::filesystem::path& folder);
/// Step and file of every checkpoint in a folder, by rising step.
[[nodiscard]] std::vector<std::pair<std::uint64_t, std::filesystem::path>>
listCheckpoints(const std::filesystem::path& folder);
/// Deletes all but the `keep` checkpoints of the highest steps.
void pruneCheckpoints(const std::filesystem::path& folder, std::size_t keep);

extern template void writeCheckpoint(const CheckpointContents<float>&,
                                     const std::filesystem::path&);
extern template void writeCheckpoint(const CheckpointContents<double>&,
                                     const std::filesystem::path&);
extern template void readCheckpoint(CheckpointContents<float>&, const std::filesystem::path&);
extern template void readCheckpoint(CheckpointContents<double>&, const std::filesystem::path&);

} // namespace gradlab::engine
