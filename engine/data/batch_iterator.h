// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The training stream cut into columns and windows.
//   `batch` columns of equal length R (remainder dropped); a window is `bptt` rows in and the same
//   rows shifted by one as targets; (R − 1) div bptt windows an epoch. Worker w of N sees columns
//   [w·B/N, (w+1)·B/N).
// Evaluation uses the same cut and adds the last, shorter window: R − 1 predictions a column.
#pragma once

#include "engine/core/export.h"
#include "engine/data/corpus.h"
#include "engine/model/language_model.h"

#include <cstddef>
#include <vector>

namespace gradlab::engine {

/// Token ids of some columns, row-major by time: rows × columns. What a coordinator sends to a
/// worker.
struct ColumnBlock {
    TokenIds ids;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t firstColumn = 0; ///< global index of column 0
};

/// Cuts `stream` into `batch` columns and returns columns [first, first + count).
/// @throws DataError if a column would have fewer than two rows.
[[nodiscard]] GRADLAB_ENGINE_EXPORT ColumnBlock cutColumns(const TokenIds& stream,
                                                           std::size_t batch, std::size_t first,
                                                           std::size_t count);

/// Walks the windows of a block. A position is a window's number within the epoch.
class GRADLAB_ENGINE_EXPORT BatchIterator {
public:
    /// `keepShortWindow`: evaluation's rule. Keeps a reference: `block` must outlive the iterator.
    BatchIterator(const ColumnBlock& block, std::size_t bptt, bool keepShortWindow);
    [[nodiscard]] std::size_t windows() const noexcept { return windows_; }
    /// Inputs and targets of a window: views into the block, valid while it lives.
    [[nodiscard]] Window window(std::size_t position) const;

private:
    const ColumnBlock& block_;
    std::size_t bptt_;
    std::size_t windows_;
};

} // namespace gradlab::engine
