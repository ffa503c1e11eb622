// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/value_code.h"

#include "engine/core/errors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace gradlab::engine {

namespace {

constexpr std::size_t kChunk = 512; // elements converted at once, on the stack

/// Double to float so that a later rounding to 16 bits is as if made from the double: truncates and
/// sets the last bit when anything was cut (round to odd).
float toOddFloat(double value) noexcept {
    const double clamped = std::clamp(value, -double{std::numeric_limits<float>::max()},
                                      double{std::numeric_limits<float>::max()});
    const auto nearest = static_cast<float>(clamped);
    auto bits = std::bit_cast<std::uint32_t>(nearest);
    const double back = nearest;
    if (back == clamped)
        return nearest;
    if (std::fabs(back) > std::fabs(clamped))
        --bits; // towards zero; nearest is not zero here
    return std::bit_cast<float>(bits | 1U);
}

template <class T>
float narrowedTo16(T value) noexcept {
    if constexpr (sizeof(T) == 8)
        return toOddFloat(value);
    else
        return value;
}

template <class T>
float narrowedTo32(T value) noexcept {
    constexpr double kMost = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp<double>(value, -kMost, kMost));
}

/// Converts chunk by chunk through an aligned array: payloads have no alignment.
template <class Wire, class T, class Convert>
void writeConverted(std::span<const T> values, std::byte* out, const Convert& convert) {
    std::array<Wire, kChunk> chunk;
    for (std::size_t first = 0; first < values.size(); first += kChunk) {
        const std::size_t count = std::min(kChunk, values.size() - first);
        for (std::size_t i = 0; i < count; ++i)
            chunk[i] = convert(values[first + i]);
        std::memcpy(out + first * sizeof(Wire), chunk.data(), count * sizeof(Wire));
    }
}

/// `convert` is a lambda: a call through a function's address is not turned into vectors.
template <class Wire, class T, class Convert>
void readConverted(ByteView bytes, std::span<T> values, const Convert& convert) {
    std::array<Wire, kChunk> chunk;
    for (std::size_t first = 0; first < values.size(); first += kChunk) {
        const std::size_t count = std::min(kChunk, values.size() - first);
        std::memcpy(chunk.data(), bytes.data() + first * sizeof(Wire), count * sizeof(Wire));
        for (std::size_t i = 0; i < count; ++i)
            values[first + i] = static_cast<T>(convert(chunk[i]));
    }
}

std::uint16_t halfBits(float value) noexcept {
    constexpr std::uint32_t kMost = 0x477FE000U;        // 65504
    constexpr std::uint32_t kLeastNormal = 0x38800000U; // 2^-14
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = std::min(bits & 0x7FFFFFFFU, kMost);
    // Below 2^-14 the unit is 2^-24, which is the unit of 0.5f: the addition rounds.
    const std::uint32_t subnormal =
        std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F000000U;
    const std::uint32_t odd = (magnitude >> 13U) & 1U;
    const std::uint32_t normal = (magnitude - 0x38000000U + 0xFFFU + odd) >> 13U;
    const std::uint32_t half = magnitude < kLeastNormal ? subnormal : normal;
    return static_cast<std::uint16_t>(half | ((bits >> 16U) & 0x8000U));
}

float halfValue(std::uint16_t half) noexcept {
    const std::uint32_t magnitude = half & 0x7FFFU;
    const float subnormal = static_cast<float>(magnitude) * 0x1p-24F;
    const std::uint32_t normal = (magnitude << 13U) + 0x38000000U;
    // Infinity and NaN keep their meaning so that a receiver can refuse them.
    const std::uint32_t special = (magnitude << 13U) | 0x7F800000U;
    const float value = magnitude < 0x400U
                            ? subnormal
                            : std::bit_cast<float>(magnitude >= 0x7C00U ? special : normal);
    return (half & 0x8000U) != 0 ? -value : value;
}

std::uint16_t bfloatBits(float value) noexcept {
    constexpr std::uint32_t kMost = 0x7F7F0000U;
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t magnitude = std::min(bits & 0x7FFFFFFFU, kMost);
    const std::uint32_t rounded = (magnitude + 0x7FFFU + ((magnitude >> 16U) & 1U)) >> 16U;
    return static_cast<std::uint16_t>(rounded | ((bits >> 16U) & 0x8000U));
}

float bfloatValue(std::uint16_t bits) noexcept {
    return std::bit_cast<float>(std::uint32_t{bits} << 16U);
}

} // namespace

std::uint16_t toHalf(float value) noexcept {
    return halfBits(value);
}
float fromHalf(std::uint16_t bits) noexcept {
    return halfValue(bits);
}
std::uint16_t toBfloat(float value) noexcept {
    return bfloatBits(value);
}
float fromBfloat(std::uint16_t bits) noexcept {
    return bfloatValue(bits);
}

ValueType valueTypeOf(std::string_view name) {
    if (name == "f32")
        return ValueType::F32;
    if (name == "f64")
        return ValueType::F64;
    if (name == "f16")
        return ValueType::F16;
    if (name == "bf16")
        return ValueType::BF16;
    throw ExperimentError("compression.values", "unknown value type '" + std::string(name) +
                                                    "'; use f64, f32, f16 or bf16");
}

template <class T>
void writeValues(std::span<const T> values, ValueType type, std::span<std::byte> out) {
    if (values.empty())
        return;
    switch (type) {
    case ValueType::F64:
        writeConverted<double>(values, out.data(), [](T v) { return static_cast<double>(v); });
        return;
    case ValueType::F32:
        if constexpr (sizeof(T) == 4)
            std::memcpy(out.data(), values.data(), values.size_bytes());
        else
            writeConverted<float>(values, out.data(), [](T v) { return narrowedTo32(v); });
        return;
    case ValueType::F16:
        writeConverted<std::uint16_t>(values, out.data(),
                                      [](T v) { return halfBits(narrowedTo16(v)); });
        return;
    case ValueType::BF16:
        writeConverted<std::uint16_t>(values, out.data(),
                                      [](T v) { return bfloatBits(narrowedTo16(v)); });
        return;
    }
}

template <class T>
void readValues(ByteView bytes, ValueType type, std::span<T> values) {
    if (values.empty())
        return;
    switch (type) {
    case ValueType::F64:
        readConverted<double>(bytes, values, [](double v) { return v; });
        return;
    case ValueType::F32:
        if constexpr (sizeof(T) == 4)
            std::memcpy(values.data(), bytes.data(), values.size_bytes());
        else
            readConverted<float>(bytes, values, [](float v) { return v; });
        return;
    case ValueType::F16:
        readConverted<std::uint16_t>(bytes, values, [](auto half) { return halfValue(half); });
        return;
    case ValueType::BF16:
        readConverted<std::uint16_t>(bytes, values, [](auto bits) { return bfloatValue(bits); });
        return;
    }
}

template void writeValues<float>(std::span<const float>, ValueType, std::span<std::byte>);
template void writeValues<double>(std::span<const double>, ValueType, std::span<std::byte>);
template void readValues<float>(ByteView, ValueType, std::span<float>);
template void readValues<double>(ByteView, ValueType, std::span<double>);

} // namespace gradlab::engine
