// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/gradient_reduction.h"

#include "engine/compression/tile_kernels.h"
#include "engine/core/check.h"
#include "engine/metrics/magnitude_bins.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace gradlab::engine {

namespace {

constexpr std::size_t kTables = 4; // neighbours are alike: counted in turn, no store waits
constexpr std::size_t kZeroBin = kMagnitudeBins;
using BinCounts = std::array<std::uint32_t, kMagnitudeBins + 1>; // 2^31 elements at most

template <class T>
std::size_t binOrZero(T value) noexcept {
    return value == T{0} ? kZeroBin : magnitudeBin(value);
}

template <class T>
BinCounts countBins(std::span<const T> values) {
    std::array<BinCounts, kTables> tables{};
    std::size_t i = 0;
    for (; i + kTables <= values.size(); i += kTables)
        for (std::size_t t = 0; t < kTables; ++t)
            ++tables[t][binOrZero(values[i + t])];
    for (; i < values.size(); ++i)
        ++tables[0][binOrZero(values[i])];
    for (std::size_t t = 1; t < kTables; ++t)
        for (std::size_t bin = 0; bin < tables[0].size(); ++bin)
            tables[0][bin] += tables[t][bin];
    return tables[0];
}

template <class T>
BinCounts countChosen(std::span<const T> x, std::span<const T> decoded,
                      const UnitContents<T>& contents) {
    BinCounts counts{};
    if (!contents.indices.empty()) {
        for (const std::uint32_t index : contents.indices)
            ++counts[binOrZero(x[index])];
        return counts;
    }
    std::uint64_t found = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (decoded[i] == T{0})
            continue;
        ++counts[binOrZero(x[i])];
        ++found;
    }
    if (contents.levels == 0) // carried all the same
        counts[kZeroBin] += static_cast<std::uint32_t>(contents.selected - found);
    return counts;
}

MagnitudeHistogram trimmed(const BinCounts& all, const BinCounts& chosen) {
    MagnitudeHistogram histogram;
    histogram.zeros = all[kZeroBin];
    histogram.chosenZeros = chosen[kZeroBin];
    std::size_t first = 0;
    std::size_t end = kMagnitudeBins;
    while (first < end && all[first] == 0)
        ++first;
    while (end > first && all[end - 1] == 0)
        --end;
    histogram.firstBin = static_cast<std::uint32_t>(first);
    const auto range = [&](const BinCounts& counts) {
        return std::vector<std::uint64_t>(counts.begin() + static_cast<std::ptrdiff_t>(first),
                                          counts.begin() + static_cast<std::ptrdiff_t>(end));
    };
    histogram.all = range(all);
    histogram.chosen = range(chosen);
    return histogram;
}

/// Smallest chosen and largest left magnitude of a selection.
template <class T>
void findThreshold(std::span<const T> x, std::span<const T> decoded,
                   const UnitContents<T>& contents, TensorSnapshot& out) {
    MagnitudeKey<T> smallest = ~MagnitudeKey<T>{0};
    MagnitudeKey<T> left = 0;
    if (contents.indices.empty()) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (decoded[i] != T{0})
                smallest = std::min(smallest, magnitudeKey(x[i]));
            else
                left = std::max(left, magnitudeKey(x[i]));
        }
    } else {
        std::size_t next = 0; // the stretches between chosen elements
        for (const std::uint32_t index : contents.indices) {
            left = std::max(left, largestKey(x.subspan(next, index - next)));
            smallest = std::min(smallest, magnitudeKey(x[index]));
            next = std::size_t{index} + 1;
        }
        left = std::max(left, largestKey(x.subspan(next)));
    }
    if (smallest != ~MagnitudeKey<T>{0})
        out.smallestChosen = static_cast<double>(magnitudeOf<T>(smallest));
    out.largestLeft = static_cast<double>(magnitudeOf<T>(left));
}

/// A level's probability is that of rounding |x|·s/norm down or up to it.
template <class T>
void countBucket(std::span<const T> x, std::span<const T> decoded, double norm,
                 LevelHistogram& out) {
    if (!(norm > 0.0)) {
        out.drawn[0] += x.size();
        out.expected[0] += static_cast<double>(x.size());
        return;
    }
    const auto s = static_cast<double>(out.levels);
    const double scale = s / norm;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double r = std::min(s, s * (std::fabs(static_cast<double>(x[i])) / norm));
        const auto level = static_cast<std::uint32_t>(r);
        const double up = r - static_cast<double>(level);
        out.expected[level / out.width] += 1.0 - up;
        if (up > 0.0)
            out.expected[(level + 1) / out.width] += up;
        const double q = std::fabs(static_cast<double>(decoded[i])) * scale + 0.5;
        ++out.drawn[static_cast<std::uint32_t>(std::min(q, s)) / out.width];
    }
}

template <class T>
void countLevels(std::span<const T> x, std::span<const T> decoded, const UnitContents<T>& contents,
                 LevelHistogram& out) {
    out.levels = contents.levels;
    out.width = static_cast<std::uint32_t>(contents.levels / LevelHistogram::kMostBars + 1);
    const std::size_t bars = contents.levels / out.width + 1;
    out.drawn.assign(bars, 0);
    out.expected.assign(bars, 0.0);
    if (contents.norms.size() == 1)
        out.unit = static_cast<double>(contents.norms.front()) / static_cast<double>(out.levels);
    for (std::size_t bucket = 0; bucket < contents.norms.size(); ++bucket) {
        const std::size_t first = bucket * contents.bucket;
        const std::size_t size = std::min(contents.bucket, x.size() - first);
        countBucket(x.subspan(first, size), decoded.subspan(first, size),
                    static_cast<double>(contents.norms[bucket]), out);
    }
}

/// Cell by cell the element of largest magnitude. The sign goes to the lowest bit so that unsigned
/// comparison orders by magnitude, which compilers turn into vector code: first all rows of a cell
/// into one, then its columns.
template <class T>
std::vector<std::int8_t> mapOf(std::span<const T> values, const UnitLayout& layout,
                               std::size_t mapRows, std::size_t mapColumns) {
    using Bits = bins::Bits<T>;
    std::vector<Bits> largest(layout.columns);
    std::vector<std::int8_t> levels;
    levels.reserve(mapRows * mapColumns);
    std::size_t row = 0;
    for (std::size_t cellRow = 0; cellRow < mapRows; ++cellRow) {
        std::fill(largest.begin(), largest.end(), Bits{0});
        for (; row < layout.rows && row * mapRows / layout.rows == cellRow; ++row) {
            const T* const line = values.data() + row * layout.columns;
            for (std::size_t c = 0; c < layout.columns; ++c)
                largest[c] = std::max(largest[c], std::rotl(std::bit_cast<Bits>(line[c]), 1));
        }
        std::size_t c = 0;
        for (std::size_t cell = 0; cell < mapColumns; ++cell) {
            Bits found = 0;
            for (const std::size_t end = (cell + 1) * layout.columns / mapColumns; c < end; ++c)
                found = std::max(found, largest[c]);
            levels.push_back(heatLevel(std::bit_cast<T>(std::rotr(found, 1))));
        }
    }
    return levels;
}

} // namespace

template <class T>
TensorSnapshot reduceUnit(std::span<const T> x, std::span<T> decoded,
                          const UnitContents<T>& contents, const UnitLayout& layout) {
    GRADLAB_CHECK(x.size() == decoded.size(), x.size(), decoded.size());
    GRADLAB_CHECK(layout.rows * layout.columns == x.size(), layout.rows, layout.columns, x.size());
    const std::span<const T> sent = decoded;
    TensorSnapshot out;
    out.elements = x.size();
    out.selected = contents.selected;
    out.selection = contents.selection;
    out.nonzero = countNonZero(sent);
    out.squaredNorm = sumSquares(x);
    out.squaredKept = sumSquares(sent);
    out.squaredError = sumSquaredDifference(x, sent);
    out.largest = static_cast<double>(magnitudeOf<T>(largestKey(x)));
    out.magnitudes = trimmed(countBins(x), countChosen(x, sent, contents));
    if (contents.selection)
        findThreshold(x, sent, contents, out);
    if (contents.levels > 0)
        countLevels(x, sent, contents, out.levels);
    HeatMap& map = out.map;
    const std::size_t rows = std::min(layout.rows, layout.mapRows);
    const std::size_t columns = std::min(layout.columns, layout.mapColumns);
    map.rows = static_cast<std::uint32_t>(rows);
    map.columns = static_cast<std::uint32_t>(columns);
    map.toSend = mapOf<T>(x, layout, rows, columns);
    map.sent = mapOf<T>(sent, layout, rows, columns);
    for (std::size_t i = 0; i < x.size(); ++i)
        decoded[i] = x[i] - decoded[i];
    map.stayed = mapOf<T>(sent, layout, rows, columns);
    return out;
}

std::vector<std::uint64_t> countChosenBy(std::span<const std::vector<std::uint32_t>> lists,
                                         std::size_t elements) {
    std::vector<std::uint16_t> times(elements, 0);
    for (const auto& list : lists)
        for (const std::uint32_t index : list)
            ++times[index];
    std::vector<std::uint64_t> by(lists.size(), 0);
    for (const auto& list : lists)
        for (const std::uint32_t index : list)
            if (const std::uint16_t n = std::exchange(times[index], std::uint16_t{0}); n > 0)
                ++by[n - 1U];
    return by;
}

template TensorSnapshot reduceUnit(std::span<const float>, std::span<float>,
                                   const UnitContents<float>&, const UnitLayout&);
template TensorSnapshot reduceUnit(std::span<const double>, std::span<double>,
                                   const UnitContents<double>&, const UnitLayout&);

} // namespace gradlab::engine
