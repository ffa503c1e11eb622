// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Codes for k ascending, distinct indices below n:
//   raw32    k unsigned 32-bit integers                                                4k bytes
//   gap      first index, then gaps less 1, as base-128 varints (low 7 bits first)      1–5 bytes
//   each elias    first index + 1, then gaps, by Elias gamma or delta, the smaller (flagged) bitmap
//   one bit an element, lowest bit first                                      ⌈n/8⌉ bytes
// The width of an index depends on n alone, never on the width of the values.
#pragma once

#include "engine/compression/compressed_gradient.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gradlab::engine {

struct IndexCoding {
    IndexCode code = IndexCode::Raw32;
    bool delta = false; ///< of Elias: delta in place of gamma
    std::size_t bytes = 0;
};

/// Exact size of the asked code, or the smallest of all.
[[nodiscard]] IndexCoding planIndexCode(std::span<const std::uint32_t> indices, std::size_t n,
                                        std::optional<IndexCode> asked);

/// `out` has exactly coding.bytes bytes.
void writeIndices(const IndexCoding& coding, std::span<const std::uint32_t> indices,
                  std::span<std::byte> out);

/// Reads k indices, k ≤ n ≤ 2^31, from exactly `bytes`. @throws ProtocolError unless they rise
/// strictly and stay below n.
void readIndices(const IndexCoding& coding, ByteView bytes, std::size_t n, std::size_t k,
                 std::vector<std::uint32_t>& indices);

} // namespace gradlab::engine
