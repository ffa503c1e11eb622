// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Chunks of the dense ring: each tensor of n elements in N chunks of ⌈n/N⌉ (the last ones may be
// short or empty); a frame carries one chunk of every tensor of its part, one after another, as raw
// values of the training's precision. Leaves out: rounds and neighbours (transport).
#pragma once

#include "engine/compression/message_plan.h"
#include "engine/compression/unit_decoder.h"
#include "engine/training/part_bodies.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace gradlab::engine {

/// Which chunk of how many, in which part.
struct ChunkPlace {
    std::size_t part = 0;
    std::size_t chunk = 0;
    std::size_t chunks = 1;
};

/// Elements of one tensor that belong to a chunk.
struct ChunkRange {
    std::size_t begin = 0;
    std::size_t size = 0;
};
[[nodiscard]] ChunkRange chunkRange(std::size_t elements, std::size_t chunk, std::size_t chunks);

/// Elements of a whole chunk frame. @throws CheckFailure for a chunk that does not exist
[[nodiscard]] std::size_t chunkElements(const MessagePlan& plan, const ChunkPlace& place);

/// Reads chunks of a worker's own dense message. Not thread-safe.
template <class T>
class DenseChunks {
public:
    explicit DenseChunks(MessagePlan plan) : plan_(std::move(plan)) {}
    /// chunk[i] = own value. @throws ProtocolError for a body that is not this part's
    void copyOwn(const ChunkPlace& place, ByteView ownBody, std::span<std::byte> chunk);
    /// chunk[i] = chunk[i] + own value, in this order.
    void addOwn(const ChunkPlace& place, ByteView ownBody, std::span<std::byte> chunk);

private:
    template <class Combine>
    void combine(const ChunkPlace& place, ByteView ownBody, std::span<std::byte> chunk,
                 Combine operation);
    /// Bytes of the unit's values as T, from `begin` on.
    [[nodiscard]] const std::byte* ownValues(const UnitView& view, const CompressionUnit& unit,
                                             std::size_t begin);

    MessagePlan plan_;
    PartBodies bodies_;
    UnitDecoder<T> decoder_;
    std::vector<T> decoded_; ///< of a unit whose values are not T
};

extern template class DenseChunks<float>;
extern template class DenseChunks<double>;

} // namespace gradlab::engine
