// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A matrix's elements in bf16 beside it, for products in bf16: each element is rounded once,
// however many products read it. Without such products it is empty and does nothing.
#pragma once

#include "engine/core/aligned_buffer.h"
#include "engine/core/check.h"
#include "engine/core/parallel.h"
#include "engine/model/grow_buffer.h"
#include "engine/model/matrix_product.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace gradlab::engine {

template <class T>
class RoundedTwin {
public:
    explicit RoundedTwin(ProductType type) : used_(type == ProductType::Bf16) {}

    /// Room for rows×cols.
    void resize(std::size_t rows, std::size_t cols) {
        cols_ = cols;
        if (used_)
            static_cast<void>(grow(twin_, rows * cols));
    }
    /// Rounds the rows from `first` on that are at `from`. Threads may do so for different rows.
    void roundRows(const T* from, std::size_t first, std::size_t count) {
        if constexpr (std::is_same_v<T, float>)
            if (used_)
                roundToBfloats({from, count * cols_}, twin_.data() + first * cols_);
    }
    /// resize() and a round of all rows.
    void roundAll(const T* from, std::size_t rows, std::size_t cols) {
        constexpr std::size_t kElementsPerTask = std::size_t{1} << 16;
        resize(rows, cols);
        if (used_)
            parallelRanges(rows, std::max<std::size_t>(1, kElementsPerTask / cols),
                           [&](std::size_t begin, std::size_t end) {
                               roundRows(from + begin * cols_, begin, end - begin);
                           });
    }
    /// The rows from `first` on, which are at `exact`.
    [[nodiscard]] Factor<T> factor(const T* exact, std::size_t first, std::size_t rows) const {
        return {exact, rows, cols_, used_ ? twin_.data() + first * cols_ : nullptr};
    }

private:
    bool used_;
    std::size_t cols_ = 0;
    AlignedBuffer<Bfloat> twin_;
};

} // namespace gradlab::engine
