// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Blocking: a stretch of kDepth of k at a time; of b as many panels as fit the second-level cache;
// then row by row of tiles, so that a's few rows stay in the first-level cache while b's panels
// pass by.
#include "engine/model/matrix_product.h"

#include "engine/core/check.h"
#include "engine/core/parallel.h"
#include "engine/model/bf16_product.h"
#include "engine/model/grow_buffer.h"
#include "engine/model/product_kernel.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace gradlab::engine {
namespace {

constexpr std::size_t kDepth = 384;
constexpr std::size_t kPackedRows = 512;                     // a task
constexpr std::size_t kCachedBytes = 512 << 10;              // of b
constexpr std::size_t kBlockProducts = std::size_t{1} << 21; // a task: 4 Mflop or more

constexpr std::size_t roundUp(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/// A panel's width in memory: its columns rounded up to whole vectors.
template <class T>
std::size_t panelWidth(std::size_t cols, std::size_t firstColumn) {
    using Kernel = ProductKernel<T>;
    return std::min(Kernel::kColumns, roundUp(cols - firstColumn, Kernel::kLanes));
}

/// Part of a product: result rows and columns, columns in whole panels.
struct Range {
    std::size_t firstRow;
    std::size_t lastRow;
    std::size_t firstColumn;
    std::size_t lastColumn;
};

/// a as it comes: m×k.
template <class T>
class PlainLeft {
public:
    static constexpr std::size_t kLeastRows = ProductKernel<T>::kRows; ///< worth a task
    explicit PlainLeft(MatrixView<const T> matrix) : matrix_(matrix) {}
    [[nodiscard]] typename ProductKernel<T>::Left rows(std::size_t firstRow, std::size_t firstDepth,
                                                       std::size_t) const {
        return {matrix_.data + firstRow * matrix_.stride + firstDepth, matrix_.stride, 1};
    }
    void fetchAhead(std::size_t) const {}

private:
    MatrixView<const T> matrix_;
};

/// The transpose of a k×m matrix. Columns of several tiles are copied together: a row of the matrix
/// may be pages away from the next, and what is read of it should be worth the way.
template <class T>
class TransposedLeft {
    static constexpr std::size_t kRows = ProductKernel<T>::kRows;
    static constexpr std::size_t kTiles = 6;
    static constexpr std::size_t kFetchedRows = 8; ///< at once: as many lines as can be on the way

public:
    static constexpr std::size_t kLeastRows = kRows * kTiles; ///< worth a task
    explicit TransposedLeft(MatrixView<const T> matrix) : matrix_(matrix) {}
    [[nodiscard]] typename ProductKernel<T>::Left rows(std::size_t firstRow, std::size_t firstDepth,
                                                       std::size_t depth) {
        if (firstDepth != depth_ || firstRow < first_ || firstRow >= end_)
            copy(firstRow, firstDepth, depth);
        return {copy_.data() + (firstRow - first_) * kDepth, 1, kRows};
    }
    /// Brings some of what will be copied next into the cache; called once for each tile of c.
    void fetchAhead(std::size_t depth) {
        if (end_ >= matrix_.cols)
            return;
        const std::size_t last = std::min(depth, fetched_ + kFetchedRows);
        const T* from = matrix_.data + (depth_ + fetched_) * matrix_.stride + end_;
        const std::size_t width = std::min(matrix_.cols - end_, kTiles * kRows);
        for (; fetched_ < last; ++fetched_, from += matrix_.stride)
            for (std::size_t i = 0; i < width; i += kBufferAlignment / sizeof(T))
                __builtin_prefetch(from + i);
    }

private:
    void copy(std::size_t firstRow, std::size_t firstDepth, std::size_t depth) {
        first_ = firstRow;
        end_ = std::min(matrix_.cols, firstRow + kTiles * kRows);
        depth_ = firstDepth;
        fetched_ = 0;
        const std::size_t whole = (end_ - first_) / kRows * kRows;
        const T* from = matrix_.data + firstDepth * matrix_.stride + firstRow;
        for (std::size_t k = 0; k < depth; ++k, from += matrix_.stride) {
            T* to = copy_.data() + k * kRows;
            for (std::size_t i = 0; i < whole; i += kRows)
                std::copy_n(from + i, kRows, to + i * kDepth);
            for (std::size_t i = whole; i < end_ - first_; ++i)
                to[whole * kDepth + i - whole] = from[i];
        }
    }

    MatrixView<const T> matrix_;
    std::size_t first_ = 0;   ///< rows of the transpose from here
    std::size_t end_ = 0;     ///< to here are in copy_
    std::size_t depth_ = 0;   ///< from this k on
    std::size_t fetched_ = 0; ///< rows of what comes next
    alignas(kBufferAlignment) std::array<T, kDepth * kRows * kTiles> copy_; ///< not initialised
};

/// Stretches of k of nearly equal length, so that none is too short to pay for reading c.
std::size_t stretch(std::size_t depth) {
    const std::size_t stretches = (depth + kDepth - 1) / kDepth;
    return roundUp((depth + stretches - 1) / stretches, 8);
}

template <class T, class Left>
void multiplyRange(Left& a, const PackedMatrix<T>& b, MatrixView<T> c, const Range& range,
                   Accumulate accumulate) {
    using Kernel = ProductKernel<T>;
    const std::size_t step = stretch(b.rows());
    for (std::size_t k = 0; k < b.rows(); k += step) {
        const std::size_t depth = std::min(step, b.rows() - k);
        const bool add = accumulate == Accumulate::Yes || k > 0;
        const std::size_t panels =
            std::max<std::size_t>(1, kCachedBytes / sizeof(T) / depth / Kernel::kColumns);
        const std::size_t width = panels * Kernel::kColumns;
        for (std::size_t first = range.firstColumn; first < range.lastColumn; first += width) {
            const std::size_t last = std::min(range.lastColumn, first + width);
            for (std::size_t row = range.firstRow; row < range.lastRow; row += Kernel::kRows) {
                const std::size_t rows = std::min(Kernel::kRows, range.lastRow - row);
                const auto left = a.rows(row, k, depth);
                for (std::size_t col = first; col < last; col += Kernel::kColumns) {
                    const std::size_t stride = panelWidth<T>(b.cols(), col);
                    a.fetchAhead(depth);
                    Kernel::run(rows, depth, left, {b.data() + col * b.rows() + k * stride, stride},
                                {c.data + row * c.stride + col, c.stride,
                                 std::min(Kernel::kColumns, last - col), add});
                }
            }
        }
    }
}

/// Splits the longer side of the result into tasks, in whole tiles. Left is made in each task: it
/// holds that task's copy.
template <class T, class Left>
void multiplyBlocks(MatrixView<const T> a, const PackedMatrix<T>& b, MatrixView<T> c,
                    Accumulate accumulate) {
    using Kernel = ProductKernel<T>;
    GRADLAB_CHECK(b.rows() > 0 && b.cols() == c.cols, b.rows(), b.cols(), c.cols);
    const bool byRows = c.rows >= c.cols;
    const std::size_t perLine = std::max<std::size_t>(1, b.rows() * (byRows ? c.cols : c.rows));
    const std::size_t lines = (kBlockProducts + perLine - 1) / perLine;
    const std::size_t grain = roundUp(lines, byRows ? Left::kLeastRows : Kernel::kColumns);
    parallelRanges(byRows ? c.rows : c.cols, grain, [&](std::size_t first, std::size_t last) {
        const Range range = byRows ? Range{first, last, 0, c.cols} : Range{0, c.rows, first, last};
        Left left(a);
        multiplyRange<T>(left, b, c, range, accumulate);
    });
}

template <class T>
MatrixView<const Bfloat> rounded(const Factor<T>& factor) {
    GRADLAB_CHECK(factor.rounded != nullptr, factor.exact.rows, factor.exact.cols);
    return {factor.rounded, factor.exact.rows, factor.exact.cols};
}

} // namespace

template <class T>
PackedMatrix<T>::PackedMatrix(ProductType type) {
    GRADLAB_CHECK(type == ProductType::Native || (std::is_same_v<T, float>));
    if (type == ProductType::Bf16)
        bf16_ = std::make_unique<Bf16Right>();
}
template <class T>
PackedMatrix<T>::~PackedMatrix() = default;
template <class T>
PackedMatrix<T>::PackedMatrix(PackedMatrix&&) noexcept = default;
template <class T>
PackedMatrix<T>& PackedMatrix<T>::operator=(PackedMatrix&&) noexcept = default;

template <class T>
void PackedMatrix<T>::resize(std::size_t rows, std::size_t cols) {
    rows_ = rows;
    cols_ = cols;
    if (bf16_ != nullptr)
        return;
    static_cast<void>(grow(buffer_, rows * roundUp(cols, ProductKernel<T>::kLanes)));
}

template <class T>
void PackedMatrix<T>::pack(const Factor<T>& factor) {
    const MatrixView<const T> matrix = factor.exact;
    resize(matrix.rows, matrix.cols);
    if (bf16_ != nullptr)
        return bf16_->pack(rounded(factor));
    parallelRanges(rows_, kPackedRows, [&](std::size_t begin, std::size_t end) {
        for (std::size_t first = 0; first < cols_; first += ProductKernel<T>::kColumns) {
            const std::size_t width = panelWidth<T>(cols_, first);
            const std::size_t used = std::min(width, cols_ - first);
            T* to = buffer_.data() + first * rows_ + begin * width;
            for (std::size_t k = begin; k < end; ++k, to += width) {
                std::copy_n(matrix.data + k * matrix.stride + first, used, to);
                std::fill_n(to + used, width - used, T{0});
            }
        }
    });
}

template <class T>
void PackedMatrix<T>::packTransposed(const Factor<T>& factor) {
    const MatrixView<const T> matrix = factor.exact;
    resize(matrix.cols, matrix.rows);
    if (bf16_ != nullptr)
        return bf16_->packTransposed(rounded(factor));
    constexpr std::size_t kColumns = ProductKernel<T>::kColumns;
    constexpr std::size_t kLine = kBufferAlignment / sizeof(T);
    parallelRanges(cols_, 4 * kColumns, [&](std::size_t begin, std::size_t end) {
        for (std::size_t first = begin; first < end; first += kColumns) {
            const std::size_t width = panelWidth<T>(cols_, first);
            const std::size_t used = std::min(width, cols_ - first);
            T* panel = buffer_.data() + first * rows_;
            if (used < width)
                std::fill_n(panel, rows_ * width, T{0});
            // A cache line of each row at a time.
            for (std::size_t k0 = 0; k0 < rows_; k0 += kLine)
                for (std::size_t j = 0; j < used; ++j) {
                    const T* from = matrix.data + (first + j) * matrix.stride;
                    for (std::size_t k = k0; k < std::min(rows_, k0 + kLine); ++k)
                        panel[k * width + j] = from[k];
                }
        }
    });
}

template <class T>
void multiply(const Factor<T>& a, const PackedMatrix<T>& b, MatrixView<T> c,
              Accumulate accumulate) {
    GRADLAB_CHECK(a.exact.cols == b.rows() && a.exact.rows == c.rows, a.exact.cols, b.rows(),
                  a.exact.rows, c.rows);
    if constexpr (std::is_same_v<T, float>)
        if (b.bf16() != nullptr)
            return b.bf16()->multiply(rounded(a), c, accumulate);
    multiplyBlocks<T, PlainLeft<T>>(a.exact, b, c, accumulate);
}

template <class T>
void transposedMultiply(const Factor<T>& a, const Factor<T>& b, PackedMatrix<T>& scratch,
                        MatrixView<T> c, Accumulate accumulate) {
    GRADLAB_CHECK(a.exact.rows == b.exact.rows && a.exact.cols == c.rows, a.exact.rows,
                  b.exact.rows, a.exact.cols, c.rows);
    if constexpr (std::is_same_v<T, float>)
        if (scratch.bf16() != nullptr)
            return scratch.bf16()->transposedMultiply(rounded(a), rounded(b), c, accumulate);
    scratch.pack(b);
    multiplyBlocks<T, TransposedLeft<T>>(a.exact, scratch, c, accumulate);
}

#define GRADLAB_INSTANTIATE(T)                                                                     \
    template class PackedMatrix<T>;                                                                \
    template void multiply<T>(const Factor<T>&, const PackedMatrix<T>&, MatrixView<T>,             \
                              Accumulate);                                                         \
    template void transposedMultiply<T>(const Factor<T>&, const Factor<T>&, PackedMatrix<T>&,      \
                                        MatrixView<T>, Accumulate);
GRADLAB_INSTANTIATE(float)
GRADLAB_INSTANTIATE(double)
#undef GRADLAB_INSTANTIATE

} // namespace gradlab::engine
