// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/unit_decoder.h"

#include "engine/compression/index_code.h"
#include "engine/compression/tile_kernels.h"
#include "engine/compression/value_code.h"
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/reserve.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace gradlab::engine {

namespace {

[[noreturn]] void fail(const UnitDescriptor& descriptor, const std::string& what) {
    throw ProtocolError("unit " + std::to_string(descriptor.unit) + ": " + what +
                        "; drop the message");
}

void requireUnit(const UnitView& view, const CompressionUnit& unit) {
    const UnitDescriptor& descriptor = view.descriptor;
    if (descriptor.unit != unit.id)
        fail(descriptor, "is not unit " + std::to_string(unit.id));
    if (descriptor.elements != unit.size)
        fail(descriptor, "has " + std::to_string(descriptor.elements) + " elements, here " +
                             std::to_string(unit.size));
    if (descriptor.selected > descriptor.elements)
        fail(descriptor, "selects more elements than it has");
    if (descriptor.version != kRandomSelectionVersion)
        fail(descriptor, "has version " + std::to_string(descriptor.version) +
                             ", which this program does not know");
    if (descriptor.payloadBytes != view.payload.size())
        fail(descriptor, "payload length differs from its descriptor");
}

template <class T>
void requireFinite(const UnitDescriptor& descriptor, std::span<const T> values) {
    if (!allFinite(values))
        fail(descriptor, "carries values that are not finite");
}

/// Splits off the first `bytes` of a payload whose whole length is `total`.
ByteView prefix(const UnitView& view, std::uint64_t bytes, std::uint64_t total) {
    if (view.payload.size() != total)
        fail(view.descriptor, "payload has " + std::to_string(view.payload.size()) +
                                  " bytes, its descriptor implies " + std::to_string(total));
    return view.payload.first(bytes);
}

} // namespace

bool isSparse(const UnitDescriptor& descriptor) noexcept {
    return descriptor.codec == Codec::Sparse || descriptor.codec == Codec::SeededSparse;
}

template <class T>
void UnitDecoder<T>::readSparse(const UnitView& view, const CompressionUnit& unit,
                                std::vector<std::uint32_t>& indices, std::vector<T>& values) {
    const UnitDescriptor& descriptor = view.descriptor;
    const std::size_t k = descriptor.selected;
    const std::size_t valuesAt = k * valueBytes(descriptor.values);
    if (valuesAt > view.payload.size())
        fail(descriptor, "payload is shorter than its values");
    const ByteView head = view.payload.first(view.payload.size() - valuesAt);
    reserveFor(indices, k, unit.size);
    reserveFor(values, k, unit.size);
    if (descriptor.codec == Codec::Sparse) {
        const IndexCoding coding{static_cast<IndexCode>(descriptor.code),
                                 (descriptor.flags & kFlagEliasDelta) != 0, head.size()};
        readIndices(coding, head, unit.size, k, indices);
    } else {
        SelectionSeed seed;
        static_cast<void>(prefix(view, 8, 8 + valuesAt));
        std::memcpy(&seed.seed, head.data(), sizeof(seed.seed));
        std::memcpy(&seed.step, head.data() + sizeof(seed.seed), sizeof(seed.step));
        seed.lane = descriptor.parameter;
        seed.tensor = descriptor.unit;
        selection_.draw(seed, unit.size, k, indices);
    }
    values.resize(k);
    readValues(view.payload.subspan(head.size()), descriptor.values, std::span<T>(values));
    requireFinite(descriptor, std::span<const T>(values));
}

template <class T>
void UnitDecoder<T>::checkQuantised(const UnitView& view) {
    const UnitDescriptor& descriptor = view.descriptor;
    const std::size_t n = descriptor.elements;
    const std::size_t bucket = descriptor.parameter == 0 ? n : descriptor.parameter;
    const std::size_t buckets = n == 0 ? 0 : (n + bucket - 1) / bucket;
    const std::size_t normsEnd = buckets * valueBytes(descriptor.values);
    if (valueBytes(descriptor.values) < 4 || normsEnd > view.payload.size())
        fail(descriptor, "payload does not hold its norms");
    if (levels_.size() < n)
        levels_.resize(n);
    levelDecoder_.read(static_cast<LevelCode>(descriptor.code), descriptor.flags >> 16U,
                       view.payload.subspan(normsEnd), std::span(levels_).first(n));
    norms_.resize(buckets);
    readValues(view.payload.first(normsEnd), descriptor.values, std::span<T>(norms_));
    for (const T norm : norms_)
        if (!allFinite(std::span<const T>(&norm, 1)) || norm < T{0})
            fail(descriptor, "carries a norm that is negative or not finite");
}

template <class T>
void UnitDecoder<T>::checkDense(const UnitView& view) {
    const UnitDescriptor& descriptor = view.descriptor;
    if (descriptor.codec == Codec::Levels) {
        checkQuantised(view);
        return;
    }
    const std::uint64_t bytes = std::uint64_t{descriptor.elements} * valueBytes(descriptor.values);
    static_cast<void>(prefix(view, bytes, bytes));
    eachTile(descriptor.elements, [&](std::size_t first, std::span<T> tile) {
        fillDense(view, first, tile);
        requireFinite(descriptor, std::span<const T>(tile));
    });
}

template <class T>
void UnitDecoder<T>::fillDense(const UnitView& view, std::size_t first, std::span<T> out) const {
    const UnitDescriptor& descriptor = view.descriptor;
    if (descriptor.codec != Codec::Levels) {
        const std::size_t width = valueBytes(descriptor.values);
        readValues(view.payload.subspan(first * width, out.size() * width), descriptor.values, out);
        return;
    }
    const std::size_t bucket =
        descriptor.parameter == 0 ? descriptor.elements : descriptor.parameter;
    while (!out.empty()) {
        const std::size_t b = first / bucket;
        const std::size_t count = std::min(out.size(), (b + 1) * bucket - first);
        dequantise(std::span<const std::int16_t>(levels_).subspan(first, count), norms_[b],
                   descriptor.flags >> 16U, out.first(count));
        first += count;
        out = out.subspan(count);
    }
}

template <class T>
template <class Visit>
void UnitDecoder<T>::eachTile(std::size_t elements, const Visit& visit) {
    values_.resize(kTileElements);
    for (std::size_t first = 0; first < elements; first += kTileElements)
        visit(first, std::span<T>(values_).first(std::min(kTileElements, elements - first)));
}

template <class T>
void UnitDecoder<T>::addDecoded(const UnitView& view, const CompressionUnit& unit,
                                std::span<T> range) {
    GRADLAB_CHECK(range.size() == unit.size, range.size(), unit.size);
    requireUnit(view, unit);
    if (isSparse(view.descriptor)) {
        readSparse(view, unit, indices_, values_);
        for (std::size_t i = 0; i < indices_.size(); ++i)
            range[indices_[i]] += values_[i];
        return;
    }
    checkDense(view);
    eachTile(range.size(), [&](std::size_t first, std::span<T> tile) {
        fillDense(view, first, tile);
        for (std::size_t i = 0; i < tile.size(); ++i)
            range[first + i] += tile[i];
    });
}

template <class T>
void UnitDecoder<T>::decode(const UnitView& view, const CompressionUnit& unit, std::span<T> range) {
    GRADLAB_CHECK(range.size() == unit.size, range.size(), unit.size);
    requireUnit(view, unit);
    if (isSparse(view.descriptor)) {
        readSparse(view, unit, indices_, values_);
        std::fill(range.begin(), range.end(), T{0});
        for (std::size_t i = 0; i < indices_.size(); ++i)
            range[indices_[i]] = values_[i];
        return;
    }
    checkDense(view);
    fillDense(view, 0, range);
}

template <class T>
void UnitDecoder<T>::decodeSparse(const UnitView& view, const CompressionUnit& unit,
                                  std::vector<std::uint32_t>& indices, std::vector<T>& values) {
    GRADLAB_CHECK(isSparse(view.descriptor), view.descriptor.unit);
    requireUnit(view, unit);
    readSparse(view, unit, indices, values);
}

template class UnitDecoder<float>;
template class UnitDecoder<double>;

} // namespace gradlab::engine
