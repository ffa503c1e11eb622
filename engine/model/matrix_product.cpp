// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/matrix_product.h"

#include "engine/core/check.h"
#include "engine/core/parallel.h"
#include "engine/model/eigen_core.h"

#include <algorithm>

namespace gradlab::engine {
namespace {

template <class T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using ConstMap = Eigen::Map<const RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
template <class T>
using MutableMap = Eigen::Map<RowMajor<T>, Eigen::Unaligned, Eigen::OuterStride<>>;

template <class T>
ConstMap<T> mapOf(MatrixView<const T> view) {
    return {view.data, static_cast<Eigen::Index>(view.rows), static_cast<Eigen::Index>(view.cols),
            Eigen::OuterStride<>(static_cast<Eigen::Index>(view.stride))};
}
template <class T>
MutableMap<T> mapOf(MatrixView<T> view) {
    return {view.data, static_cast<Eigen::Index>(view.rows), static_cast<Eigen::Index>(view.cols),
            Eigen::OuterStride<>(static_cast<Eigen::Index>(view.stride))};
}

/// Eigen's blocking, and with it the order of its sums, follows the cache sizes that it is told.
void fixBlocking() {
    static const bool fixed = [] {
        Eigen::setCpuCacheSizes(48 << 10, 1 << 20, 8 << 20);
        return true;
    }();
    static_cast<void>(fixed);
}

/// Result elements along the longer side for one block of at least 4 Mflop.
std::size_t blockSize(std::size_t longSide, std::size_t shortSide, std::size_t depth) {
    constexpr std::size_t kBlockProducts = std::size_t{1} << 21;
    constexpr std::size_t kMultiple = 48;
    const std::size_t perLine = std::max<std::size_t>(1, shortSide * depth);
    const std::size_t lines = (kBlockProducts + perLine - 1) / perLine;
    return std::min(longSide, (lines + kMultiple - 1) / kMultiple * kMultiple);
}

/// Splits the longer side of the result and calls product(firstRow, firstCol, rows, cols).
template <class Product>
void forBlocks(std::size_t rows, std::size_t cols, std::size_t depth, const Product& product) {
    fixBlocking();
    if (rows >= cols) {
        parallelRanges(
            rows, blockSize(rows, cols, depth),
            [&](std::size_t first, std::size_t last) { product(first, 0, last - first, cols); });
    } else {
        parallelRanges(
            cols, blockSize(cols, rows, depth),
            [&](std::size_t first, std::size_t last) { product(0, first, rows, last - first); });
    }
}

template <class T>
MatrixView<T> part(MatrixView<T> view, std::size_t firstRow, std::size_t firstCol, std::size_t rows,
                   std::size_t cols) {
    return {view.data + firstRow * view.stride + firstCol, rows, cols, view.stride};
}

template <class Result, class Left, class Right>
void assign(Result&& result, const Left& left, const Right& right, Accumulate accumulate) {
    if (accumulate == Accumulate::Yes)
        result.noalias() += left * right;
    else
        result.noalias() = left * right;
}

} // namespace

template <class T>
void multiplyTransposed(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        Accumulate accumulate) {
    GRADLAB_CHECK(a.cols == b.cols && a.rows == c.rows && b.rows == c.cols, a.cols, b.cols);
    forBlocks(c.rows, c.cols, a.cols, [&](auto row, auto col, auto rows, auto cols) {
        assign(mapOf(part(c, row, col, rows, cols)), mapOf(part(a, row, 0, rows, a.cols)),
               mapOf(part(b, col, 0, cols, b.cols)).transpose(), accumulate);
    });
}

template <class T>
void multiply(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
              Accumulate accumulate) {
    GRADLAB_CHECK(a.cols == b.rows && a.rows == c.rows && b.cols == c.cols, a.cols, b.rows);
    forBlocks(c.rows, c.cols, a.cols, [&](auto row, auto col, auto rows, auto cols) {
        assign(mapOf(part(c, row, col, rows, cols)), mapOf(part(a, row, 0, rows, a.cols)),
               mapOf(part(b, 0, col, b.rows, cols)), accumulate);
    });
}

template <class T>
void transposedMultiply(MatrixView<const T> a, MatrixView<const T> b, MatrixView<T> c,
                        Accumulate accumulate) {
    GRADLAB_CHECK(a.rows == b.rows && a.cols == c.rows && b.cols == c.cols, a.rows, b.rows);
    forBlocks(c.rows, c.cols, a.rows, [&](auto row, auto col, auto rows, auto cols) {
        assign(mapOf(part(c, row, col, rows, cols)),
               mapOf(part(a, 0, row, a.rows, rows)).transpose(),
               mapOf(part(b, 0, col, b.rows, cols)), accumulate);
    });
}

#define GRADLAB_INSTANTIATE(T)                                                                     \
    template void multiplyTransposed<T>(MatrixView<const T>, MatrixView<const T>, MatrixView<T>,   \
                                        Accumulate);                                               \
    template void multiply<T>(MatrixView<const T>, MatrixView<const T>, MatrixView<T>,             \
                              Accumulate);                                                         \
    template void transposedMultiply<T>(MatrixView<const T>, MatrixView<const T>, MatrixView<T>,   \
                                        Accumulate);
GRADLAB_INSTANTIATE(float)
GRADLAB_INSTANTIATE(double)
#undef GRADLAB_INSTANTIATE

} // namespace gradlab::engine
