// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/tile_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gradlab::engine {

namespace {

constexpr std::size_t kLanes = 16;

using Lanes = std::array<double, kLanes>; // of SquareSum too

/// sum + x², where x came from a T. The square of a float is exact in double, so one rounding is
/// all there is to it either way.
template <class T>
double plusSquare(double sum, double x) noexcept {
#ifdef __FMA__
    if constexpr (sizeof(T) == 4)
        return std::fma(x, x, sum);
#endif
    return sum + x * x;
}

double folded(Lanes& lanes) noexcept {
    for (std::size_t width = kLanes / 2; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane)
            lanes[lane] += lanes[lane + width];
    return lanes[0];
}

/// Lane l has elements l, l + 16, …; the last elements go to the first lanes; add(sum, i) adds the
/// term of element i. (Lanes
/// stay in registers where they are the loop's own, not something that it captured.)
template <class Add>
double laneSum(std::size_t count, const Add& add) noexcept {
    Lanes lanes{};
    std::size_t first = 0;
    for (; first + kLanes <= count; first += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] = add(lanes[lane], first + lane);
    for (std::size_t lane = 0; first + lane < count; ++lane)
        lanes[lane] = add(lanes[lane], first + lane);
    return folded(lanes);
}

} // namespace

template <class T>
double sumSquares(std::span<const T> values) noexcept {
    const T* const x = values.data();
    return laneSum(values.size(), [x](double sum, std::size_t i) {
        return plusSquare<T>(sum, static_cast<double>(x[i]));
    });
}

template <class T>
void SquareSum::add(std::span<const T> values) noexcept {
    const auto addOne = [this](T value) {
        lanes_[next_] = plusSquare<T>(lanes_[next_], static_cast<double>(value));
        next_ = (next_ + 1) % kLanes;
    };
    std::size_t i = 0;
    for (; i < values.size() && next_ != 0; ++i)
        addOne(values[i]);
    Lanes lanes = lanes_;
    for (; i + kLanes <= values.size(); i += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane)
            lanes[lane] = plusSquare<T>(lanes[lane], static_cast<double>(values[i + lane]));
    lanes_ = lanes;
    for (; i < values.size(); ++i)
        addOne(values[i]);
}

double SquareSum::take() noexcept {
    const double sum = folded(lanes_);
    *this = {};
    return sum;
}

template <class T>
double sumSquaredDifference(std::span<const T> x, std::span<const T> y) noexcept {
    const T* const a = x.data();
    const T* const b = y.data();
    return laneSum(x.size(), [a, b](double sum, std::size_t i) {
        const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
        return sum + difference * difference;
    });
}

template <class T>
PairSums pairSums(std::span<const T> x, std::span<const T> y) noexcept {
    const T* const a = x.data();
    const T* const b = y.data();
    Lanes squaresX{};
    Lanes squaresY{};
    Lanes squaredDifference{};
    std::size_t first = 0;
    for (; first + kLanes <= x.size(); first += kLanes)
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const auto p = static_cast<double>(a[first + lane]);
            const auto q = static_cast<double>(b[first + lane]);
            squaresX[lane] = plusSquare<T>(squaresX[lane], p);
            squaresY[lane] = plusSquare<T>(squaresY[lane], q);
            squaredDifference[lane] += (p - q) * (p - q);
        }
    const std::span<const T> restX = x.subspan(first);
    const std::span<const T> restY = y.subspan(first);
    return {folded(squaresX) + sumSquares(restX), folded(squaresY) + sumSquares(restY),
            folded(squaredDifference) + sumSquaredDifference(restX, restY)};
}

template <class T>
bool allFinite(std::span<const T> values) noexcept {
    return isFiniteKey<T>(largestKey(values));
}

template <class T>
std::size_t countNonZero(std::span<const T> values) noexcept {
    constexpr std::size_t kBlock = std::size_t{1} << 16U; // counted in an element's own width
    std::size_t total = 0;
    for (; !values.empty(); values = values.subspan(std::min(kBlock, values.size()))) {
        MagnitudeKey<T> count = 0;
        for (const T value : values.first(std::min(kBlock, values.size())))
            count += value != T{0} ? 1U : 0U;
        total += count;
    }
    return total;
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
template void SquareSum::add<float>(std::span<const float>) noexcept;
template void SquareSum::add<double>(std::span<const double>) noexcept;
template double sumSquaredDifference<float>(std::span<const float>,
                                            std::span<const float>) noexcept;
template double sumSquaredDifference<double>(std::span<const double>,
                                             std::span<const double>) noexcept;
template PairSums pairSums<float>(std::span<const float>, std::span<const float>) noexcept;
template PairSums pairSums<double>(std::span<const double>, std::span<const double>) noexcept;
template bool allFinite<float>(std::span<const float>) noexcept;
template bool allFinite<double>(std::span<const double>) noexcept;
template std::size_t countNonZero<float>(std::span<const float>) noexcept;
template std::size_t countNonZero<double>(std::span<const double>) noexcept;
template MagnitudeKey<float> largestKey<float>(std::span<const float>) noexcept;
template MagnitudeKey<double> largestKey<double>(std::span<const double>) noexcept;

} // namespace gradlab::engine
