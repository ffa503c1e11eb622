// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/unit_encoder.h"

#include "engine/compression/index_code.h"
#include "engine/compression/level_code.h"
#include "engine/compression/value_code.h"
#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <cstring>

namespace gradlab::engine {

namespace {

UnitDescriptor describe(const CompressionUnit& unit, Codec codec, ValueType type,
                        std::size_t selected) {
    UnitDescriptor descriptor;
    descriptor.unit = unit.id;
    descriptor.codec = codec;
    descriptor.values = type;
    descriptor.elements = static_cast<std::uint32_t>(unit.size);
    descriptor.selected = static_cast<std::uint32_t>(selected);
    return descriptor;
}

template <class T>
UnitDescriptor encodeFallback(const CompressionUnit& unit, std::span<const std::uint32_t> indices,
                              std::span<const T> values, ValueType type, UnitWriter& writer) {
    UnitDescriptor descriptor = describe(unit, Codec::Dense, type, indices.size());
    descriptor.flags = kFlagDenseFallback;
    const std::size_t width = valueBytes(type);
    descriptor.payloadBytes = unit.size * width;
    const std::span<std::byte> out = writer.next(descriptor);
    std::fill(out.begin(), out.end(), std::byte{0}); // all bits zero is +0 in every value type
    for (std::size_t i = 0; i < indices.size(); ++i)
        writeValues(values.subspan(i, 1), type, out.subspan(indices[i] * width, width));
    return descriptor;
}

/// The code of that name, empty for "auto".
template <class Code, std::size_t Count>
std::optional<Code> codeOf(const char* field, const std::string& what,
                           const std::array<std::pair<std::string_view, Code>, Count>& codes,
                           std::string_view name) {
    if (name == "auto")
        return std::nullopt;
    std::string known;
    for (const auto& [codeName, code] : codes) {
        if (codeName == name)
            return code;
        known += std::string(codeName) + ", ";
    }
    throw ExperimentError(field, "unknown " + what + " '" + std::string(name) + "'; use " + known +
                                     "or auto");
}

} // namespace

std::optional<IndexCode> indexCodeOf(std::string_view name) {
    return codeOf("compression.indices", "index code", kIndexCodes, name);
}

std::optional<LevelCode> levelCodeOf(std::string_view name) {
    return codeOf("compression.level_code", "level code", kLevelCodes, name);
}

template <class T>
UnitDescriptor encodeSparseUnit(const CompressionUnit& unit, std::span<const std::uint32_t> indices,
                                std::span<const T> values, ValueType type,
                                std::optional<IndexCode> code, UnitWriter& writer) {
    GRADLAB_CHECK(indices.size() == values.size(), indices.size(), values.size());
    const IndexCoding coding = planIndexCode(indices, unit.size, code);
    const std::size_t bytes = coding.bytes + values.size() * valueBytes(type);
    if (bytes >= unit.size * valueBytes(type))
        return encodeFallback(unit, indices, values, type, writer);
    UnitDescriptor descriptor = describe(unit, Codec::Sparse, type, indices.size());
    descriptor.code = static_cast<std::uint8_t>(coding.code);
    descriptor.flags = coding.delta ? kFlagEliasDelta : 0U;
    descriptor.payloadBytes = bytes;
    const std::span<std::byte> out = writer.next(descriptor);
    writeIndices(coding, indices, out.first(coding.bytes));
    writeValues(values, type, out.subspan(coding.bytes));
    return descriptor;
}

template <class T>
UnitDescriptor encodeSeededUnit(const CompressionUnit& unit, const SelectionSeed& seed,
                                std::span<const std::uint32_t> indices, std::span<const T> values,
                                ValueType type, UnitWriter& writer) {
    constexpr std::size_t kSeedBytes = 2 * sizeof(std::uint32_t);
    const std::size_t bytes = kSeedBytes + values.size() * valueBytes(type);
    if (bytes >= unit.size * valueBytes(type))
        return encodeFallback(unit, indices, values, type, writer);
    UnitDescriptor descriptor = describe(unit, Codec::SeededSparse, type, values.size());
    descriptor.version = kRandomSelectionVersion;
    descriptor.parameter = seed.lane;
    descriptor.payloadBytes = bytes;
    const std::span<std::byte> out = writer.next(descriptor);
    std::memcpy(out.data(), &seed.seed, sizeof(seed.seed));
    std::memcpy(out.data() + sizeof(seed.seed), &seed.step, sizeof(seed.step));
    writeValues(values, type, out.subspan(kSeedBytes));
    return descriptor;
}

template <class T>
UnitDescriptor encodeDenseUnit(const CompressionUnit& unit, std::span<const T> values,
                               ValueType type, UnitWriter& writer) {
    GRADLAB_CHECK(values.size() == unit.size, values.size(), unit.size);
    UnitDescriptor descriptor = describe(unit, Codec::Dense, type, unit.size);
    descriptor.payloadBytes = unit.size * valueBytes(type);
    writeValues(values, type, writer.next(descriptor));
    return descriptor;
}

std::size_t sparseUnitBytes(const CompressionUnit& unit, std::span<const std::uint32_t> indices,
                            ValueType type, std::optional<IndexCode> code) {
    const std::size_t width = valueBytes(type);
    const std::size_t bytes =
        planIndexCode(indices, unit.size, code).bytes + indices.size() * width;
    return std::min(bytes, unit.size * width);
}

template UnitDescriptor encodeSparseUnit<float>(const CompressionUnit&,
                                                std::span<const std::uint32_t>,
                                                std::span<const float>, ValueType,
                                                std::optional<IndexCode>, UnitWriter&);
template UnitDescriptor encodeSparseUnit<double>(const CompressionUnit&,
                                                 std::span<const std::uint32_t>,
                                                 std::span<const double>, ValueType,
                                                 std::optional<IndexCode>, UnitWriter&);
template UnitDescriptor encodeSeededUnit<float>(const CompressionUnit&, const SelectionSeed&,
                                                std::span<const std::uint32_t>,
                                                std::span<const float>, ValueType, UnitWriter&);
template UnitDescriptor encodeSeededUnit<double>(const CompressionUnit&, const SelectionSeed&,
                                                 std::span<const std::uint32_t>,
                                                 std::span<const double>, ValueType, UnitWriter&);
template UnitDescriptor encodeDenseUnit<float>(const CompressionUnit&, std::span<const float>,
                                               ValueType, UnitWriter&);
template UnitDescriptor encodeDenseUnit<double>(const CompressionUnit&, std::span<const double>,
                                                ValueType, UnitWriter&);

} // namespace gradlab::engine
