// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker remembers of what it did not send. A memory turns the gradient into what is to be
// sent, tile by tile, is told what was sent, and changes its state only in commit(). Until then the
// gradient buffer holds the step's intermediate values, so no copy of the state is needed.
#pragma once

#include "engine/compression/gradient_compressor.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gradlab::engine {

/// A tile of a unit: where it lies in the whole-model vectors, and its part of the gradient buffer.
template <class T>
struct GradientTile {
    std::size_t offset = 0;
    std::span<T> gradient;
};

template <class T>
class GradientMemory {
public:
    GradientMemory() = default;
    virtual ~GradientMemory() = default;
    GradientMemory(const GradientMemory&) = delete;
    GradientMemory& operator=(const GradientMemory&) = delete;

    /// Before a step's first tile. `gradient` and `parameters` are whole-model vectors; with a
    /// local clip the gradient must be complete.
    virtual void begin(std::span<const T> gradient, std::span<const T> parameters,
                       const StepPosition& position) = 0;
    /// What is to be sent, of a few elements: `out` gets the `run` neighbours from each of
    /// `firsts`, which are places in `unit`. Before all of the unit's tiles are accumulated, or
    /// after.
    virtual void peek(GradientTile<const T> unit, std::span<const std::uint32_t> firsts,
                      std::size_t run, bool accumulated, std::span<T> out) const = 0;
    /// First visit of a tile: takes the gradient in and returns what is to be sent, in the gradient
    /// buffer or in `scratch` (as long as the tile).
    virtual std::span<const T> accumulate(GradientTile<T> tile, std::span<T> scratch) = 0;
    /// Later visits: the same values again.
    virtual std::span<const T> recall(GradientTile<T> tile, std::span<T> scratch) const = 0;
    /// Notes what a unit sent: ascending indices within the unit, decoded values.
    /// There are at most `most` of this unit in any step.
    virtual void noteSent(GradientTile<T> unit, std::span<const std::uint32_t> indices,
                          std::span<const T> values, std::size_t most) = 0;
    /// Notes the decoded values of a whole tile, for methods that send every element. No more
    /// visits of the tile after that.
    virtual void noteSentTile(GradientTile<T> tile, std::span<const T> values) = 0;
    /// Whether anything is kept: if not, nothing needs to be noted.
    [[nodiscard]] virtual bool remembers() const noexcept = 0;

    /// Makes the step final; may swap `gradient` with a buffer of its own.
    virtual void commit(AlignedBuffer<T>& gradient) = 0;
    virtual void discard() noexcept = 0;
    [[nodiscard]] virtual std::vector<NamedState<T>> state() = 0;
    /// Takes changed parameters; the content stays.
    virtual void configure(const CompressionSettings& settings) = 0;
};

/// Calls visit(place in the unit, place in the output) for each element of each run, as peek()
/// does; fetches ahead what it will find at these places of the `vectors`, as it is spread widely.
template <class Visit, class... Vectors>
void eachOfRuns(std::span<const std::uint32_t> firsts, std::size_t run, const Visit& visit,
                const Vectors*... vectors) {
    constexpr std::size_t kAhead = 16; // runs
    const auto fetch = [run](const auto* from) {
        __builtin_prefetch(from);
        __builtin_prefetch(from + run - 1);
    };
    for (std::size_t r = 0; r < firsts.size(); ++r) {
        if (r + kAhead < firsts.size())
            (fetch(vectors + firsts[r + kAhead]), ...);
        for (std::size_t i = 0; i < run; ++i)
            visit(firsts[r] + i, r * run + i);
    }
}

/// A memory with zero content for vectors of `size` elements. `settings` is resolved.
template <class T>
[[nodiscard]] std::unique_ptr<GradientMemory<T>> makeMemory(const CompressionSettings& settings,
                                                            std::size_t size,
                                                            const CompressorIdentity& identity);

} // namespace gradlab::engine
