// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What compressing one gradient costs, beside a plain copy of it, one step after another as in
// training: memory update, selection and coding as one time, decoding as another. Leaves out:
// frames, the network.
#pragma once

#include "engine/core/export.h"
#include "engine/training/experiment.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>

namespace gradlab::engine {

struct CompressionBenchmark {
    Experiment
        experiment; ///< its compression, precision (f32, f64), seed, workers and threads count
    std::size_t elements = 0;       ///< of one generated tensor, normal times squared normal
    std::filesystem::path gradient; ///< a safetensors file in place of the generated tensor
    int rounds = 15;                ///< each a whole step; times are medians
};

struct CompressionCost {
    std::uint64_t elements = 0;
    std::uint64_t selected = 0;
    double copyMs = 0.0;   ///< one copy of the vector
    double encodeMs = 0.0; ///< memory update, selection, coding, commit
    double decodeMs = 0.0; ///< into the whole vector, zeros written too
    double bytes = 0.0;    ///< payload of the last step's message
    double bytesPaper = 0.0;
    double boundBytes = 0.0;
    double allocations = 0.0; ///< a step, after the first; not a number where none are counted
};

/// @throws ExperimentError, DataError, NumericError as compressGradientFile()
[[nodiscard]] GRADLAB_ENGINE_EXPORT CompressionCost
measureCompression(const CompressionBenchmark& request);

} // namespace gradlab::engine
