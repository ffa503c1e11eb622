// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// bf16 as operands of products have it: the upper half of a float. Leaves out: bf16 in messages,
// which clamps what is too large instead (compression/value_code.h).
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace gradlab::engine {

/// Sign, 8 bits of exponent, 7 of fraction.
using Bfloat = std::uint16_t;

/// The nearest, of two equally near the even one; beyond the largest finite one infinity; a NaN
/// stays one, with its sign and the upper half of its payload.
[[nodiscard]] constexpr Bfloat roundToBfloat(float value) noexcept {
    constexpr std::uint32_t kInfinity = 0x7F800000U;
    constexpr std::uint32_t kQuiet = 0x40U;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t upper = bits >> 16U;
    const std::uint32_t rounded = (bits + 0x7FFFU + (upper & 1U)) >> 16U;
    return static_cast<Bfloat>((bits & 0x7FFFFFFFU) > kInfinity ? upper | kQuiet : rounded);
}
/// Element by element; `to` has room for all.
void roundToBfloats(std::span<const float> values, Bfloat* to) noexcept;

} // namespace gradlab::engine
