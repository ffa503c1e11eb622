// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A few consecutive numbers held in vector registers, with the model's element-wise functions.
// Short ends are padded, never computed by other code: an element's bits depend neither on its
// position nor on alignment. Uses Eigen, so it is for the engine's .cpp files only.
#pragma once

#include "engine/model/eigen_core.h"

#include <algorithm>
#include <cstddef>

namespace gradlab::engine {

template <class T>
class VectorChunk {
public:
    static constexpr std::size_t kSize = 16;
    using Values = Eigen::Array<T, static_cast<int>(kSize), 1>;

    VectorChunk() = default;
    // Eigen's fixed-size arrays must not be passed by value.
    // NOLINTNEXTLINE(modernize-pass-by-value)
    explicit VectorChunk(const Values& values) : values_(values) {}

    /// The first `count` ≤ kSize elements, the rest zero.
    [[nodiscard]] static VectorChunk load(const T* from, std::size_t count) {
        VectorChunk chunk;
        if (count == kSize) {
            chunk.values_ = Eigen::Map<const Values>(from);
        } else {
            chunk.values_.setZero();
            std::copy_n(from, count, chunk.values_.data());
        }
        return chunk;
    }
    [[nodiscard]] static VectorChunk all(T value) { return VectorChunk(Values::Constant(value)); }
    void store(T* to, std::size_t count) const {
        if (count == kSize)
            Eigen::Map<Values>{to} = values_;
        else
            std::copy_n(values_.data(), count, to);
    }

    [[nodiscard]] VectorChunk logistic() const { return VectorChunk(values_.logistic()); }
    [[nodiscard]] VectorChunk tanh() const { return VectorChunk(values_.tanh()); }
    [[nodiscard]] VectorChunk exp() const { return VectorChunk(values_.exp()); }
    /// Element by element; which operand a NaN yields to is not defined.
    [[nodiscard]] VectorChunk max(const VectorChunk& other) const {
        return VectorChunk(values_.max(other.values_));
    }
    friend VectorChunk operator+(const VectorChunk& a, const VectorChunk& b) {
        return VectorChunk(a.values_ + b.values_);
    }
    friend VectorChunk operator-(const VectorChunk& a, const VectorChunk& b) {
        return VectorChunk(a.values_ - b.values_);
    }
    friend VectorChunk operator*(const VectorChunk& a, const VectorChunk& b) {
        return VectorChunk(a.values_ * b.values_);
    }
    [[nodiscard]] const Values& values() const { return values_; }

private:
    Values values_;
};

} // namespace gradlab::engine
