// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/level_code.h"

#include "engine/compression/bit_stream.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace gradlab::engine {

namespace {

[[noreturn]] void failLevels() {
    throw ProtocolError("levels leave their range or do not fill their payload; drop the message");
}

std::uint64_t eliasBits(std::span<const std::uint32_t> histogram) {
    const auto levels = static_cast<std::uint32_t>(histogram.size() / 2);
    std::uint64_t bits = histogram[levels];
    for (std::uint32_t q = 1; q <= levels; ++q)
        bits += (std::uint64_t{histogram[levels + q]} + histogram[levels - q]) *
                (gammaBits(q + 1U) + 1U);
    return bits;
}

void writeElias(std::span<const std::int16_t> values, std::span<std::byte> out) {
    BitWriter writer(out);
    for (const std::int16_t level : values) {
        // gamma of at most 31 bits and the sign in one go
        const auto magnitude = static_cast<std::uint32_t>(std::abs(level)) + 1U;
        const unsigned log = floorLog2(magnitude);
        const std::uint32_t signAndLow = (level < 0 ? 1U << log : 0U) | (magnitude ^ (1U << log));
        writer.write((signAndLow << 1U | 1U) << log, 2U * log + (level != 0 ? 2U : 1U));
    }
    writer.finish();
}

void readElias(std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values) {
    BitReader reader(bytes);
    for (std::int16_t& level : values) {
        const std::uint32_t magnitude = reader.readGamma() - 1U;
        if (magnitude > levels)
            failLevels();
        const std::uint32_t negative = reader.read(magnitude != 0 ? 1U : 0U);
        level = static_cast<std::int16_t>((magnitude ^ (0U - negative)) + negative);
    }
    reader.requireEnd();
}

/// Codes a byte wide: a vector loop.
void writeByteLevels(int offset, std::span<const std::int16_t> values, std::span<std::byte> out) {
    for (std::size_t i = 0; i < values.size(); ++i)
        out[i] = static_cast<std::byte>(values[i] + offset);
}

std::uint32_t readByteLevels(int offset, ByteView bytes, std::span<std::int16_t> values) {
    std::uint8_t largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto code = std::to_integer<std::uint8_t>(bytes[i]);
        largest = std::max(largest, code);
        values[i] = static_cast<std::int16_t>(code - offset);
    }
    return largest;
}

/// Eight codes fill `width` bytes; four never more than a word.
constexpr std::size_t kBlock = 8;

/// Blocks of which both words can be touched whole, with what follows; the rest goes bit by bit.
std::size_t wholeBlocks(std::size_t count, unsigned width) {
    const std::size_t blocks = count / kBlock;
    const std::size_t margin = (8U + width - 1U) / width; // blocks that a word spans
    return blocks > margin ? blocks - margin : 0;
}

void readFixed(std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values) {
    const unsigned width = fixedLevelBits(levels);
    const auto offset = static_cast<int>(levels);
    if (bytes.size() != fixedLevelBytes(levels, values.size()))
        failLevels();
    std::uint32_t largest = 0;
    if (width == 8) {
        largest = readByteLevels(offset, bytes, values);
    } else {
        const std::uint64_t mask = (std::uint64_t{1} << width) - 1U;
        const std::size_t blocks = wholeBlocks(values.size(), width);
        for (std::size_t b = 0; b < blocks; ++b) {
            std::array<std::uint64_t, 2> halves{};
            const std::byte* const at = bytes.data() + b * width;
            std::memcpy(&halves[0], at, 8);
            std::memcpy(&halves[1], at + width / 2U, 8);
            halves[1] >>= width % 2U * 4U;
            for (unsigned j = 0; j < kBlock; ++j) {
                const auto code =
                    static_cast<std::uint32_t>(halves[j / 4U] >> (j % 4U * width) & mask);
                largest = std::max(largest, code);
                values[b * kBlock + j] = static_cast<std::int16_t>(static_cast<int>(code) - offset);
            }
        }
        BitReader reader(bytes.subspan(blocks * width));
        for (std::int16_t& level : values.subspan(blocks * kBlock)) {
            const std::uint32_t code = reader.read(width);
            largest = std::max(largest, code);
            level = static_cast<std::int16_t>(static_cast<int>(code) - offset);
        }
        reader.requireEnd();
    }
    if (largest > 2U * levels)
        failLevels();
}

} // namespace

void writeFixedLevels(std::uint32_t levels, std::span<const std::int16_t> values,
                      std::span<std::byte> out) {
    const unsigned width = fixedLevelBits(levels);
    const auto offset = static_cast<int>(levels);
    if (width == 8) {
        writeByteLevels(offset, values, out);
        return;
    }
    const std::size_t blocks = wholeBlocks(values.size(), width);
    for (std::size_t b = 0; b < blocks; ++b) {
        std::array<std::uint64_t, 2> halves{};
        for (unsigned j = 0; j < kBlock; ++j)
            halves[j / 4U] |= static_cast<std::uint64_t>(values[b * kBlock + j] + offset)
                              << (j % 4U * width);
        if (width % 2U != 0) // the second half begins in the middle of a byte
            halves[1] = halves[1] << 4U | halves[0] >> (4U * width - 4U);
        std::byte* const at = out.data() + b * width;
        std::memcpy(at, &halves[0], 8);
        std::memcpy(at + width / 2U, &halves[1], 8);
    }
    BitWriter writer(out.subspan(blocks * width));
    for (const std::int16_t level : values.subspan(blocks * kBlock))
        writer.write(static_cast<std::uint32_t>(level + offset), width);
    writer.finish();
}

double entropyBits(std::span<const std::uint32_t> histogram) {
    double total = 0.0;
    for (const std::uint32_t count : histogram)
        total += static_cast<double>(count);
    double bits = 0.0;
    for (const std::uint32_t count : histogram)
        if (count > 0)
            bits += static_cast<double>(count) * std::log2(total / static_cast<double>(count));
    return bits;
}

LevelCoding LevelEncoder::plan(std::span<const std::uint32_t> histogram,
                               std::span<const std::int16_t> values,
                               std::optional<LevelCode> asked) {
    const auto levels = static_cast<std::uint32_t>(histogram.size() / 2);
    const LevelCoding fixed{LevelCode::Fixed, fixedLevelBytes(levels, values.size())};
    if (asked == LevelCode::Fixed)
        return fixed;
    const LevelCoding elias{LevelCode::Elias, bytesOfBits(eliasBits(histogram))};
    if (asked == LevelCode::Elias)
        return elias;
    const LevelCoding simple = elias.bytes < fixed.bytes ? elias : fixed;
    // Places that cluster may take the code below the entropy, but hardly where that is no gain.
    if (!asked && entropyBits(histogram) >= 8.0 * static_cast<double>(simple.bytes))
        return simple;
    const LevelCoding entropy{LevelCode::Entropy, entropy_.encode(histogram, values)};
    return asked || entropy.bytes < simple.bytes ? entropy : simple;
}

void LevelEncoder::write(const LevelCoding& coding, std::uint32_t levels,
                         std::span<const std::int16_t> values, std::span<std::byte> out) const {
    if (coding.code == LevelCode::Entropy)
        entropy_.write(out);
    else if (coding.code == LevelCode::Elias)
        writeElias(values, out);
    else
        writeFixedLevels(levels, values, out);
}

void LevelDecoder::read(LevelCode code, std::uint32_t levels, ByteView bytes,
                        std::span<std::int16_t> values) {
    if (levels < 1 || levels > kMostLevels)
        failLevels();
    if (code == LevelCode::Fixed)
        readFixed(levels, bytes, values);
    else if (code == LevelCode::Elias)
        readElias(levels, bytes, values);
    else if (code == LevelCode::Entropy)
        entropy_.decode(levels, bytes, values);
    else
        throw ProtocolError("unknown level code; use the same version everywhere");
}

template <class T>
void dequantise(std::span<const std::int16_t> levels, T norm, std::uint32_t s,
                std::span<T> values) {
    // Level ±s gives exactly ±norm, and level · norm, which could overflow, is never formed in T.
    const auto scale = static_cast<double>(s);
    if constexpr (sizeof(T) == 4) {
        const double step = static_cast<double>(norm) / scale;
        // A step that a float holds (s is a power of 2, as a rule): the same bits without doubles.
        if (const auto narrow = static_cast<float>(step); static_cast<double>(narrow) == step) {
            for (std::size_t i = 0; i < levels.size(); ++i)
                values[i] = static_cast<float>(levels[i]) * narrow;
            return;
        }
        for (std::size_t i = 0; i < levels.size(); ++i)
            values[i] = static_cast<float>(static_cast<double>(levels[i]) * step);
    } else {
        for (std::size_t i = 0; i < levels.size(); ++i)
            values[i] = norm * (static_cast<double>(levels[i]) / scale);
    }
}

template void dequantise<float>(std::span<const std::int16_t>, float, std::uint32_t,
                                std::span<float>);
template void dequantise<double>(std::span<const std::int16_t>, double, std::uint32_t,
                                 std::span<double>);

} // namespace gradlab::engine
