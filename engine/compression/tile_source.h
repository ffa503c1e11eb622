// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What one unit has to send, in tiles: the first walk makes the memory take the gradient in, tile
// by tile, so that a compressor reads each tile while it is in cache; later walks give the same
// values.
#pragma once

#include "engine/compression/gradient_memory.h"
#include "engine/compression/message_plan.h"
#include "engine/compression/seen_copy.h"
#include "engine/compression/tile_kernels.h"
#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace gradlab::engine {

template <class T>
class TileSource {
public:
    /// `gradient` is the unit's range; `scratch` has kTileElements elements; `seen` is null unless
    /// somebody inspects the step.
    TileSource(GradientMemory<T>& memory, const CompressionUnit& unit, std::span<T> gradient,
               std::span<T> scratch, std::uint64_t step, SeenCopy<T>* seen = nullptr)
        : memory_(&memory), unit_(&unit), gradient_(gradient), scratch_(scratch), step_(step),
          seen_(seen) {}

    [[nodiscard]] std::size_t size() const noexcept { return gradient_.size(); }
    [[nodiscard]] std::size_t tileCount() const noexcept {
        return (size() + kTileElements - 1) / kTileElements;
    }
    /// Valid until the next call. The first walk goes in ascending order.
    /// @throws NumericError on the first walk, if a value is not finite.
    [[nodiscard]] std::span<const T> tile(std::size_t index) {
        if (index < accumulated_)
            return memory_->recall(slice(index), scratch_);
        const std::span<const T> values = newTile(index);
        addNorm(values);
        return values;
    }
    /// A tile of the first walk for a method that goes through its elements anyway: it must call
    /// failNotFinite() if one is not finite, and squaredNorm() leaves them out.
    [[nodiscard]] std::span<const T> newTile(std::size_t index) {
        GRADLAB_CHECK(index == accumulated_, index, accumulated_);
        ++accumulated_;
        const std::span<const T> values = memory_->accumulate(slice(index), scratch_);
        if (seen_ != nullptr)
            seen_->take(unit_->offset + index * kTileElements, values);
        return values;
    }
    /// Values without a walk, for samples: `out` gets the `run` neighbours from each of `firsts`.
    /// Not in the middle of the first walk.
    void peek(std::span<const std::uint32_t> firsts, std::size_t run, std::span<T> out) const {
        GRADLAB_CHECK(accumulated_ == 0 || accumulated_ == tileCount(), accumulated_);
        memory_->peek({unit_->offset, gradient_}, firsts, run, accumulated_ > 0, out);
    }
    /// Σ p² over the tiles of the first walk so far.
    [[nodiscard]] double squaredNorm() const noexcept { return squaredNorm_; }

    [[nodiscard]] bool remembers() const noexcept { return memory_->remembers(); }
    void noteSent(std::span<const std::uint32_t> indices, std::span<const T> values,
                  std::size_t most) {
        memory_->noteSent({unit_->offset, gradient_}, indices, values, most);
    }
    void noteSentTile(std::size_t index, std::span<const T> values) {
        memory_->noteSentTile(slice(index), values);
    }
    [[noreturn]] void failNumeric(const char* what) const {
        throw NumericError(step_, unit_->name, what);
    }
    [[noreturn]] void failNotFinite() const {
        failNumeric("what is to be sent is not finite; lower the learning rate or clip");
    }

private:
    [[nodiscard]] GradientTile<T> slice(std::size_t index) const {
        const std::size_t first = index * kTileElements;
        return {unit_->offset + first,
                gradient_.subspan(first, std::min(kTileElements, size() - first))};
    }
    void addNorm(std::span<const T> values) {
        const double squared = sumSquares(values);
        if (!std::isfinite(squared) && !allFinite(values))
            failNotFinite();
        squaredNorm_ += squared;
    }

    GradientMemory<T>* memory_;   ///< outlives this
    const CompressionUnit* unit_; ///< outlives this
    std::span<T> gradient_;
    std::span<T> scratch_;
    std::uint64_t step_;
    SeenCopy<T>* seen_;           ///< outlives this; may be null
    std::size_t accumulated_ = 0; ///< tiles of the first walk done
    double squaredNorm_ = 0.0;
};

} // namespace gradlab::engine
