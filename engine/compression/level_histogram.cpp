// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/level_histogram.h"

#include <algorithm>
#include <array>
#include <bit>

#ifdef __AVX512VBMI2__
#include <immintrin.h>
#endif

namespace gradlab::engine {

namespace {

constexpr std::size_t kTables = 4;
constexpr std::size_t kSmallTable = 4096; // symbols; one table if there are more

#ifdef __AVX512VBMI2__

constexpr std::size_t kVector = 32;  // levels compared at once
constexpr std::size_t kChunk = 1024; // levels whose far ones are kept before they are counted
constexpr int kNear = 2;             // most levels are near zero

/// Counts levels from −kNear to kNear, near[level + kNear]; copies the others to `far` and returns
/// how many. Whole vectors only.
std::size_t countNear(std::span<const std::int16_t> levels,
                      std::array<std::uint32_t, 2 * kNear + 1>& near, std::int16_t* far) {
    std::size_t found = 0;
    for (std::size_t i = 0; i + kVector <= levels.size(); i += kVector) {
        const __m512i x = _mm512_loadu_si512(levels.data() + i);
        for (std::size_t place = 0; place < near.size(); ++place) {
            const int level = static_cast<int>(place) - kNear;
            const __m512i same = _mm512_set1_epi16(static_cast<std::int16_t>(level));
            near[place] +=
                static_cast<std::uint32_t>(std::popcount(_mm512_cmpeq_epi16_mask(x, same)));
        }
        const __mmask32 isFar = _mm512_cmpgt_epu16_mask(
            _mm512_add_epi16(x, _mm512_set1_epi16(kNear)), _mm512_set1_epi16(2 * kNear));
        _mm512_storeu_si512(far + found, _mm512_maskz_compress_epi16(isFar, x));
        found += static_cast<std::size_t>(std::popcount(isFar));
    }
    return found;
}

#endif

} // namespace

LevelHistogram::LevelHistogram(std::uint32_t levels)
    : zero_(levels), symbols_(2 * std::size_t{levels} + 1),
      tables_(symbols_ * (symbols_ <= kSmallTable ? kTables : 1)) {}

void LevelHistogram::clear() {
    std::fill(tables_.begin(), tables_.end(), 0U);
}

/// Neighbours are often equal: counting them in turn in several tables avoids waiting for the last
/// store.
void LevelHistogram::addOneByOne(std::span<const std::int16_t> levels) {
    const std::size_t tables = tables_.size() / symbols_;
    std::array<std::uint32_t*, kTables> zero{};
    for (std::size_t t = 0; t < kTables; ++t)
        zero[t] = tables_.data() + (t % tables) * symbols_ + zero_;
    std::size_t i = 0;
    for (; i + kTables <= levels.size(); i += kTables)
        for (std::size_t t = 0; t < kTables; ++t)
            ++zero[t][levels[i + t]];
    for (; i < levels.size(); ++i)
        ++zero[0][levels[i]];
}

void LevelHistogram::add(std::span<const std::int16_t> levels) {
#ifdef __AVX512VBMI2__
    std::array<std::int16_t, kChunk + kVector> far; // the last store may reach beyond
    while (levels.size() >= kVector && zero_ >= kNear) {
        const std::size_t size = std::min(kChunk, levels.size() / kVector * kVector);
        std::array<std::uint32_t, 2 * kNear + 1> near{};
        const std::size_t found = countNear(levels.first(size), near, far.data());
        for (std::size_t i = 0; i < near.size(); ++i)
            tables_[zero_ - kNear + i] += near[i];
        addOneByOne(std::span<const std::int16_t>(far).first(found));
        levels = levels.subspan(size);
    }
#endif
    addOneByOne(levels);
}

std::span<const std::uint32_t> LevelHistogram::counts() {
    for (std::size_t at = symbols_; at < tables_.size(); ++at) {
        tables_[at % symbols_] += tables_[at];
        tables_[at] = 0;
    }
    return std::span<const std::uint32_t>(tables_).first(symbols_);
}

} // namespace gradlab::engine
