// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How products see their operands.
#pragma once

#include <cstddef>

namespace gradlab::engine {

/// Row-major view of someone else's memory; rows are `stride` elements apart.
template <class T>
struct MatrixView {
    MatrixView(T* first, std::size_t rowCount, std::size_t columnCount)
        : data(first), rows(rowCount), cols(columnCount), stride(columnCount) {}

    T* data;
    std::size_t rows;
    std::size_t cols;
    std::size_t stride;
};

enum class Accumulate { No, Yes };

} // namespace gradlab::engine
