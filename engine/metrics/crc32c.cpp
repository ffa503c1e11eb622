// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/crc32c.h"

#include <array>
#include <bit>

namespace gradlab::engine {

namespace {

/// Castagnoli's polynomial, bits reversed.
constexpr std::uint32_t kPolynomial = 0x82F63B78U;

constexpr std::array<std::uint32_t, 256> makeTable() {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte;
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0 ? (value >> 1U) ^ kPolynomial : value >> 1U;
        table[byte] = value;
    }
    return table;
}

constexpr std::array<std::uint32_t, 256> kTable = makeTable();

} // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
    std::uint32_t value = ~0U;
    for (const char c : bytes)
        value = (value >> 8U) ^ kTable[(value ^ static_cast<unsigned char>(c)) & 0xFFU];
    return ~value;
}

std::uint32_t maskedCrc32c(std::string_view bytes) noexcept {
    return std::rotr(crc32c(bytes), 15) + 0xA282EAD8U;
}

} // namespace gradlab::engine
