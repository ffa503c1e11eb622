// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How often each symbol of a message occurs, as it travels and as the entropy coder uses it.
//   on the wire, bits: gamma(symbols), then for each of them, ids rising,
//     gamma(id − previous id)      the first: id + 1
//     gamma(zigzag(e − previous e) + 1), m in 3 bits     its weight is (8 + m) · 2^e ≈ 8 · count
//   frequency_i = 1 + floor(weight_i · (2^14 − symbols) / all weights); what is left to 2^14 goes
//   to the first of the heaviest.
// Sender and receiver compute frequencies from the weights alone, in integers.
#pragma once

#include "engine/compression/bit_stream.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gradlab::engine {

inline constexpr unsigned kFrequencyBits = 14;
inline constexpr std::uint32_t kFrequencySum = 1U << kFrequencyBits;
inline constexpr std::size_t kMostSymbols = 256;

class SymbolTable {
public:
    /// From counts[id]; empty unless 1 to 256 ids occur.
    [[nodiscard]] static std::optional<SymbolTable> of(std::span<const std::uint32_t> counts);
    /// Ids come out below `idCount` ≤ 65536. @throws ProtocolError
    [[nodiscard]] static SymbolTable read(BitReader& reader, std::uint32_t idCount);

    void write(BitWriter& writer) const;
    /// Of write().
    [[nodiscard]] std::uint64_t bits() const;
    /// What the counted symbols take with these frequencies, the table apart.
    [[nodiscard]] double codedBits(std::span<const std::uint32_t> counts) const;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint32_t id(std::size_t symbol) const { return ids_[symbol]; }
    [[nodiscard]] std::uint32_t frequency(std::size_t symbol) const { return frequencies_[symbol]; }

private:
    [[nodiscard]] std::uint64_t weight(std::size_t symbol) const;
    void setFrequencies();
    /// Calls visit(id − previous id, zigzag(e − previous e) + 1) for each symbol.
    template <class Visit>
    void eachStep(const Visit& visit) const;

    std::size_t size_ = 0;
    std::array<std::uint16_t, kMostSymbols> ids_{};
    std::array<std::uint8_t, kMostSymbols> exponents_{};
    std::array<std::uint8_t, kMostSymbols> mantissas_{}; ///< m
    std::array<std::uint16_t, kMostSymbols> frequencies_{};
};

} // namespace gradlab::engine
