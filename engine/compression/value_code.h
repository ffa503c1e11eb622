// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Values on the wire: f64, f32, f16 (IEEE half), bf16; little-endian, packed. Narrowing rounds to
// nearest, ties to even, once (also from f64), and clamps to the largest finite value, ±65504 for
// f16. Input is finite.
#pragma once

#include "engine/compression/compressed_gradient.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace gradlab::engine {

[[nodiscard]] constexpr std::size_t valueBytes(ValueType type) noexcept {
    switch (type) {
    case ValueType::F64:
        return 8;
    case ValueType::F32:
        return 4;
    default:
        return 2;
    }
}

/// "f32" → F32. @throws ExperimentError for any other name.
[[nodiscard]] ValueType valueTypeOf(std::string_view name);

/// Whether values of T travel bit for bit.
template <class T>
[[nodiscard]] constexpr bool isLossless(ValueType type) noexcept {
    return type == ValueType::F64 || (type == ValueType::F32 && sizeof(T) == 4);
}

[[nodiscard]] std::uint16_t toHalf(float value) noexcept;
[[nodiscard]] float fromHalf(std::uint16_t bits) noexcept;
[[nodiscard]] std::uint16_t toBfloat(float value) noexcept;
[[nodiscard]] float fromBfloat(std::uint16_t bits) noexcept;

/// `out` has values.size() · valueBytes(type) bytes.
template <class T>
void writeValues(std::span<const T> values, ValueType type, std::span<std::byte> out);
/// The reverse; does not check finiteness. A value beyond T's range (f64 read as float) becomes
/// infinite.
template <class T>
void readValues(ByteView bytes, ValueType type, std::span<T> values);

} // namespace gradlab::engine
