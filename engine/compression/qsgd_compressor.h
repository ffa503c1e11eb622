// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "qsgd": each element rounded at random to one of 2s+1 levels of its bucket's norm,
// unbiased.
//   r = s * (|v_i|/norm);  q_i = floor(r) + [u_i < r - floor(r)], at most s;  D_i =
//   sgn(v_i)*q_i*norm/s
// On the wire: one norm a bucket, then n signed levels by a level code. Random numbers: purpose
// Rounding, counter (step, worker, tensor, element div 4), or those given.
// Source: Alistarh, Grubic, Li, Tomioka, Vojnovic 2017, "QSGD", arXiv 1610.02132.
#pragma once

#include "engine/compression/compressor.h"
#include "engine/compression/level_code.h"
#include "engine/compression/level_histogram.h"

#include <optional>
#include <vector>

namespace gradlab::engine {

[[nodiscard]] MethodEntry qsgdMethod();

template <class T>
class QsgdCompressor final : public Compressor<T> {
public:
    explicit QsgdCompressor(const CompressionSettings& settings);
    void compress(TileSource<T>& source, const UnitContext& context, UnitWriter& writer,
                  CompressionStats& stats) override;
    double effectiveRatio(std::uint64_t) const override { return 1.0; }

private:
    /// First walk: norms_, as they travel.
    void measure(TileSource<T>& source);
    [[nodiscard]] T travellingNorm(const TileSource<T>& source, double norm) const;
    /// Second walk: histogram_ and either the fixed code, written to `fixed`, or, where that is
    /// empty, levels_; notes what a receiver decodes.
    void quantise(TileSource<T>& source, const UnitContext& context, CompressionStats& stats,
                  std::span<std::byte> fixed);
    /// Of the tile that begins at `first` in the unit.
    void quantiseTile(std::span<const T> tile, std::size_t first, const UnitContext& context,
                      std::span<std::int16_t> levels, std::span<T> decoded);
    std::span<const float> uniformsOf(const UnitContext& context, std::size_t first,
                                      std::size_t count);
    /// Whether norms and levels are smaller than the values themselves.
    [[nodiscard]] bool worthCoding(std::size_t levelBytes) const;
    /// Writes descriptor and norms; returns where the levels go.
    std::span<std::byte> begin(const UnitContext& context, const LevelCoding& coding,
                               UnitWriter& writer);
    void writeDense(const UnitContext& context, UnitWriter& writer);
    /// Calls visit(bucket, begin, count) for each bucket's share of the `count` elements from
    /// `first` of the unit; begin counts from `first`.
    template <class Visit>
    void eachBucket(std::size_t first, std::size_t count, const Visit& visit) const;

    std::uint32_t levelCount_; ///< s
    bool euclidean_;
    std::size_t bucket_; ///< 0 = whole unit
    ValueType normType_;
    std::optional<LevelCode> code_;
    LevelEncoder levelEncoder_;
    std::size_t size_ = 0;       ///< n of the unit at hand
    std::size_t bucketSize_ = 0; ///< of the unit at hand
    std::vector<double> sums_;   ///< a bucket: largest magnitude, or sum of squares
    std::vector<T> norms_;
    std::vector<std::int16_t> levels_; ///< of the unit, or of one tile; and behind it old ones
    LevelHistogram histogram_;
    std::vector<float> uniforms_; ///< one tile
    std::vector<T> decoded_;      ///< one tile
};

} // namespace gradlab::engine
