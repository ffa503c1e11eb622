// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The index code "entropy": k ascending, distinct indices below n, near log2 C(n,k) bits or below
// it where they cluster. Of g = gap − 1 (the first: the index itself) travels
//   byte 0 = b ≤ 30     Rice: floor(g / 2^b) zeros, a one, the b low bits of g
//   byte 0 = 31, 32     a table and the classes of the g, by 1 or 8 states, then their low bits
// the smaller; nothing at all for k = 0. Rice needs at most k·(b + 1) + (n − k)/2^b bits, wherever
// the indices are. Source: Rice, Plaunt 1971, "Adaptive variable-length coding"; rans_coder.h.
#pragma once

#include "engine/core/byte_buffer.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradlab::engine {

struct EntropyIndexCoding {
    std::uint8_t form = 0; ///< byte 0
    std::size_t bytes = 0;
};

[[nodiscard]] EntropyIndexCoding planEntropyIndices(std::span<const std::uint32_t> indices);

/// `out` has exactly coding.bytes bytes.
void writeEntropyIndices(const EntropyIndexCoding& coding, std::span<const std::uint32_t> indices,
                         std::span<std::byte> out);

/// Fills `indices` from exactly `bytes`. @throws ProtocolError unless they rise strictly and stay
/// below n ≤ 2^31.
void readEntropyIndices(ByteView bytes, std::size_t n, std::span<std::uint32_t> indices);

} // namespace gradlab::engine
