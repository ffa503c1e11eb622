// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What one step's compression looked like from inside, as plain data for the gradient inspector:
// histograms of magnitudes, sums a tensor, small maps, and how far the workers chose the same.
//   x = what the compressor saw: gradient plus memory;  D = what a receiver decodes;  x - D = what
//   stayed behind (lost without a memory)
// Bounded: a tensor of a worker takes at most kMostTensorBytes, the one in focus kFocusMapBytes
// more. Leaves out: how it is measured (gradient_reduction.h), how it is written
// (gradient_snapshot_json.h).
#pragma once

#include "engine/core/export.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::engine {

// Bins of magnitude: kBinsPerOctave to each factor of 2, from 2^kLowestOctave on. What is smaller
// or larger is counted in the first or last; exact zeros are counted apart.
inline constexpr int kBinsPerOctave = 4;
inline constexpr int kLowestOctave = -64;
inline constexpr int kOctaves = 80;
inline constexpr std::size_t kMagnitudeBins = static_cast<std::size_t>(kOctaves) * kBinsPerOctave;
/// Smallest magnitude of bin `bin`; of kMagnitudeBins: where the last one ends.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double magnitudeBinEdge(std::size_t bin);

/// Counts of |x|. `all` and `chosen` have the same length and begin with bin `firstBin`; empty
/// bins at either end are left out.
struct MagnitudeHistogram {
    std::uint64_t zeros = 0;
    std::uint64_t chosenZeros = 0;
    std::uint32_t firstBin = 0;
    std::vector<std::uint64_t> all;
    std::vector<std::uint64_t> chosen; ///< sent; of QSGD: not zero after rounding
};

/// How often each level |q| was drawn beside what its probabilities give. Bar i counts the levels
/// [i·width, (i + 1)·width).
struct LevelHistogram {
    static constexpr std::size_t kMostBars = 128;
    std::uint32_t levels = 0; ///< s; 0: the method has none
    std::uint32_t width = 1;
    double unit = 0.0; ///< a level's step, norm / s; 0 with more than one bucket
    std::vector<std::uint64_t> drawn;
    std::vector<double> expected; ///< sum over elements of the probability of the level
};

/// A tensor as rows × columns of cells, each the element of largest magnitude among those it stands
/// for: 0, or its sign times a level on a scale of half octaves.
struct HeatMap {
    static constexpr std::size_t kRows = 32;
    static constexpr std::size_t kColumns = 48;
    static constexpr std::size_t kFocusRows = 128;
    static constexpr std::size_t kFocusColumns = 192;
    std::uint32_t rows = 0;
    std::uint32_t columns = 0;
    std::vector<std::int8_t> toSend; ///< x, row-major
    std::vector<std::int8_t> sent;   ///< D
    std::vector<std::int8_t> stayed; ///< x − D
};
/// Smallest magnitude that a cell of `level` (1…127) stands for, the first being open below and the
/// last above.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double heatLevelEdge(int level);

/// One tensor (or the whole model, with scope model) of one worker. Norms are squared: they add.
struct TensorSnapshot {
    std::uint64_t elements = 0;
    std::uint64_t selected = 0;   ///< elements that the message carries
    std::uint64_t nonzero = 0;    ///< of D
    double squaredGradient = 0.0; ///< of this step's gradient alone, before the memory
    double squaredNorm = 0.0;     ///< ‖x‖²
    double squaredKept = 0.0;     ///< ‖D‖²
    double squaredError = 0.0;    ///< ‖x − D‖²
    double squaredResidual = 0.0; ///< of what waits in the memory after the step; 0 without one
    double largest = 0.0;         ///< |x|
    double smallestChosen = 0.0;  ///< |x|; of a selection only
    double largestLeft = 0.0;     ///< |x| of what a selection left; 0: nothing was left
    bool selection = false;       ///< some elements were chosen, the others left
    MagnitudeHistogram magnitudes;
    LevelHistogram levels;
    HeatMap map;

    /// Whether one magnitude parts what was chosen from what was left: then it is smallestChosen.
    [[nodiscard]] bool hasThreshold() const noexcept {
        return selection && selected > 0 && largestLeft > 0.0 && smallestChosen >= largestLeft;
    }
};

struct WorkerSnapshot {
    std::uint32_t rank = 0;
    double cost = 0.0; ///< CPU seconds that the worker spent on this
    std::vector<TensorSnapshot> tensors;
};

struct SnapshotTensor {
    std::string name;
    std::uint64_t rows = 0; ///< 1 for vectors
    std::uint64_t columns = 0;
    /// [j] = indices that exactly j + 1 of the workers chose; empty where they do not choose.
    std::vector<std::uint64_t> chosenBy;
};

struct GradientSnapshot {
    std::uint64_t step = 0;
    bool scheduled = false; ///< the experiment asked for it: it is kept in the run's folder
    std::string method;
    std::string memory;
    double cost = 0.0;     ///< CPU seconds, of one worker: mean, and its share of putting together
    double stepCost = 0.0; ///< CPU seconds of one worker's step without that: mean
    std::vector<SnapshotTensor> tensors;
    std::vector<WorkerSnapshot> workers; ///< by rank
};

inline constexpr std::size_t kMostTensorBytes =
    sizeof(TensorSnapshot) + 2 * kMagnitudeBins * sizeof(std::uint64_t) +
    LevelHistogram::kMostBars * (sizeof(std::uint64_t) + sizeof(double)) +
    3 * HeatMap::kRows * HeatMap::kColumns;
inline constexpr std::size_t kFocusMapBytes = 3 * HeatMap::kFocusRows * HeatMap::kFocusColumns;

} // namespace gradlab::engine
