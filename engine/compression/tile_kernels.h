// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Loops over a tile that compilers vectorise. Sums have a fixed order of their own (lanes of
// double, folded at the end), so their bits depend neither on the instruction set nor on threads.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace gradlab::engine {

/// Elements that memory and compressor handle together while they are in cache.
inline constexpr std::size_t kTileElements = 2048;
/// Norms that decide what is sent are sums of one number for each so many elements: their last bits
/// are part of the message.
inline constexpr std::size_t kNormElements = 4096;
static_assert(kNormElements % kTileElements == 0);

/// The unsigned integer in which magnitudes are ordered: same order as |x| for finite x, and total.
template <class T>
using MagnitudeKey = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
[[nodiscard]] constexpr MagnitudeKey<T> magnitudeKey(T value) noexcept {
    return std::bit_cast<MagnitudeKey<T>>(value) & (~MagnitudeKey<T>{0} >> 1U);
}
template <class T>
[[nodiscard]] constexpr T magnitudeOf(MagnitudeKey<T> key) noexcept {
    return std::bit_cast<T>(key);
}

template <class T>
[[nodiscard]] constexpr bool isFiniteKey(MagnitudeKey<T> key) noexcept {
    return key < magnitudeKey(std::numeric_limits<T>::infinity());
}

/// Σ x² in double. Infinite or NaN exactly when a float is; doubles may also overflow.
template <class T>
[[nodiscard]] double sumSquares(std::span<const T> values) noexcept;
/// sumSquares() of values that come in pieces.
class SquareSum {
public:
    template <class T>
    void add(std::span<const T> values) noexcept;
    /// The sum since the last call.
    [[nodiscard]] double take() noexcept;

private:
    std::array<double, 16> lanes_{};
    std::size_t next_ = 0; ///< the lane of the next value
};
/// Σ (x − y)² in double.
template <class T>
[[nodiscard]] double sumSquaredDifference(std::span<const T> x, std::span<const T> y) noexcept;
/// All three in one go.
struct PairSums {
    double squaresX = 0.0;          ///< Σ x²
    double squaresY = 0.0;          ///< Σ y²
    double squaredDifference = 0.0; ///< Σ (x − y)²
};
template <class T>
[[nodiscard]] PairSums pairSums(std::span<const T> x, std::span<const T> y) noexcept;
template <class T>
[[nodiscard]] bool allFinite(std::span<const T> values) noexcept;
template <class T>
[[nodiscard]] std::size_t countNonZero(std::span<const T> values) noexcept;
/// Largest magnitude key; 0 for none.
template <class T>
[[nodiscard]] MagnitudeKey<T> largestKey(std::span<const T> values) noexcept;

} // namespace gradlab::engine
