// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The matrix products of the model, row-major, on plain memory and without allocation.
// A result element is a sum over k in ascending order, in stretches of kDepth whose sums are added
// in turn, whatever the shapes around it: the same bits for any number of threads and for any split
// of rows among callers. Instead, the products of floats can be done in bf16 (bf16_product.h): then
// the right-hand side decides, and the left one must have been rounded.
// Leaves out: products where a vector is one side (they run as one row).
#pragma once

#include "engine/core/aligned_buffer.h"
#include "engine/model/bfloat.h"
#include "engine/model/matrix_view.h"

#include <cstddef>
#include <memory>

namespace gradlab::engine {

class Bf16Right;

/// Native: in the matrix's own type. Bf16: of operands rounded to bf16, summed in f32; for floats.
enum class ProductType { Native, Bf16 };

/// What a product reads: a row-major matrix and, where they are needed, its elements rounded.
template <class T>
struct Factor {
    Factor(const T* first, std::size_t rows, std::size_t cols,
           const Bfloat* roundedElements = nullptr)
        : exact(first, rows, cols), rounded(roundedElements) {}
    MatrixView<const T> exact;
    const Bfloat* rounded; ///< in the same order, or null
};

/// The right-hand side (k×n) of products, rearranged once so that many products can read it in
/// order. With products in bf16 they are one at a time.
template <class T>
class PackedMatrix {
public:
    explicit PackedMatrix(ProductType type = ProductType::Native);
    ~PackedMatrix();
    PackedMatrix(PackedMatrix&&) noexcept;
    PackedMatrix& operator=(PackedMatrix&&) noexcept;

    /// Holds `matrix` (k×n).
    void pack(const Factor<T>& matrix);
    /// Holds the transpose of `matrix` (n×k).
    void packTransposed(const Factor<T>& matrix);
    [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
    [[nodiscard]] std::size_t cols() const noexcept { return cols_; }
    /// Native: panels of consecutive columns, each rows() × its width, the last padded with zeros.
    [[nodiscard]] const T* data() const noexcept { return buffer_.data(); }

    /// Null for native products.
    [[nodiscard]] Bf16Right* bf16() const noexcept { return bf16_.get(); }

private:
    void resize(std::size_t rows, std::size_t cols);
    AlignedBuffer<T> buffer_;
    std::unique_ptr<Bf16Right> bf16_;
    std::size_t rows_ = 0;
    std::size_t cols_ = 0;
};

/// c (m×n) = or += a (m×k) · b (k×n). Nothing may overlap `c`.
template <class T>
void multiply(const Factor<T>& a, const PackedMatrix<T>& b, MatrixView<T> c, Accumulate accumulate);
/// c (m×n) = or += a (k×m)ᵀ · b (k×n). `scratch` holds b afterwards, if that is any use.
template <class T>
void transposedMultiply(const Factor<T>& a, const Factor<T>& b, PackedMatrix<T>& scratch,
                        MatrixView<T> c, Accumulate accumulate);

extern template class PackedMatrix<float>;
extern template class PackedMatrix<double>;

} // namespace gradlab::engine
