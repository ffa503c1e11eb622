// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From a number's bits to its logarithmic bin, exactly: exponent and three comparisons of the
// mantissa, no logarithm.
#pragma once

#include "engine/metrics/gradient_snapshot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace gradlab::engine {

/// 2^(j/4)
inline constexpr std::array<double, kBinsPerOctave> kBinStarts = {
    1.0, 1.189207115002721066717, 1.414213562373095048802, 1.681792830507429086062};

/// Cells of a heat map: two levels to an octave, level 1 begins (open below) at
/// 2^kHeatLowestOctave.
inline constexpr int kHeatLowestOctave = -50;
inline constexpr int kMostHeatLevel = 127;

namespace bins {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
template <class T>
inline constexpr unsigned kMantissaBits = sizeof(T) == 4 ? 23 : 52;
template <class T>
inline constexpr int kExponentBias = sizeof(T) == 4 ? 127 : 1023;

/// Smallest mantissa field m with 1 + m / 2^bits ≥ start.
template <class T>
constexpr Bits<T> mantissaOf(double start) {
    const double scaled = (start - 1.0) * static_cast<double>(Bits<T>{1} << kMantissaBits<T>);
    const auto whole = static_cast<Bits<T>>(scaled);
    return static_cast<double>(whole) < scaled ? whole + 1 : whole;
}

} // namespace bins

/// Of a finite value that is not 0.
template <class T>
[[nodiscard]] constexpr std::size_t magnitudeBin(T value) noexcept {
    using Bits = bins::Bits<T>;
    constexpr Bits kMantissa = (Bits{1} << bins::kMantissaBits<T>)-1U;
    constexpr std::array<Bits, 3> kStarts = {bins::mantissaOf<T>(kBinStarts[1]),
                                             bins::mantissaOf<T>(kBinStarts[2]),
                                             bins::mantissaOf<T>(kBinStarts[3])};
    const Bits key = std::bit_cast<Bits>(value) & (~Bits{0} >> 1U);
    const Bits mantissa = key & kMantissa;
    const int quarter = (mantissa >= kStarts[0] ? 1 : 0) + (mantissa >= kStarts[1] ? 1 : 0) +
                        (mantissa >= kStarts[2] ? 1 : 0);
    const int octave =
        static_cast<int>(key >> bins::kMantissaBits<T>) - bins::kExponentBias<T> - kLowestOctave;
    return static_cast<std::size_t>(
        std::clamp(octave * kBinsPerOctave + quarter, 0, static_cast<int>(kMagnitudeBins) - 1));
}

/// Signed level of a heat map's cell; 0 for 0.
template <class T>
[[nodiscard]] constexpr std::int8_t heatLevel(T value) noexcept {
    using Bits = bins::Bits<T>;
    const Bits key = std::bit_cast<Bits>(value) & (~Bits{0} >> 1U);
    if (key == 0)
        return 0;
    constexpr Bits kMantissa = (Bits{1} << bins::kMantissaBits<T>)-1U;
    constexpr Bits kHalf = bins::mantissaOf<T>(kBinStarts[2]);
    const int octave = static_cast<int>(key >> bins::kMantissaBits<T>) - bins::kExponentBias<T> -
                       kHeatLowestOctave;
    const int level =
        std::clamp(octave * 2 + ((key & kMantissa) >= kHalf ? 1 : 0) + 1, 1, kMostHeatLevel);
    return static_cast<std::int8_t>(value < T{0} ? -level : level);
}

} // namespace gradlab::engine
