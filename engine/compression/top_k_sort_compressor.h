// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "topk-sort": top-k found by sorting the whole tensor, O(n log n), as the study did it: the
// same message as "topk" bit for bit, for comparing what finding the k largest costs.
#pragma once

#include "engine/compression/compressor.h"
#include "engine/compression/selection_sender.h"

#include <cstdint>
#include <vector>

namespace gradlab::engine {

[[nodiscard]] MethodEntry topKSortMethod();

template <class T>
class TopKSortCompressor final : public Compressor<T> {
public:
    explicit TopKSortCompressor(const CompressionSettings& settings);
    void compress(TileSource<T>& source, const UnitContext& context, UnitWriter& writer,
                  CompressionStats& stats) override;
    double effectiveRatio(std::uint64_t) const override { return ratio_; }

private:
    double ratio_;
    SelectionSender<T> sender_;
    std::vector<T> vector_;              ///< the whole unit
    std::vector<std::uint32_t> indices_; ///< all of it, by magnitude; then the k largest, ascending
    std::vector<T> values_;
};

} // namespace gradlab::engine
