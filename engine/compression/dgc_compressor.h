// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "dgc": the largest elements by a threshold that a sample estimates; never more than k.
//   threshold t: the (share k/n)-quantile of |p| over the sample; up to 10 corrections by 1.3 or
//   0.7 until 0.7k <= #{|p_i| >= t} <= 1.3k; a surplus is cut to k by exact top-k over the
//   survivors; a threshold of 0, or too few left, selects exactly. warm-up: kept ratio of epoch e
//   is ratio^((e+1)/(E+1)) for e < E, then ratio.
// On the wire: as top-k. Random numbers: purpose Sampling, counter (step, worker, tensor, draw).
// Source: Lin, Han, Mao, Wang, Dally 2018, "Deep Gradient Compression", arXiv 1712.01887.
#pragma once

#include "engine/compression/compressor.h"
#include "engine/compression/magnitude_selector.h"
#include "engine/compression/selection_sender.h"

#include <vector>

namespace gradlab::engine {

[[nodiscard]] MethodEntry dgcMethod();

/// Kept ratio in `epoch` (from 0) of a warm-up over `warmupEpochs`.
[[nodiscard]] double warmupRatio(double ratio, std::int64_t warmupEpochs, std::uint64_t epoch);

template <class T>
class DgcCompressor final : public Compressor<T> {
public:
    explicit DgcCompressor(const CompressionSettings& settings);
    void compress(TileSource<T>& source, const UnitContext& context, UnitWriter& writer,
                  CompressionStats& stats) override;
    double effectiveRatio(std::uint64_t epoch) const override;

private:
    /// Estimated k-th largest magnitude; 0 where the sample cannot tell or would be the whole unit.
    T sampledThreshold(const TileSource<T>& source, const UnitContext& context, double ratio,
                       std::size_t k);
    /// Corrects the threshold until its candidates are near k. Returns whether 0.7k to k are left.
    bool selectByThreshold(TileSource<T>& source, T threshold, std::size_t k,
                           CompressionStats& stats);

    double ratio_;
    double sample_;
    std::int64_t warmupEpochs_;
    MagnitudeSelector<T> selector_;
    SelectionSender<T> sender_;
    std::vector<std::uint32_t> firsts_; ///< of the sample's runs
};

} // namespace gradlab::engine
