// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/dense_chunks.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace gradlab::engine {

ChunkRange chunkRange(std::size_t elements, std::size_t chunk, std::size_t chunks) {
    GRADLAB_CHECK(chunk < chunks, chunk, chunks);
    const std::size_t each = (elements + chunks - 1) / chunks;
    const std::size_t begin = std::min(elements, chunk * each);
    return {begin, std::min(elements - begin, each)};
}

std::size_t chunkElements(const MessagePlan& plan, const ChunkPlace& place) {
    GRADLAB_CHECK(place.part < plan.parts().size(), place.part, plan.parts().size());
    std::size_t elements = 0;
    for (const std::uint32_t unit : plan.parts()[place.part])
        elements += chunkRange(plan.units()[unit].size, place.chunk, place.chunks).size;
    return elements;
}

template <class T>
void DenseChunks<T>::copyOwn(const ChunkPlace& place, ByteView ownBody,
                             std::span<std::byte> chunk) {
    combine(place, ownBody, chunk, [](std::byte* out, const std::byte* own, std::size_t count) {
        std::memcpy(out, own, count * sizeof(T));
    });
}

template <class T>
void DenseChunks<T>::addOwn(const ChunkPlace& place, ByteView ownBody, std::span<std::byte> chunk) {
    combine(place, ownBody, chunk, [](std::byte* out, const std::byte* own, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            // Neither side is aligned: a payload begins where the one before it ends.
            T sum;
            T value;
            std::memcpy(&sum, out + i * sizeof(T), sizeof(T));
            std::memcpy(&value, own + i * sizeof(T), sizeof(T));
            sum += value;
            std::memcpy(out + i * sizeof(T), &sum, sizeof(T));
        }
    });
}

template <class T>
template <class Combine>
void DenseChunks<T>::combine(const ChunkPlace& place, ByteView ownBody, std::span<std::byte> chunk,
                             Combine operation) {
    const std::size_t bytes = chunkElements(plan_, place) * sizeof(T);
    if (chunk.size() != bytes)
        throw ProtocolError("chunk refused: " + std::to_string(chunk.size()) +
                            " bytes instead of " + std::to_string(bytes) + ": chunk " +
                            std::to_string(place.chunk) + " of part " + std::to_string(place.part));
    bodies_.match(plan_, place.part, std::span(&ownBody, 1));
    const std::vector<std::uint32_t>& ids = plan_.parts()[place.part];
    std::size_t at = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const CompressionUnit& unit = plan_.units()[ids[i]];
        const ChunkRange range = chunkRange(unit.size, place.chunk, place.chunks);
        if (range.size == 0)
            continue;
        operation(chunk.data() + at, ownValues(bodies_.view(0, i), unit, range.begin), range.size);
        at += range.size * sizeof(T);
    }
}

template <class T>
const std::byte* DenseChunks<T>::ownValues(const UnitView& view, const CompressionUnit& unit,
                                           std::size_t begin) {
    const UnitDescriptor& descriptor = view.descriptor;
    const bool asStored = descriptor.codec == Codec::Dense &&
                          descriptor.values == (sizeof(T) == 4 ? ValueType::F32 : ValueType::F64) &&
                          view.payload.size() == unit.size * sizeof(T);
    if (asStored)
        return view.payload.data() + begin * sizeof(T);
    decoded_.resize(unit.size);
    decoder_.decode(view, unit, decoded_);
    return std::as_bytes(std::span(decoded_)).data() + begin * sizeof(T);
}

template class DenseChunks<float>;
template class DenseChunks<double>;

} // namespace gradlab::engine
