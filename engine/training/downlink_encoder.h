// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What the server sends down for one part: the mean, unit by unit.
//   auto       the smaller of the union of the workers' selections and the dense mean, both with
//              exact values: every replica gets the same bits either way
//   dense      always the dense mean
//   recompress the mean compressed once more by the run's method, without memory (what it drops is
//              lost: a second, server-side residual would be another method), without DGC's warm-up
//              and local clip, with random numbers of its own
// Leaves out: summing (PartSum), frames.
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/training/aggregator.h"
#include "engine/training/part_sum.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace gradlab::engine {

/// Not thread-safe.
template <class T>
class DownlinkEncoder {
public:
    /// @throws ExperimentError for an unknown downlink
    DownlinkEncoder(const MessagePlan& plan, const AggregatorSettings& settings);
    ~DownlinkEncoder();

    /// Writes the means of a part that `sum` holds at out[headerRoom…] and leaves the sums clear.
    /// @throws NumericError if a mean is not finite; the sums are clear then too
    void encode(std::size_t part, std::size_t count, std::uint64_t step, PartSum<T>& sum,
                std::size_t headerRoom, ByteBuffer& out);

private:
    enum class Mode { Auto, Dense, Recompress };
    static Mode modeOf(const std::string& name);
    void encodeExact(std::size_t part, std::size_t count, std::uint64_t step, PartSum<T>& sum,
                     std::size_t headerRoom, ByteBuffer& out);
    void recompress(std::size_t part, std::size_t count, std::uint64_t step, PartSum<T>& sum,
                    std::size_t headerRoom, ByteBuffer& out);
    void requireFinite(std::uint32_t unit, std::uint64_t step, std::span<const T> means) const;

    MessagePlan plan_;
    Mode mode_;
    std::unique_ptr<GradientCompressor<T>> compressor_; ///< of Recompress
    std::vector<std::uint32_t> indices_;
    std::vector<T> values_;
};

extern template class DownlinkEncoder<float>;
extern template class DownlinkEncoder<double>;

} // namespace gradlab::engine
