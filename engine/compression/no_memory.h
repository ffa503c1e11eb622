// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory "none": the gradient itself is to be sent, and what is not sent is lost.
#pragma once

#include "engine/compression/gradient_memory.h"

namespace gradlab::engine {

template <class T>
class NoMemory final : public GradientMemory<T> {
public:
    void begin(std::span<const T>, std::span<const T>, const StepPosition&) override {}
    void peek(GradientTile<const T> unit, std::span<const std::uint32_t> firsts, std::size_t run,
              bool, std::span<T> out) const override {
        const T* const p = unit.gradient.data();
        eachOfRuns(
            firsts, run, [&](std::size_t at, std::size_t to) { out[to] = p[at]; }, p);
    }
    std::span<const T> accumulate(GradientTile<T> tile, std::span<T>) override {
        return tile.gradient;
    }
    std::span<const T> recall(GradientTile<T> tile, std::span<T>) const override {
        return tile.gradient;
    }
    void noteSent(GradientTile<T>, std::span<const std::uint32_t>, std::span<const T>,
                  std::size_t) override {}
    void noteSentTile(GradientTile<T>, std::span<const T>) override {}
    bool remembers() const noexcept override { return false; }
    void commit(AlignedBuffer<T>&) override {}
    void discard() noexcept override {}
    std::vector<NamedState<T>> state() override { return {}; }
    void configure(const CompressionSettings&) override {}
};

} // namespace gradlab::engine
