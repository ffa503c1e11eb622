// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix products of bf16 operands, summed in f32, by oneDNN. A product is split into tasks by rows
// of the result, each computed by one thread: the same bits for any number of threads. Numbers
// below 2^-126 count as zero. Leaves out: who rounds what when (RoundedTwin), what else can be done
// where there is none (nothing: an experiment that asks for it is refused).
// Two files define this and bf16Ability(): bf16_onednn.cpp, or bf16_absent.cpp in a build without
// the library.
#pragma once

#include "engine/core/precision.h"
#include "engine/model/bfloat.h"
#include "engine/model/matrix_view.h"

#include <cstddef>
#include <memory>

namespace gradlab::engine {

/// The right-hand side (k×n) of products, and what oneDNN has prepared for each shape that it was
/// used in: nothing is made anew for a shape that comes again. One product at a time. Needs
/// bf16Ability() to be Ready.
class Bf16Right {
public:
    Bf16Right();
    ~Bf16Right();
    Bf16Right(Bf16Right&&) noexcept;
    Bf16Right& operator=(Bf16Right&&) noexcept;

    /// Holds `matrix` (k×n), rearranged.
    void pack(MatrixView<const Bfloat> matrix);
    /// Holds the transpose of `matrix` (n×k), rearranged.
    void packTransposed(MatrixView<const Bfloat> matrix);
    [[nodiscard]] std::size_t rows() const noexcept;
    [[nodiscard]] std::size_t cols() const noexcept;

    /// c (m×n) = or += a (m×k) · what is held (k×n).
    void multiply(MatrixView<const Bfloat> a, MatrixView<float> c, Accumulate accumulate);
    /// c (m×n) = or += a (k×m)ᵀ · b (k×n); what is held does not matter.
    void transposedMultiply(MatrixView<const Bfloat> a, MatrixView<const Bfloat> b,
                            MatrixView<float> c, Accumulate accumulate);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace gradlab::engine
