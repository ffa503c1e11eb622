// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The three matrix products of the model, row-major, on plain memory. The one place that calls
// Eigen's product. Parallel over blocks of the result that depend on the shapes alone: the same
// bits for any number of threads.
#pragma once

#include <cstddef>

namespace gradlab::engine {

/// Row-major view of someone else's memory; rows are `stride` elements apart.
template <class T>
struct MatrixView {
    MatrixView(T* data_, std::size_t rows_, std::size_t cols_)
        : data(data_), rows(rows_), cols(cols_), stride(cols_) {}
    MatrixView(T* data_, std::size_t rows_, std::size_t cols_, std::size_t stride_)
        : data(data_), rows(rows_), cols(cols_), stride(stride_) {}

    T* data;
    std::size_t rows;
    std::size_t cols;
    std::size_t stride;
};

enum class Accumulate { No, Yes };

/// c (m×n) = or += a (m×k) · b (n×k)ᵀ. No view may overlap `c`.
template <class T>
void multiplyTransposed(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        Accumulate accumulate);

/// c (m×n) = or += a (m×k) · b (k×n).
template <class T>
void multiply(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c, Accumulate accumulate);

/// c (m×n) = or += a (k×m)ᵀ · b (k×n).
template <class T>
void transposedMultiply(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        Accumulate accumulate);

} // namespace gradlab::engine
