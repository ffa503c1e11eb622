// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The mean gradient that a replica holds, unit by unit. Where a unit's mean is sparse, the next one
// costs what the two select and not the unit's length. Leaves out: decoding, summing.
#pragma once

#include "engine/compression/message_plan.h"
#include "engine/core/aligned_buffer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gradlab::engine {

/// Not thread-safe.
template <class T>
class MeanGradient {
public:
    explicit MeanGradient(const MessagePlan& plan);

    /// The unit is values[i] at indices[i] (within the unit), zero elsewhere.
    void setSparse(std::uint32_t unit, std::span<const std::uint32_t> indices,
                   std::span<const T> values);
    /// The unit, for the caller to write to.
    [[nodiscard]] std::span<T> dense(std::uint32_t unit);
    /// Everything, in parameter order.
    [[nodiscard]] std::span<const T> values() const noexcept { return values_.span(); }

private:
    struct Support {
        bool known = true; ///< nothing but `indices` is other than +0
        std::vector<std::uint32_t> indices;
    };
    [[nodiscard]] std::span<T> range(std::uint32_t unit);
    void clear(std::uint32_t unit);

    MessagePlan plan_;
    AlignedBuffer<T> values_;
    std::vector<Support> supports_; ///< of each unit
};

extern template class MeanGradient<float>;
extern template class MeanGradient<double>;

} // namespace gradlab::engine
