// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From one unit's vectors to its TensorSnapshot: a few linear walks, no state. Leaves out: where
// the vectors come from (training/gradient_inspector.h), counting across workers' messages.
#pragma once

#include "engine/metrics/gradient_snapshot.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gradlab::engine {

/// What a unit's message held, besides the decoded values.
template <class T>
struct UnitContents {
    std::uint64_t selected = 0;
    /// Whether some were chosen: Sparse, SeededSparse and their dense fallback.
    bool selection = false;
    /// Of a selection, ascending; empty if the message does not tell them (its dense fallback):
    /// then those that are not zero.
    std::span<const std::uint32_t> indices;
    std::uint32_t levels = 0; ///< s of QSGD, else 0
    std::size_t bucket = 0;   ///< elements with one norm; the last may be shorter
    std::span<const T> norms; ///< of the buckets
};

/// How a unit is laid out and how fine its map is to be.
struct UnitLayout {
    std::size_t rows = 1;
    std::size_t columns = 0; ///< rows · columns = elements
    std::size_t mapRows = HeatMap::kRows;
    std::size_t mapColumns = HeatMap::kColumns;
};

/// `x` and `decoded` have the unit's size; `decoded` holds x − D afterwards. Everything but
/// squaredGradient and squaredResidual.
template <class T>
[[nodiscard]] TensorSnapshot reduceUnit(std::span<const T> x, std::span<T> decoded,
                                        const UnitContents<T>& contents, const UnitLayout& layout);

/// [j] = how many indices occur in exactly j + 1 of the lists; each list has distinct indices below
/// `elements`.
[[nodiscard]] std::vector<std::uint64_t>
countChosenBy(std::span<const std::vector<std::uint32_t>> lists, std::size_t elements);

extern template TensorSnapshot reduceUnit(std::span<const float>, std::span<float>,
                                          const UnitContents<float>&, const UnitLayout&);
extern template TensorSnapshot reduceUnit(std::span<const double>, std::span<double>,
                                          const UnitContents<double>&, const UnitLayout&);

} // namespace gradlab::engine
