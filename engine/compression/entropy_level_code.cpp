// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/entropy_level_code.h"

#include "engine/compression/entropy_index_code.h"
#include "engine/compression/rans_coder.h"
#include "engine/compression/value_class.h"
#include "engine/core/errors.h"
#include "engine/core/reserve.h"

#include <algorithm>

namespace gradlab::engine {

namespace {

constexpr unsigned kWide = 1;
constexpr unsigned kByClass = 2;
constexpr unsigned kSparse = 4;
/// At most one level of so many is not the common one where the code is sparse.
constexpr std::size_t kMostOthers = 8;

/// 0, −1, 1, −2 … to 0, 1, 2, 3 … and back; no branches, as signs cannot be predicted.
std::uint32_t folded(int level) noexcept {
    return static_cast<std::uint32_t>(level * 2 ^ level >> 31);
}
int unfolded(std::uint32_t value) noexcept {
    return static_cast<int>(value >> 1U ^ (0U - (value & 1U)));
}

ClassCounts countClasses(std::span<const std::uint32_t> histogram) {
    const auto levels = static_cast<int>(histogram.size() / 2);
    ClassCounts counts{};
    for (std::size_t id = 0; id < histogram.size(); ++id)
        counts[classOfValue(folded(static_cast<int>(id) - levels))] += histogram[id];
    return counts;
}

[[noreturn]] void failLevels() {
    throw ProtocolError("entropy-coded levels leave their range or are malformed; drop the "
                        "message");
}

void readClassLevels(std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values) {
    FieldReader low(bytes);
    for (std::int16_t& value : values) {
        const ValueClass& known = kClasses[static_cast<std::size_t>(value)];
        const std::uint32_t z = known.first + low.read(known.lowBits);
        if (z > 2U * levels)
            failLevels();
        value = static_cast<std::int16_t>(unfolded(z));
    }
    low.requireEnd();
}

void readSymbols(unsigned form, std::uint32_t levels, ByteView bytes,
                 std::span<std::int16_t> values) {
    if (bytes.empty() != values.empty())
        failLevels();
    if (values.empty())
        return;
    const bool classes = (form & kByClass) != 0;
    BitReader head(bytes);
    const std::uint32_t ids = classes ? classOfValue(2U * levels) + 1U : 2U * levels + 1U;
    const RansDecoder decoder(SymbolTable::read(head, ids),
                              classes ? 0 : -static_cast<std::int32_t>(levels));
    const ByteView low = decoder.decode((form & kWide) != 0, head.rest(), values);
    if (classes)
        readClassLevels(levels, low, values);
    else if (!low.empty())
        failLevels();
}

} // namespace

std::size_t EntropyLevelEncoder::encode(std::span<const std::uint32_t> histogram,
                                        std::span<const std::int16_t> values) {
    head_.clear();
    words_ = {};
    low_.clear();
    if (values.empty())
        return 0;
    reserve(histogram.size(), values.size());
    head_.push_back(std::byte{0});
    const auto most = std::max_element(histogram.begin(), histogram.end());
    const std::size_t others = values.size() - *most;
    if (others > values.size() / kMostOthers) {
        encodeSymbols(histogram, values);
    } else {
        const auto common = static_cast<std::size_t>(most - histogram.begin());
        counts_.assign(histogram.begin(), histogram.end());
        counts_[common] = 0;
        splitOff(common, others, values);
        if (others > 0)
            encodeSymbols(counts_, others_);
    }
    return head_.size() + words_.size() + low_.size();
}

/// For all forms that the code may take.
void EntropyLevelEncoder::reserve(std::size_t ids, std::size_t count) {
    constexpr std::size_t kTable = 2048; // bytes of any table and what is in front of it
    reserveFor(head_, 1, kTable + count / kMostOthers);
    reserveFor(low_, 1, 2 * count);
    reserveFor(symbols_, 1, std::max(ids, kValueClasses));
    reserveFor(counts_, 1, ids);
    reserveFor(places_, 1, count / kMostOthers + 1);
    reserveFor(others_, 1, count / kMostOthers + 1);
    if (room_.size() < RansEncoder::mostBytes(count))
        room_.resize(RansEncoder::mostBytes(count));
}

void EntropyLevelEncoder::write(std::span<std::byte> out) const {
    auto at = std::copy(head_.begin(), head_.end(), out.begin());
    at = std::copy(words_.begin(), words_.end(), at);
    std::copy(low_.begin(), low_.end(), at);
}

void EntropyLevelEncoder::splitOff(std::size_t common, std::size_t others,
                                   std::span<const std::int16_t> values) {
    // One more than the others: each level is written where the next other one belongs.
    places_.resize(others + 1);
    others_.resize(others + 1);
    const auto usual = static_cast<int>(common) - static_cast<int>(counts_.size() / 2);
    std::size_t found = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        places_[found] = static_cast<std::uint32_t>(i);
        others_[found] = values[i];
        found += values[i] != usual ? 1U : 0U;
    }
    places_.resize(others);
    others_.resize(others);
    const EntropyIndexCoding coding = planEntropyIndices(places_);
    constexpr std::size_t kMostHead = 24; // three gammas below 2^32
    head_.resize(1 + kMostHead);
    head_[0] |= std::byte{kSparse};
    BitWriter writer(std::span<std::byte>(head_).subspan(1));
    writer.writeGamma(static_cast<std::uint32_t>(common) + 1U);
    writer.writeGamma(static_cast<std::uint32_t>(others) + 1U);
    writer.writeGamma(static_cast<std::uint32_t>(coding.bytes) + 1U);
    const auto begin = static_cast<std::size_t>(writer.finish() - head_.data());
    head_.resize(begin + coding.bytes);
    writeEntropyIndices(coding, places_, std::span(head_).subspan(begin));
}

void EntropyLevelEncoder::encodeSymbols(std::span<const std::uint32_t> histogram,
                                        std::span<const std::int16_t> values) {
    constexpr double kWorth = 0.99; // classes take longer to decode
    const auto direct = SymbolTable::of(histogram);
    const ClassCounts counts = countClasses(histogram);
    const SymbolTable classes = *SymbolTable::of(counts);
    const std::uint64_t lowBits = lowBitsOf(counts);
    const double classBits = classes.codedBits(counts);
    const double classTotal = static_cast<double>(classes.bits() + lowBits) + classBits;
    const double directBits = direct ? direct->codedBits(histogram) : 0.0;
    if (direct && static_cast<double>(direct->bits()) + directBits <= classTotal / kWorth)
        encodeDirect(*direct, ransIsWide(directBits), histogram.size() / 2, values);
    else
        encodeClasses(classes, ransIsWide(classBits), lowBits, values);
}

void EntropyLevelEncoder::encodeDirect(const SymbolTable& table, bool wide, std::size_t levelCount,
                                       std::span<const std::int16_t> values) {
    head_[0] |= std::byte{static_cast<std::uint8_t>(wide ? kWide : 0U)};
    writeTable(table);
    symbols_.resize(2 * levelCount + 1);
    for (std::size_t symbol = 0; symbol < table.size(); ++symbol)
        symbols_[table.id(symbol)] = static_cast<std::uint8_t>(symbol);
    const std::uint8_t* const zero = symbols_.data() + levelCount;
    std::byte* const end = room_.data() + room_.size();
    words_ = {RansEncoder(table).encode(
                  wide, values.size(), [&](std::size_t i) { return zero[values[i]]; }, end),
              end};
}

void EntropyLevelEncoder::encodeClasses(const SymbolTable& table, bool wide, std::uint64_t lowBits,
                                        std::span<const std::int16_t> values) {
    head_[0] |= std::byte{static_cast<std::uint8_t>(kByClass | (wide ? kWide : 0U))};
    writeTable(table);
    symbols_.resize(kValueClasses);
    for (std::size_t symbol = 0; symbol < table.size(); ++symbol)
        symbols_[table.id(symbol)] = static_cast<std::uint8_t>(symbol);
    std::byte* const end = room_.data() + room_.size();
    const auto symbolAt = [&](std::size_t i) { return symbols_[classOfValue(folded(values[i]))]; };
    words_ = {RansEncoder(table).encode(wide, values.size(), symbolAt, end), end};
    low_.resize(bytesOfBits(lowBits));
    BitWriter writer(low_);
    for (const std::int16_t level : values) {
        const std::uint32_t z = folded(level);
        const unsigned bits = shiftOfValue(z);
        writer.write(z & ((1U << bits) - 1U), bits);
    }
    writer.finish();
}

void EntropyLevelEncoder::writeTable(const SymbolTable& table) {
    const std::size_t begin = head_.size();
    head_.resize(begin + bytesOfBits(table.bits()));
    BitWriter writer(std::span<std::byte>(head_).subspan(begin));
    table.write(writer);
    writer.finish();
}

void EntropyLevelDecoder::decode(std::uint32_t levels, ByteView bytes,
                                 std::span<std::int16_t> values) {
    if (bytes.empty() != values.empty())
        failLevels();
    if (values.empty())
        return;
    const auto form = std::to_integer<unsigned>(bytes.front());
    if (form > (kWide | kByClass | kSparse))
        failLevels();
    if ((form & kSparse) == 0) {
        readSymbols(form, levels, bytes.subspan(1), values);
        return;
    }
    BitReader head(bytes.subspan(1));
    const std::uint32_t common = head.readGamma() - 1U;
    const std::uint32_t others = head.readGamma() - 1U;
    const std::uint32_t indexBytes = head.readGamma() - 1U;
    const ByteView rest = head.rest();
    if (common > 2U * levels || others > values.size() || indexBytes > rest.size())
        failLevels();
    const std::size_t most = values.size() / kMostOthers; // of ours; others are just slower
    reserveFor(places_, others, most);
    reserveFor(others_, others, most);
    places_.resize(others);
    others_.resize(others);
    readEntropyIndices(rest.first(indexBytes), values.size(), places_);
    readSymbols(form, levels, rest.subspan(indexBytes), others_);
    std::fill(values.begin(), values.end(),
              static_cast<std::int16_t>(static_cast<int>(common) - static_cast<int>(levels)));
    for (std::size_t i = 0; i < others_.size(); ++i)
        values[places_[i]] = others_[i];
}

} // namespace gradlab::engine
