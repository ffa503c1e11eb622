// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/symbol_table.h"

#include "engine/core/errors.h"

#include <cmath>

namespace gradlab::engine {

namespace {

constexpr unsigned kMantissaBits = 3;
constexpr std::uint64_t kOne = 1U << kMantissaBits; // the mantissa of a power of two
constexpr std::uint32_t kMostExponent = 32;         // a count below 2^32, rounded up

[[noreturn]] void failTable() {
    throw ProtocolError("a table of symbols is malformed; drop the message");
}

std::uint32_t zigzag(std::int32_t value) {
    const auto doubled = static_cast<std::uint32_t>(value) << 1U;
    return value < 0 ? ~doubled : doubled;
}
std::int32_t unzigzag(std::uint32_t value) {
    const auto half = static_cast<std::int32_t>(value >> 1U);
    return (value & 1U) != 0 ? -half - 1 : half;
}

} // namespace

std::optional<SymbolTable> SymbolTable::of(std::span<const std::uint32_t> counts) {
    SymbolTable table;
    for (std::size_t id = 0; id < counts.size(); ++id) {
        if (counts[id] == 0)
            continue;
        if (table.size_ == kMostSymbols)
            return std::nullopt;
        unsigned exponent = floorLog2(counts[id]);
        const std::uint64_t doubled = (std::uint64_t{counts[id]} * 2U * kOne) >> exponent;
        std::uint64_t rounded = (doubled + 1U) / 2U;
        if (rounded == 2U * kOne) {
            rounded = kOne;
            ++exponent;
        }
        table.ids_[table.size_] = static_cast<std::uint16_t>(id);
        table.exponents_[table.size_] = static_cast<std::uint8_t>(exponent);
        table.mantissas_[table.size_++] = static_cast<std::uint8_t>(rounded - kOne);
    }
    if (table.size_ == 0)
        return std::nullopt;
    table.setFrequencies();
    return table;
}

SymbolTable SymbolTable::read(BitReader& reader, std::uint32_t idCount) {
    SymbolTable table;
    const std::uint32_t size = reader.readGamma();
    if (size > kMostSymbols || size > idCount)
        failTable();
    table.size_ = size;
    std::uint64_t next = 0; // previous id + 1
    std::int64_t exponent = 0;
    for (std::size_t symbol = 0; symbol < size; ++symbol) {
        next += reader.readGamma();
        exponent += unzigzag(reader.readGamma() - 1U);
        if (next > idCount || exponent < 0 || exponent > kMostExponent)
            failTable();
        table.ids_[symbol] = static_cast<std::uint16_t>(next - 1U);
        table.exponents_[symbol] = static_cast<std::uint8_t>(exponent);
        table.mantissas_[symbol] = static_cast<std::uint8_t>(reader.read(kMantissaBits));
    }
    table.setFrequencies();
    return table;
}

std::uint64_t SymbolTable::weight(std::size_t symbol) const {
    return (kOne + mantissas_[symbol]) << exponents_[symbol];
}

void SymbolTable::setFrequencies() {
    std::uint64_t total = 0;
    std::size_t heaviest = 0;
    for (std::size_t symbol = 0; symbol < size_; ++symbol) {
        total += weight(symbol);
        if (weight(symbol) > weight(heaviest))
            heaviest = symbol;
    }
    const std::uint64_t spare = kFrequencySum - size_;
    std::uint64_t left = spare;
    for (std::size_t symbol = 0; symbol < size_; ++symbol) {
        const std::uint64_t share = weight(symbol) * spare / total; // below 2^50 before dividing
        frequencies_[symbol] = static_cast<std::uint16_t>(1U + share);
        left -= share;
    }
    frequencies_[heaviest] = static_cast<std::uint16_t>(frequencies_[heaviest] + left);
}

template <class Visit>
void SymbolTable::eachStep(const Visit& visit) const {
    std::uint32_t next = 0;
    std::int32_t exponent = 0;
    for (std::size_t symbol = 0; symbol < size_; ++symbol) {
        visit(symbol, ids_[symbol] + 1U - next, zigzag(exponents_[symbol] - exponent) + 1U);
        next = ids_[symbol] + 1U;
        exponent = exponents_[symbol];
    }
}

void SymbolTable::write(BitWriter& writer) const {
    writer.writeGamma(static_cast<std::uint32_t>(size_));
    eachStep([&](std::size_t symbol, std::uint32_t gap, std::uint32_t step) {
        writer.writeGamma(gap);
        writer.writeGamma(step);
        writer.write(mantissas_[symbol], kMantissaBits);
    });
}

std::uint64_t SymbolTable::bits() const {
    std::uint64_t bits = gammaBits(static_cast<std::uint32_t>(size_));
    eachStep([&](std::size_t, std::uint32_t gap, std::uint32_t step) {
        bits += gammaBits(gap) + gammaBits(step) + kMantissaBits;
    });
    return bits;
}

double SymbolTable::codedBits(std::span<const std::uint32_t> counts) const {
    double bits = 0.0;
    for (std::size_t symbol = 0; symbol < size_; ++symbol)
        bits += static_cast<double>(counts[ids_[symbol]]) *
                (kFrequencyBits - std::log2(static_cast<double>(frequencies_[symbol])));
    return bits;
}

} // namespace gradlab::engine
