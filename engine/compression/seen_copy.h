// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A copy of what the compressor sees, taken on its first walk where somebody inspects the step.
#pragma once

#include "engine/core/byte_buffer.h"
#include "engine/core/cpu_clock.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gradlab::engine {

template <class T>
class SeenCopy {
public:
    explicit SeenCopy(std::size_t size) : values_(size) {}
    /// `offset` in the whole-model vector.
    void take(std::size_t offset, std::span<const T> tile) {
        const double begin = threadCpuSeconds();
        std::copy(tile.begin(), tile.end(), values_.data() + offset);
        seconds_ += threadCpuSeconds() - begin;
    }
    [[nodiscard]] std::span<const T> values() const noexcept { return values_; }
    /// CPU seconds of copying since the last call.
    [[nodiscard]] double takeSeconds() noexcept { return std::exchange(seconds_, 0.0); }

private:
    std::vector<T, UninitialisedAllocator<T>> values_;
    double seconds_ = 0.0;
};

} // namespace gradlab::engine
