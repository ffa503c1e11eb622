// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/entropy_index_code.h"

#include "engine/compression/rans_coder.h"
#include "engine/compression/value_class.h"
#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <limits>

namespace gradlab::engine {

namespace {

constexpr std::uint8_t kMostRiceBits = 30;
constexpr std::uint8_t kNarrowTable = 31;
constexpr std::uint8_t kWideTable = 32;

std::uint32_t skippedBefore(std::span<const std::uint32_t> indices, std::size_t i) {
    return i == 0 ? indices[0] : indices[i] - indices[i - 1] - 1U;
}

template <class Visit>
void eachSkip(std::span<const std::uint32_t> indices, const Visit& visit) {
    std::uint32_t next = 0; // previous index + 1
    for (const std::uint32_t index : indices) {
        visit(index - next);
        next = index + 1U;
    }
}

EntropyIndexCoding planRice(std::span<const std::uint32_t> indices) {
    // Near the mean the size is flat; the best of four parameters is within a bit in a hundred.
    const std::uint64_t mean = indices.back() / indices.size();
    const unsigned log = mean == 0 ? 0U : floorLog2(static_cast<std::uint32_t>(mean));
    const unsigned first = log < 2U ? 0U : log - 2U;
    std::array<std::uint64_t, 4> quotients{};
    eachSkip(indices, [&](std::uint32_t skip) {
        for (unsigned j = 0; j < 4U; ++j)
            quotients[j] += skip >> (first + j);
    });
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    EntropyIndexCoding coding;
    for (unsigned j = 0; j < 4U && first + j <= kMostRiceBits; ++j) {
        const std::uint64_t bits = quotients[j] + indices.size() * (first + j + 1U);
        if (bits < best) {
            best = bits;
            coding.form = static_cast<std::uint8_t>(first + j);
        }
    }
    coding.bytes = 1U + bytesOfBits(best);
    return coding;
}

ClassCounts countClasses(std::span<const std::uint32_t> indices) {
    ClassCounts counts{};
    eachSkip(indices, [&](std::uint32_t skip) { ++counts[classOfValue(skip)]; });
    return counts;
}

/// The table's number of each class.
std::array<std::uint8_t, kValueClasses> symbolsOf(const SymbolTable& table) {
    std::array<std::uint8_t, kValueClasses> symbols{};
    for (std::size_t symbol = 0; symbol < table.size(); ++symbol)
        symbols[table.id(symbol)] = static_cast<std::uint8_t>(symbol);
    return symbols;
}

EntropyIndexCoding planTable(std::span<const std::uint32_t> indices, std::size_t limit) {
    const ClassCounts counts = countClasses(indices);
    const SymbolTable table = *SymbolTable::of(counts);
    const double coded = table.codedBits(counts);
    const std::size_t rest = 1U + bytesOfBits(table.bits()) + bytesOfBits(lowBitsOf(counts));
    const bool wide = ransIsWide(coded);
    EntropyIndexCoding coding{wide ? kWideTable : kNarrowTable, rest};
    if (static_cast<double>(rest) + coded / 8.0 >= static_cast<double>(limit)) {
        coding.bytes = limit; // not worth measuring
        return coding;
    }
    const auto symbols = symbolsOf(table);
    coding.bytes += RansEncoder(table).measure(wide, indices.size(), [&](std::size_t i) {
        return symbols[classOfValue(skippedBefore(indices, i))];
    });
    return coding;
}

void writeTable(bool wide, std::span<const std::uint32_t> indices, std::span<std::byte> out) {
    const ClassCounts counts = countClasses(indices);
    const SymbolTable table = *SymbolTable::of(counts);
    BitWriter head(out);
    table.write(head);
    const std::byte* const headEnd = head.finish();
    const std::span<std::byte> low = out.last(bytesOfBits(lowBitsOf(counts)));
    const auto symbols = symbolsOf(table);
    const std::byte* const begin = RansEncoder(table).encode(
        wide, indices.size(),
        [&](std::size_t i) { return symbols[classOfValue(skippedBefore(indices, i))]; },
        low.data());
    GRADLAB_CHECK(begin == headEnd, begin - out.data(), headEnd - out.data());
    BitWriter writer(low);
    eachSkip(indices, [&](std::uint32_t skip) {
        const unsigned bits = shiftOfValue(skip);
        writer.write(skip & ((1U << bits) - 1U), bits);
    });
    writer.finish();
}

[[noreturn]] void failSkips() {
    throw ProtocolError("entropy-coded indices leave the tensor or their code is malformed; drop "
                        "the message");
}

/// Turns what was skipped before each index into the index; skipAt is below 2^62.
template <class SkipAt>
void accumulate(std::size_t n, std::span<std::uint32_t> indices, const SkipAt& skipAt) {
    std::uint64_t next = 0;
    for (std::uint32_t& index : indices) {
        next += skipAt(index);
        if (next >= n)
            failSkips();
        index = static_cast<std::uint32_t>(next++);
    }
}

void readRice(unsigned bits, ByteView bytes, std::size_t n, std::span<std::uint32_t> indices) {
    BitReader reader(bytes);
    accumulate(n, indices, [&](std::uint32_t) {
        const std::uint64_t quotient = reader.readZeros();
        if (quotient >= n)
            failSkips();
        return quotient << bits | reader.read(bits);
    });
    reader.requireEnd();
}

void readTable(bool wide, ByteView bytes, std::size_t n, std::span<std::uint32_t> indices) {
    BitReader head(bytes);
    const RansDecoder decoder(SymbolTable::read(head, kValueClasses), 0);
    FieldReader low(decoder.decode(wide, head.rest(), indices));
    accumulate(n, indices, [&](std::uint32_t id) -> std::uint64_t {
        return kClasses[id].first + low.read(kClasses[id].lowBits);
    });
    low.requireEnd();
}

} // namespace

EntropyIndexCoding planEntropyIndices(std::span<const std::uint32_t> indices) {
    if (indices.empty())
        return {};
    const EntropyIndexCoding rice = planRice(indices);
    const EntropyIndexCoding table = planTable(indices, rice.bytes);
    return table.bytes < rice.bytes ? table : rice;
}

void writeEntropyIndices(const EntropyIndexCoding& coding, std::span<const std::uint32_t> indices,
                         std::span<std::byte> out) {
    if (indices.empty())
        return;
    out.front() = std::byte{coding.form};
    if (coding.form > kMostRiceBits) {
        writeTable(coding.form == kWideTable, indices, out.subspan(1));
        return;
    }
    BitWriter writer(out.subspan(1));
    const unsigned bits = coding.form;
    eachSkip(indices, [&](std::uint32_t skip) {
        writer.writeRice(skip >> bits, skip & ((1U << bits) - 1U), bits);
    });
    writer.finish();
}

void readEntropyIndices(ByteView bytes, std::size_t n, std::span<std::uint32_t> indices) {
    if (bytes.empty() != indices.empty())
        failSkips();
    if (bytes.empty())
        return;
    const auto form = std::to_integer<std::uint8_t>(bytes.front());
    if (form > kWideTable)
        failSkips();
    if (form <= kMostRiceBits)
        readRice(form, bytes.subspan(1), n, indices);
    else
        readTable(form == kWideTable, bytes.subspan(1), n, indices);
}

} // namespace gradlab::engine
