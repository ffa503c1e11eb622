// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Codes for k ascending, distinct indices below n:
//   raw32    k unsigned 32-bit integers                                                4k bytes
//   gap      first index, then gaps less 1, as base-128 varints (low 7 bits first)      1–5 bytes
//            each
//   elias    first index + 1, then gaps, by Elias gamma or delta, the smaller (flagged)
//   bitmap   one bit an element, lowest bit first                                      ⌈n/8⌉ bytes
//   entropy  Rice or rANS of the gaps, near log2 C(n,k) bits: entropy_index_code.h
// The width of an index depends on n alone, never on the width of the values.
#pragma once

#include "engine/compression/compressed_gradient.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace gradlab::engine {

inline constexpr std::array<std::pair<std::string_view, IndexCode>, 5> kIndexCodes = {
    {{"raw32", IndexCode::Raw32},
     {"gap", IndexCode::Gap},
     {"elias", IndexCode::Elias},
     {"bitmap", IndexCode::Bitmap},
     {"entropy", IndexCode::Entropy}}};

struct IndexCoding {
    IndexCode code = IndexCode::Raw32;
    bool delta = false; ///< of Elias: delta in place of gamma
    std::size_t bytes = 0;
    std::uint8_t form = 0; ///< of Entropy, when writing
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
