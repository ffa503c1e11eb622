// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "randomk": k distinct elements, each set of k equally likely.
//   C(p)_i = scale * p_i if i was drawn, else 0;  scale = n/k without a memory (unbiased), 1 with
//   one
// On the wire: seed and step (8 bytes) regenerate the indices, then k values; explicit indices if
// an index code is asked for. Random numbers: purpose Selection, counter (step, worker or shared
// lane, tensor, draw div 4), so the pattern depends on nothing else. Source: Stich, Cordonnier,
// Jaggi 2018, "Sparsified SGD with Memory", arXiv 1809.07599.
#pragma once

#include "engine/compression/compressor.h"
#include "engine/compression/random_selection.h"
#include "engine/compression/selection_sender.h"

#include <vector>

namespace gradlab::engine {

[[nodiscard]] MethodEntry randomKMethod();

template <class T>
class RandomKCompressor final : public Compressor<T> {
public:
    explicit RandomKCompressor(const CompressionSettings& settings);
    void compress(TileSource<T>& source, const UnitContext& context, UnitWriter& writer,
                  CompressionStats& stats) override;
    double effectiveRatio(std::uint64_t) const override { return ratio_; }

private:
    double ratio_;
    bool shared_;
    bool scaled_;
    RandomSelection selection_;
    SelectionSender<T> sender_;
    std::vector<std::uint32_t> indices_;
    std::vector<T> values_;
};

} // namespace gradlab::engine
