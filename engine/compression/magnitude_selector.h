// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the largest elements of a unit in linear time. One walk keeps every element at or above a
// threshold as a candidate; a radix selection among the candidates cuts to k exactly. Magnitudes
// are ordered as unsigned bit patterns, so that equal means equal bits and no value breaks the
// order. Leaves out: where a threshold comes from, other than the guess for exact selection.
#pragma once

#include "engine/compression/tile_kernels.h"
#include "engine/compression/tile_source.h"
#include "engine/core/byte_buffer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gradlab::engine {

template <class T>
class MagnitudeSelector {
public:
    using Key = MagnitudeKey<T>;

    /// Leaves exactly the k largest as candidates, ties by lowest index; 1 ≤ k ≤ n. Walks the
    /// source once where the guess from a small sample holds, else three times.
    void selectLargest(TileSource<T>& source, std::size_t k);

    /// Walks the source; candidates are then all elements with key ≥ threshold, and threshold ≥ 1:
    /// exact zeros are never candidates.
    void collect(TileSource<T>& source, Key threshold);
    /// Candidates with key ≥ threshold.
    [[nodiscard]] std::size_t countAtLeast(Key threshold) const noexcept;
    /// Drops the others.
    void keepAtLeast(Key threshold) noexcept;
    /// Cuts to the k largest of the candidates, ties by lowest index; k ≤ count.
    void cutTo(std::size_t k);

    /// Ascending; valid until the next call.
    [[nodiscard]] std::span<const std::uint32_t> indices() const noexcept {
        return {indices_.data(), count_};
    }
    [[nodiscard]] std::span<const T> values() const noexcept { return {values_.data(), count_}; }

    /// The `rank`-th largest of those that TileSource::peek() gives.
    Key nthLargestOf(const TileSource<T>& source, std::span<const std::uint32_t> firsts,
                     std::size_t run, std::size_t rank);
    /// The `rank`-th largest of `keys`, 1 ≤ rank ≤ size; reorders them.
    [[nodiscard]] static Key nthLargest(std::span<Key> keys, std::size_t rank);

private:
    void reserve(std::size_t elements);
    void collectTile(std::span<const T> tile, std::size_t first, Key threshold) noexcept;
    Key guess(const TileSource<T>& source, std::size_t k);
    /// A threshold, at least 1, that leaves at least k candidates if the unit has k non-zeros.
    Key lowerBound(TileSource<T>& source, std::size_t k);
    /// Adds the zeros of lowest index until there are k candidates.
    void addZeros(std::size_t k);

    // Room for a whole unit; pages are touched only as far as candidates reach.
    std::vector<std::uint32_t, UninitialisedAllocator<std::uint32_t>> indices_;
    std::vector<T, UninitialisedAllocator<T>> values_;
    std::size_t count_ = 0;
    std::vector<T> sample_;
    std::vector<Key> keys_;
};

extern template class MagnitudeSelector<float>;
extern template class MagnitudeSelector<double>;

} // namespace gradlab::engine
