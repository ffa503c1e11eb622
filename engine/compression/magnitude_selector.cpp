// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/magnitude_selector.h"

#include "engine/core/check.h"
#include "engine/core/reserve.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

namespace gradlab::engine {

namespace {

constexpr std::size_t kSample = 4096;        // elements that the guess looks at
constexpr std::size_t kGuessAtLeast = 16384; // below, all non-zeros are candidates
constexpr unsigned kDigitBits = 12;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr std::size_t kFlagBlock = 256; // elements compared at once

using Histogram = std::array<std::uint32_t, kDigits>;

template <class Key>
constexpr unsigned kKeyBits = sizeof(Key) * 8U - 1U;

/// Digit in which the rank-th largest lies; `rank` becomes its rank within that digit.
std::size_t digitOfRank(const Histogram& histogram, std::size_t& rank) noexcept {
    std::size_t digit = kDigits - 1;
    while (rank > histogram[digit])
        rank -= histogram[digit--];
    return digit;
}

/// Where candidates go.
template <class T>
struct Candidates {
    std::uint32_t* indices;
    T* values;
};

/// Appends the elements of `tile`, whose first has index `first`, with key ≥ threshold; returns how
/// many. Comparison and compaction apart: the first is a vector loop that leaves one byte an
/// element, the second looks at eight of them at a time and mostly finds nothing.
template <class T>
std::size_t appendByFlags(std::span<const T> tile, std::uint32_t first, MagnitudeKey<T> threshold,
                          Candidates<T> out) noexcept {
    // Magnitude keys have no sign bit: signed comparison is the same and is what vectors have.
    using Signed = std::make_signed_t<MagnitudeKey<T>>;
    const auto least = static_cast<Signed>(threshold);
    std::array<std::uint8_t, kFlagBlock> flags;
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < tile.size(); begin += kFlagBlock) {
        const std::size_t size = std::min(kFlagBlock, tile.size() - begin);
        const T* const block = tile.data() + begin;
        if (size < kFlagBlock)
            flags.fill(0);
        for (std::size_t i = 0; i < size; ++i)
            flags[i] = static_cast<Signed>(magnitudeKey(block[i])) >= least ? 1U : 0U;
        for (std::size_t word = 0; word < size; word += 8) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, flags.data() + word, sizeof(bits));
            for (; bits != 0; bits &= bits - 1U) {
                const std::size_t i = word + static_cast<unsigned>(std::countr_zero(bits)) / 8U;
                out.indices[count] = first + static_cast<std::uint32_t>(begin + i);
                out.values[count] = block[i];
                ++count;
            }
        }
    }
    return count;
}

#ifdef __AVX512F__

constexpr std::size_t kWord = 64; // elements that are told apart by the bits of a word

std::uint64_t bitsAtLeast(const float* values, std::uint32_t threshold) noexcept {
    const __m512i magnitude = _mm512_set1_epi32(0x7FFFFFFF);
    const __m512i least = _mm512_set1_epi32(static_cast<std::int32_t>(threshold));
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < kWord; i += 16) {
        const __m512i keys = _mm512_and_si512(_mm512_loadu_si512(values + i), magnitude);
        bits |= std::uint64_t{_mm512_cmpge_epu32_mask(keys, least)} << i;
    }
    return bits;
}

std::uint64_t bitsAtLeast(const double* values, std::uint64_t threshold) noexcept {
    const __m512i magnitude = _mm512_set1_epi64(0x7FFFFFFFFFFFFFFF);
    const __m512i least = _mm512_set1_epi64(static_cast<std::int64_t>(threshold));
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < kWord; i += 8) {
        const __m512i keys = _mm512_and_si512(_mm512_loadu_si512(values + i), magnitude);
        bits |= std::uint64_t{_mm512_cmpge_epu64_mask(keys, least)} << i;
    }
    return bits;
}

template <class T>
std::size_t appendAtLeast(std::span<const T> tile, std::uint32_t first, MagnitudeKey<T> threshold,
                          Candidates<T> out) noexcept {
    std::size_t count = 0;
    std::size_t begin = 0;
    for (; begin + kWord <= tile.size(); begin += kWord)
        for (std::uint64_t bits = bitsAtLeast(tile.data() + begin, threshold); bits != 0;
             bits &= bits - 1U) {
            const std::size_t i = begin + static_cast<unsigned>(std::countr_zero(bits));
            out.indices[count] = first + static_cast<std::uint32_t>(i);
            out.values[count] = tile[i];
            ++count;
        }
    return count + appendByFlags<T>(tile.subspan(begin), first + static_cast<std::uint32_t>(begin),
                                    threshold, {out.indices + count, out.values + count});
}

#else

template <class T>
std::size_t appendAtLeast(std::span<const T> tile, std::uint32_t first, MagnitudeKey<T> threshold,
                          Candidates<T> out) noexcept {
    return appendByFlags(tile, first, threshold, out);
}

#endif

} // namespace

template <class T>
auto MagnitudeSelector<T>::nthLargest(std::span<Key> keys, std::size_t rank) -> Key {
    GRADLAB_CHECK(rank >= 1 && rank <= keys.size(), rank, keys.size());
    Key prefix = 0; // the digits found so far
    for (unsigned left = kKeyBits<Key>; left > 0 && keys.size() > 1;) {
        const unsigned width = std::min(left, kDigitBits);
        const unsigned shift = left - width;
        const Key mask = (Key{1} << width) - 1U;
        Histogram histogram{};
        for (const Key key : keys)
            ++histogram[(key >> shift) & mask];
        const std::size_t digit = digitOfRank(histogram, rank);
        std::size_t kept = 0;
        for (const Key key : keys) {
            keys[kept] = key;
            kept += ((key >> shift) & mask) == digit ? 1U : 0U;
        }
        keys = keys.first(kept);
        prefix |= static_cast<Key>(digit) << shift;
        left = shift;
    }
    return keys.size() == 1 ? keys[0] : prefix;
}

template <class T>
void MagnitudeSelector<T>::reserve(std::size_t elements) {
    if (indices_.size() >= elements)
        return;
    indices_.resize(elements);
    values_.resize(elements);
    keys_.reserve(elements);
}

template <class T>
void MagnitudeSelector<T>::collectTile(std::span<const T> tile, std::size_t first,
                                       Key threshold) noexcept {
    const Candidates<T> out{indices_.data() + count_, values_.data() + count_};
    count_ += appendAtLeast(tile, static_cast<std::uint32_t>(first), threshold, out);
}

template <class T>
void MagnitudeSelector<T>::collect(TileSource<T>& source, Key threshold) {
    GRADLAB_CHECK(threshold >= 1, threshold);
    reserve(source.size());
    count_ = 0;
    for (std::size_t t = 0; t < source.tileCount(); ++t)
        collectTile(source.tile(t), t * kTileElements, threshold);
}

template <class T>
std::size_t MagnitudeSelector<T>::countAtLeast(Key threshold) const noexcept {
    std::size_t count = 0;
    for (const T value : values())
        count += magnitudeKey(value) >= threshold ? 1U : 0U;
    return count;
}

template <class T>
void MagnitudeSelector<T>::keepAtLeast(Key threshold) noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        indices_[kept] = indices_[i];
        values_[kept] = values_[i];
        kept += magnitudeKey(values_[kept]) >= threshold ? 1U : 0U;
    }
    count_ = kept;
}

template <class T>
void MagnitudeSelector<T>::cutTo(std::size_t k) {
    if (count_ == k)
        return;
    keys_.resize(count_);
    for (std::size_t i = 0; i < count_; ++i)
        keys_[i] = magnitudeKey(values_[i]);
    const Key threshold = nthLargest(keys_, k);
    std::size_t above = 0;
    for (const T value : values())
        above += magnitudeKey(value) > threshold ? 1U : 0U;
    std::size_t ties = k - above;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
        const Key key = magnitudeKey(values_[i]);
        const bool tie = key == threshold && ties > 0;
        ties -= tie ? 1U : 0U;
        indices_[kept] = indices_[i];
        values_[kept] = values_[i];
        kept += (key > threshold || tie) ? 1U : 0U;
    }
    count_ = kept;
}

/// One element of each of kSample equal stretches. The guess decides the time, never the result.
template <class T>
auto MagnitudeSelector<T>::guess(const TileSource<T>& source, std::size_t k) -> Key {
    const std::size_t n = source.size();
    if (n < kGuessAtLeast)
        return 1;
    // Samples above the k-th largest: binomial, so mean + 3.5 deviations + 3 rarely is too few.
    const double mean = static_cast<double>(k) * kSample / static_cast<double>(n);
    const auto rank = static_cast<std::size_t>(mean + 3.5 * std::sqrt(mean) + 3.0);
    if (rank >= kSample)
        return 1;
    std::array<std::uint32_t, kSample> places;
    std::uint32_t hash = 0x9E3779B9U;
    for (std::size_t i = 0; i < kSample; ++i) {
        const std::size_t begin = i * n / kSample;
        const std::size_t length = (i + 1) * n / kSample - begin;
        hash = hash * 1664525U + 1013904223U;
        places[i] = static_cast<std::uint32_t>(begin + (std::size_t{hash >> 8U} * length >> 24U));
    }
    return std::max<Key>(1, nthLargestOf(source, places, 1, rank));
}

template <class T>
auto MagnitudeSelector<T>::nthLargestOf(const TileSource<T>& source,
                                        std::span<const std::uint32_t> firsts, std::size_t run,
                                        std::size_t rank) -> Key {
    reserveFor(sample_, firsts.size() * run, kSample);
    sample_.resize(firsts.size() * run);
    source.peek(firsts, run, sample_);
    keys_.resize(sample_.size());
    for (std::size_t i = 0; i < sample_.size(); ++i)
        keys_[i] = magnitudeKey(sample_[i]);
    return nthLargest(keys_, rank);
}

template <class T>
auto MagnitudeSelector<T>::lowerBound(TileSource<T>& source, std::size_t k) -> Key {
    constexpr unsigned kShift = kKeyBits<Key> - kDigitBits;
    Histogram histogram{};
    for (std::size_t t = 0; t < source.tileCount(); ++t)
        for (const T value : source.tile(t))
            ++histogram[static_cast<std::size_t>(magnitudeKey(value) >> kShift)];
    std::size_t rank = k;
    return std::max<Key>(1, static_cast<Key>(digitOfRank(histogram, rank)) << kShift);
}

template <class T>
void MagnitudeSelector<T>::addZeros(std::size_t k) {
    // Every non-zero is a candidate, so an index that is none is a zero. Zeros go to the lowest
    // such indices; from the back, each candidate moves up by the zeros that come before it.
    std::size_t needed = k - count_;
    std::size_t before = 0; // candidates below the last zero to be added
    while (before < count_ && indices_[before] - before < needed)
        ++before;
    std::size_t from = count_;
    std::size_t to = k;
    for (; from > before; --from, --to) {
        indices_[to - 1] = indices_[from - 1];
        values_[to - 1] = values_[from - 1];
    }
    // Below, every index from 0 on is taken, as candidate or as zero.
    for (std::size_t index = to; needed > 0 || from > 0; --index) {
        if (from > 0 && indices_[from - 1] == index - 1) {
            values_[index - 1] = values_[from - 1];
            --from;
        } else {
            values_[index - 1] = T{0};
            --needed;
        }
    }
    for (std::size_t index = 0; index < to; ++index)
        indices_[index] = static_cast<std::uint32_t>(index);
    count_ = k;
}

template <class T>
void MagnitudeSelector<T>::selectLargest(TileSource<T>& source, std::size_t k) {
    GRADLAB_CHECK(k >= 1 && k <= source.size(), k, source.size());
    Key threshold = guess(source, k);
    collect(source, threshold);
    if (count_ < k && threshold > 1)
        collect(source, lowerBound(source, k));
    if (count_ < k)
        addZeros(k);
    else
        cutTo(k);
}

template class MagnitudeSelector<float>;
template class MagnitudeSelector<double>;

} // namespace gradlab::engine
