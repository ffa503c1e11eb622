// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/tile_kernels.h"

#include <algorithm>
#include <array>

namespace gradlab::engine {

namespace {

constexpr std::size_t kLanes = 16;

/// Lane l sums the terms of elements l, l + 16, …; the last elements go to the first lanes.
template <class Term>
double laneSum(std::size_t count, const Term& term) noexcept {
    std::array<double, kLanes> lanes{};
    std::size_t first = 0;
    for (; first + kLanes <= count; first += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] += term(first + lane);
    for (std::size_t lane = 0; first + lane < count; ++lane)
        lanes[lane] += term(first + lane);
    for (std::size_t width = kLanes / 2; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane)
            lanes[lane] += lanes[lane + width];
    return lanes[0];
}

} // namespace

template <class T>
double sumSquares(std::span<const T> values) noexcept {
    const T* const x = values.data();
    return laneSum(values.size(), [x](std::size_t i) {
        const auto value = static_cast<double>(x[i]);
        return value * value;
    });
}

template <class T>
double sumSquaredDifference(std::span<const T> x, std::span<const T> y) noexcept {
    const T* const a = x.data();
    const T* const b = y.data();
    return laneSum(x.size(), [a, b](std::size_t i) {
        const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        return difference * difference;
    });
}

template <class T>
bool allFinite(std::span<const T> values) noexcept {
    using Key = MagnitudeKey<T>;
    constexpr Key kInfinite =
        sizeof(T) == 4 ? static_cast<Key>(0x7F800000ULL) : static_cast<Key>(0x7FF0000000000000ULL);
    return largestKey(values) < kInfinite;
}

template <class T>
std::size_t countNonZero(std::span<const T> values) noexcept {
    std::size_t count = 0;
    for (const T value : values)
        count += value != T{0} ? 1U : 0U;
    return count;
}

template <class T>
MagnitudeKey<T> largestKey(std::span<const T> values) noexcept {
    MagnitudeKey<T> largest = 0;
    for (const T value : values)
        largest = std::max(largest, magnitudeKey(value));
    return largest;
}

template double sumSquares<float>(std::span<const float>) noexcept;
template double sumSquares<double>(std::span<const double>) noexcept;
template double sumSquaredDifference<float>(std::span<const float>,
                                            std::span<const float>) noexcept;
template double sumSquaredDifference<double>(std::span<const double>,
                                             std::span<const double>) noexcept;
template bool allFinite<float>(std::span<const float>) noexcept;
template bool allFinite<double>(std::span<const double>) noexcept;
template std::size_t countNonZero<float>(std::span<const float>) noexcept;
template std::size_t countNonZero<double>(std::span<const double>) noexcept;
template MagnitudeKey<float> largestKey<float>(std::span<const float>) noexcept;
template MagnitudeKey<double> largestKey<double>(std::span<const double>) noexcept;

} // namespace gradlab::engine
