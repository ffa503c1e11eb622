// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Codes for n signed levels in [−s, s], s ≤ 32767:
//   fixed    level + s in b = ⌈log2(2s + 1)⌉ bits                       ⌈n·b/8⌉ bytes
//   elias    gamma(|level| + 1), then a sign bit (1 = negative) unless the level is 0
//   entropy  rANS by the levels' own counts: entropy_level_code.h
#pragma once

#include "engine/compression/compressed_gradient.h"
#include "engine/compression/entropy_level_code.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace gradlab::engine {

inline constexpr std::uint32_t kMostLevels = 32767;
inline constexpr std::array<std::pair<std::string_view, LevelCode>, 3> kLevelCodes = {
    {{"fixed", LevelCode::Fixed}, {"elias", LevelCode::Elias}, {"entropy", LevelCode::Entropy}}};

struct LevelCoding {
    LevelCode code = LevelCode::Fixed;
    std::size_t bytes = 0;
};

[[nodiscard]] constexpr unsigned fixedLevelBits(std::uint32_t levels) noexcept {
    return static_cast<unsigned>(std::bit_width(2U * levels));
}
[[nodiscard]] constexpr std::size_t fixedLevelBytes(std::uint32_t levels,
                                                    std::size_t count) noexcept {
    return (std::uint64_t{fixedLevelBits(levels)} * count + 7U) / 8U;
}
/// The code "fixed" of `values`, to exactly fixedLevelBytes. Its pieces of a multiple of eight
/// levels may be written one by one.
void writeFixedLevels(std::uint32_t levels, std::span<const std::int16_t> values,
                      std::span<std::byte> out);

class LevelEncoder {
public:
    /// Exact size of the asked code, or the smallest of all, for `values`, of which
    /// `histogram[l + s]` have level l.
    LevelCoding plan(std::span<const std::uint32_t> histogram, std::span<const std::int16_t> values,
                     std::optional<LevelCode> asked);
    /// Writes what the last plan() was for; `out` has exactly coding.bytes bytes.
    void write(const LevelCoding& coding, std::uint32_t levels,
               std::span<const std::int16_t> values, std::span<std::byte> out) const;

private:
    EntropyLevelEncoder entropy_;
};

class LevelDecoder {
public:
    /// Reads values.size() levels from exactly `bytes`. @throws ProtocolError for a level outside
    /// [−s, s] or a wrong length.
    void read(LevelCode code, std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values);

private:
    EntropyLevelDecoder entropy_;
};

/// Bits of the counted symbols at the entropy of their counts.
[[nodiscard]] double entropyBits(std::span<const std::uint32_t> histogram);

/// values[i] = levels_i · norm / s; the sender's and every receiver's one way to do it.
template <class T>
void dequantise(std::span<const std::int16_t> levels, T norm, std::uint32_t s, std::span<T> values);

} // namespace gradlab::engine
