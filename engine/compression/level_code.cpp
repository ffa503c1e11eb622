// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/level_code.h"

#include "engine/compression/bit_stream.h"
#include "engine/core/errors.h"

#include <algorithm>
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
        writer.writeGamma(static_cast<std::uint32_t>(std::abs(level)) + 1U);
        if (level != 0)
            writer.write(level < 0 ? 1U : 0U, 1);
    }
    writer.finish();
}

void readElias(std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values) {
    BitReader reader(bytes);
    for (std::int16_t& level : values) {
        const std::uint32_t magnitude = reader.readGamma() - 1U;
        if (magnitude > levels)
            failLevels();
        const bool negative = magnitude != 0 && reader.read(1) != 0;
        const auto q = static_cast<int>(magnitude);
        level = static_cast<std::int16_t>(negative ? -q : q);
    }
    reader.requireEnd();
}

/// The common case s = 64 … 127: one byte a level, a vector loop.
void readByteLevels(std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values) {
    const auto offset = static_cast<std::int16_t>(levels);
    std::uint8_t largest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto code = std::to_integer<std::uint8_t>(bytes[i]);
        largest = std::max(largest, code);
        values[i] = static_cast<std::int16_t>(code - offset);
    }
    if (largest > 2U * levels)
        failLevels();
}

void readFixed(std::uint32_t levels, ByteView bytes, std::span<std::int16_t> values) {
    const unsigned width = fixedLevelBits(levels);
    if (bytes.size() != bytesOfBits(std::uint64_t{width} * values.size()))
        failLevels();
    if (width == 8) {
        readByteLevels(levels, bytes, values);
        return;
    }
    BitReader reader(bytes);
    for (std::int16_t& level : values) {
        const std::uint32_t code = reader.read(width);
        if (code > 2U * levels)
            failLevels();
        level = static_cast<std::int16_t>(static_cast<int>(code) - static_cast<int>(levels));
    }
    reader.requireEnd();
}

} // namespace

LevelCoding planLevelCode(std::span<const std::uint32_t> histogram,
                          std::optional<LevelCode> asked) {
    std::uint64_t elements = 0;
    for (const std::uint32_t count : histogram)
        elements += count;
    const unsigned width = fixedLevelBits(static_cast<std::uint32_t>(histogram.size() / 2));
    const LevelCoding fixed{LevelCode::Fixed, bytesOfBits(elements * width)};
    const LevelCoding elias{LevelCode::Elias, bytesOfBits(eliasBits(histogram))};
    if (asked)
        return *asked == LevelCode::Fixed ? fixed : elias;
    return elias.bytes < fixed.bytes ? elias : fixed;
}

void writeLevels(const LevelCoding& coding, std::uint32_t levels,
                 std::span<const std::int16_t> values, std::span<std::byte> out) {
    if (coding.code == LevelCode::Elias) {
        writeElias(values, out);
        return;
    }
    const unsigned width = fixedLevelBits(levels);
    const auto offset = static_cast<int>(levels);
    if (width == 8) {
        for (std::size_t i = 0; i < values.size(); ++i)
            out[i] = static_cast<std::byte>(values[i] + offset);
        return;
    }
    BitWriter writer(out);
    for (const std::int16_t level : values)
        writer.write(static_cast<std::uint32_t>(level + offset), width);
    writer.finish();
}

void readLevels(LevelCode code, std::uint32_t levels, ByteView bytes,
                std::span<std::int16_t> values) {
    if (levels < 1 || levels > kMostLevels)
        failLevels();
    if (code == LevelCode::Fixed)
        readFixed(levels, bytes, values);
    else if (code == LevelCode::Elias)
        readElias(levels, bytes, values);
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
