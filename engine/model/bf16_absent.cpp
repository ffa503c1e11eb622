// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A build without oneDNN: there are no products in bf16, and nothing can make a Bf16Right.
#include "engine/core/check.h"
#include "engine/model/bf16_product.h"

namespace gradlab::engine {

Bf16Ability bf16Ability() noexcept {
    return Bf16Ability::NotBuilt;
}

struct Bf16Right::Impl {};

Bf16Right::Bf16Right() {
    GRADLAB_CHECK(bf16Ability() == Bf16Ability::Ready, whyNotBf16(bf16Ability()));
}
Bf16Right::~Bf16Right() = default;
Bf16Right::Bf16Right(Bf16Right&&) noexcept = default;
Bf16Right& Bf16Right::operator=(Bf16Right&&) noexcept = default;
void Bf16Right::pack(MatrixView<const Bfloat> /*matrix*/) {}
void Bf16Right::packTransposed(MatrixView<const Bfloat> /*matrix*/) {}
std::size_t Bf16Right::rows() const noexcept {
    return 0;
}
std::size_t Bf16Right::cols() const noexcept {
    return 0;
}
void Bf16Right::multiply(MatrixView<const Bfloat> /*a*/, MatrixView<float> /*c*/,
                         Accumulate /*accumulate*/) {}
void Bf16Right::transposedMultiply(MatrixView<const Bfloat> /*a*/, MatrixView<const Bfloat> /*b*/,
                                   MatrixView<float> /*c*/, Accumulate /*accumulate*/) {}

} // namespace gradlab::engine
