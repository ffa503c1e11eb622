// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Codes for n signed levels in [−s, s], s ≤ 32767:
//   fixed    level + s in b = ⌈log2(2s + 1)⌉ bits                       ⌈n·b/8⌉ bytes
//   elias    gamma(|level| + 1), then a sign bit (1 = negative) unless the level is 0
#pragma once

#include "engine/compression/compressed_gradient.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gradlab::engine {

inline constexpr std::uint32_t kMostLevels = 32767;

struct LevelCoding {
    LevelCode code = LevelCode::Fixed;
    std::size_t bytes = 0;
};

[[nodiscard]] constexpr unsigned fixedLevelBits(std::uint32_t levels) noexcept {
    return static_cast<unsigned>(std::bit_width(2U * levels));
}

/// Exact size of the asked code, or the smaller of both. `histogram[l + s]` counts level l.
[[nodiscard]] LevelCoding planLevelCode(std::span<const std::uint32_t> histogram,
                                        std::optional<LevelCode> asked);

/// `out` has exactly coding.bytes bytes.
void writeLevels(const LevelCoding& coding, std::uint32_t levels,
                 std::span<const std::int16_t> values, std::span<std::byte> out);

/// Reads values.size() levels from exactly `bytes`. @throws ProtocolError for a level outside
/// [−s, s] or a wrong length.
void readLevels(LevelCode code, std::uint32_t levels, ByteView bytes,
                std::span<std::int16_t> values);

/// values[i] = levels_i · norm / s; the sender's and every receiver's one way to do it.
template <class T>
void dequantise(std::span<const std::int16_t> levels, T norm, std::uint32_t s, std::span<T> values);

} // namespace gradlab::engine
