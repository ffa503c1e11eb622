// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The level code "entropy": n signed levels in [−s, s], near the entropy of their counts.
//   byte 0 = 1 · eight states + 2 · classes + 4 · sparse
//   sparse (seven of eight levels or more are one, c):
//     bits   gamma(c + s + 1), gamma(k + 1), gamma(index bytes + 1), padded to a byte; the places
//            of the k other levels by the index code "entropy"; the k levels as below
//   else the n levels:
//     bits   a table of symbols, padded to a byte: ids are level + s, or with classes those of
//            z = 2·level, or −2·level − 1 where it is negative
//     states and words; with classes then the low bits of each z
// Nothing where there are no levels.
#pragma once

#include "engine/core/byte_buffer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gradlab::engine {

class SymbolTable;

/// Encodes into memory of its own, as the size is known only then.
class EntropyLevelEncoder {
public:
    /// `histogram[l + s]` counts level l of `values`. Returns the bytes of the code.
    std::size_t encode(std::span<const std::uint32_t> histogram,
                       std::span<const std::int16_t> values);
    /// Copies what encode() made to `out`, which has exactly as many bytes.
    void write(std::span<std::byte> out) const;

private:
    void splitOff(std::size_t common, std::size_t others, std::span<const std::int16_t> values);
    void encodeSymbols(std::span<const std::uint32_t> histogram,
                       std::span<const std::int16_t> values);
    void encodeDirect(const SymbolTable& table, bool wide, std::size_t levelCount,
                      std::span<const std::int16_t> values);
    void encodeClasses(const SymbolTable& table, bool wide, std::uint64_t lowBits,
                       std::span<const std::int16_t> values);
    void writeTable(const SymbolTable& table);
    void reserve(std::size_t ids, std::size_t count);

    ByteBuffer head_; ///< all in front of the states
    ByteBuffer room_; ///< of the states and words, which end where it does
    ByteView words_;
    ByteBuffer low_;
    std::vector<std::uint8_t> symbols_; ///< the table's number of each id
    std::vector<std::uint32_t> counts_; ///< the histogram without the common level
    std::vector<std::uint32_t> places_; ///< of the other levels
    std::vector<std::int16_t> others_;
};

class EntropyLevelDecoder {
public:
    /// Fills `values` from exactly `bytes`, 1 ≤ s ≤ 32767. @throws ProtocolError
    void decode(std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values);

private:
    std::vector<std::uint32_t> places_;
    std::vector<std::int16_t> others_;
};

} // namespace gradlab::engine
