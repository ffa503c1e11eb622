// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Decodes workers' messages, adds them in rank order, divides once by the number of contributors,
// encodes what goes down, and holds the mean gradient of a replica. Leaves out: sockets,
// membership, the update.
//   mean = (D_0 + D_1 + … ) / contributors, summed from rank 0 in f32 (f64 in f64);
//   dense ring: each tensor in N chunks of ⌈n/N⌉, chunk c summed over ranks c, c+1, …, c−1.
#pragma once

#include "engine/compression/compressed_gradient.h"
#include "engine/compression/message_plan.h"
#include "engine/core/byte_buffer.h"
#include "engine/core/export.h"
#include "engine/core/precision.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gradlab::engine {

struct AggregatorSettings {
    Precision precision = Precision::F32;
    std::string downlink = "auto";   ///< auto (smaller of union and dense), dense, recompress
    CompressionSettings compression; ///< resolved; used by recompress
    std::uint32_t seed = 0;
};

/// One object a process and role; not thread-safe. Bodies are descriptors + payloads
/// (compressed_gradient.h).
class GRADLAB_ENGINE_EXPORT Aggregator {
public:
    [[nodiscard]] static std::unique_ptr<Aggregator> create(const MessagePlan& plan,
                                                            const AggregatorSettings& settings);
    virtual ~Aggregator();

    // — server —
    /// `bodies` in ascending rank order, one a contributor. Encodes the mean of the part at
    /// out[headerRoom…]; `out` is resized. Time linear in what arrived, plus the downlink's size.
    /// @throws ProtocolError for a body that breaks the format; nothing is changed then.
    /// @throws NumericError if a mean is not finite; nothing is changed then either.
    virtual void aggregate(std::size_t part, std::span<const ByteView> bodies, std::uint64_t step,
                           std::size_t headerRoom, ByteBuffer& out) = 0;

    // — replica —
    /// Decodes a downlink part into the mean. @throws ProtocolError; what the part covers is
    /// unspecified then until it is applied again (a body without the right units changes nothing).
    virtual void applyDownlink(std::size_t part, ByteView body) = 0;
    /// Ring all-gather: decode, add and divide here; same bits as aggregate() + applyDownlink().
    /// @throws ProtocolError; nothing is changed then. Not checked for overflow, as the update is.
    virtual void applyGathered(std::size_t part, std::span<const ByteView> bodies) = 0;

    // — dense ring: chunk c of `chunks` of every tensor of the part, concatenated, raw values —
    /// Writes the worker's own chunk to `out` at `headerRoom`.
    virtual void takeChunk(std::size_t part, std::size_t chunk, std::size_t chunks,
                           ByteView ownBody, std::size_t headerRoom, ByteBuffer& out) = 0;
    /// partial ← partial + own chunk (in this order).
    virtual void addChunk(std::size_t part, std::size_t chunk, std::size_t chunks, ByteView ownBody,
                          std::span<std::byte> partial) = 0;
    /// Sets the mean's chunk to sum / contributors.
    virtual void applyChunk(std::size_t part, std::size_t chunk, std::size_t chunks, ByteView sum,
                            std::size_t contributors) = 0;

    /// The mean as raw values in parameter order (f32 or f64 by precision), complete after every
    /// part was applied.
    [[nodiscard]] virtual std::span<const std::byte> mean() const noexcept = 0;
};

} // namespace gradlab::engine
