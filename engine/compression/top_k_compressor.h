// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "topk": the k elements of largest magnitude, exactly; ties go to the lowest index.
//   k = max(1, floor(ratio * n));  C(p)_i = p_i if i is among the k largest |p_j|, else 0
// On the wire: k indices by an index code, then k values. Deterministic, no random numbers.
// Source: Stich, Cordonnier, Jaggi 2018, "Sparsified SGD with Memory", arXiv 1809.07599.
#pragma once

#include "engine/compression/compressor.h"
#include "engine/compression/magnitude_selector.h"
#include "engine/compression/selection_sender.h"

namespace gradlab::engine {

[[nodiscard]] MethodEntry topKMethod();

template <class T>
class TopKCompressor final : public Compressor<T> {
public:
    explicit TopKCompressor(const CompressionSettings& settings);
    void compress(TileSource<T>& source, const UnitContext& context, UnitWriter& writer,
                  CompressionStats& stats) override;
    double effectiveRatio(std::uint64_t) const override { return ratio_; }

private:
    double ratio_;
    MagnitudeSelector<T> selector_;
    SelectionSender<T> sender_;
};

} // namespace gradlab::engine
