// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix products of the model, row-major, on plain memory and without allocation.
// A result element is a sum over k in ascending order, in stretches of kDepth whose sums are added
// in turn, whatever the shapes around it: the same bits for any number of threads and for any split
// of rows among callers. Leaves out: products where a vector is one side (they run as one row);
// mixed precision.
#pragma once

#include "engine/core/aligned_buffer.h"

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

/// The right-hand side (k×n) of products, rearranged once so that many products can read it in
/// order.
template <class T>
class PackedMatrix {
public:
    /// Holds `matrix` (k×n).
    void pack(MatrixView<const T> matrix);
    /// Holds the transpose of `matrix` (n×k).
    void packTransposed(MatrixView<const T> matrix);
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
    /// Panels of consecutive columns, each rows() × its width, the last padded with zeros.
    [[nodiscard]] const T* data() const noexcept { return buffer_.data(); }

private:
    void resize(std::size_t rows, std::size_t cols);
    AlignedBuffer<T> buffer_;
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
};

/// c (m×n) = or += a (m×k) · b (k×n). Nothing may overlap `c`.
template <class T>
void multiply(MatrixView<const T> a, const PackedMatrix<T>& b, MatrixView<T> c,
              Accumulate accumulate);
/// c (m×n) = or += a (k×m)ᵀ · b (k×n).
template <class T>
void transposedMultiply(MatrixView<const T> a, const PackedMatrix<T>& b, MatrixView<T> c,
                        Accumulate accumulate);

extern template class PackedMatrix<float>;
extern template class PackedMatrix<double>;

} // namespace gradlab::engine
