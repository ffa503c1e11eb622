// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Classes of integers below 2^31, so that a table of counts stays small: 0 … 15 are a class each,
// larger ones share one with those of the same length and the same three bits behind the leading
// one. The bits behind these are written as they are.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace gradlab::engine {

inline constexpr std::size_t kValueClasses = 232;

[[nodiscard]] constexpr unsigned shiftOfValue(std::uint32_t value) noexcept {
    return static_cast<unsigned>(std::bit_width(value | 8U)) - 4U;
}
[[nodiscard]] constexpr std::uint32_t classOfValue(std::uint32_t value) noexcept {
    const unsigned shift = shiftOfValue(value);
    return 8U * shift + (value >> shift);
}

struct ValueClass {
    std::uint32_t first = 0;   ///< the smallest of the class
    std::uint32_t lowBits = 0; ///< of a value that its class does not tell
};

/// All classes by id.
inline constexpr std::array<ValueClass, kValueClasses> kClasses = [] {
    std::array<ValueClass, kValueClasses> classes{};
    for (std::uint32_t id = 0; id < kValueClasses; ++id) {
        const std::uint32_t shift = id < 8U ? 0U : id / 8U - 1U;
        classes[id] = {(id - 8U * shift) << shift, shift};
    }
    return classes;
}();

/// How often each class occurs in a message.
using ClassCounts = std::array<std::uint32_t, kValueClasses>;

[[nodiscard]] constexpr std::uint64_t lowBitsOf(const ClassCounts& counts) noexcept {
    std::uint64_t bits = 0;
    for (std::size_t id = 0; id < kValueClasses; ++id)
        bits += std::uint64_t{counts[id]} * kClasses[id].lowBits;
    return bits;
}

static_assert(classOfValue(0x7FFFFFFFU) == kValueClasses - 1);
static_assert(kClasses[kValueClasses - 1].first + (1U << 27U) == 0x80000000U);

} // namespace gradlab::engine
