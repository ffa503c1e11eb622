// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One step of one worker on gradients of a user's own: a safetensors file in, each tensor's cost
// out, and what a receiver would decode. The memory is read from and written to files too, so that
// calls in a row are steps in a row. Leaves out: training, several workers, frames.
#pragma once

#include "engine/core/export.h"
#include "engine/core/safetensors.h"
#include "engine/model/parameter_layout.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gradlab::engine {

struct GradientFileRequest {
    Experiment experiment; ///< its compression, precision (f32 or f64), seed, lr and workers count
    std::filesystem::path input;
    std::filesystem::path output;   ///< decoded tensors, same names and shapes; empty: none
    std::filesystem::path stateIn;  ///< memory to start from; empty: zeros
    std::filesystem::path stateOut; ///< memory afterwards; empty: not kept
    std::filesystem::path uniforms; ///< QSGD's random numbers in [0, 1); empty: drawn from the seed
    std::uint64_t step = 1;
    std::uint64_t epoch = 0;
};

/// What one unit cost: a tensor, or "model" with that scope.
struct UnitCost {
    std::string name;
    std::uint64_t elements = 0;
    std::uint64_t selected = 0;
    std::uint64_t bytesMessage = 0; ///< frame header and descriptor included
    double bytesPaper = 0.0;
    double boundBytes = 0.0;
    double error = 0.0;      ///< ‖p − D(p)‖ / ‖p‖, 0 for p = 0
    double energyKept = 0.0; ///< ‖D(p)‖² / ‖p‖², 1 for p = 0
    double encodeMs = 0.0;   ///< memory update, selection, coding
    double decodeMs = 0.0;
};

/// A gradient's tensors, in the file's order. @throws DataError if there are none, or empty ones
[[nodiscard]] ParameterLayout gradientLayout(const SafetensorsFile& file);

/// Units in the file's order.
/// @throws ExperimentError for an experiment that is not valid; DataError for files (output files
/// are written
///         whole or not at all); NumericError for a gradient that is not finite
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<UnitCost>
compressGradientFile(const GradientFileRequest& request);

} // namespace gradlab::engine
