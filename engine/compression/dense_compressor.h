// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "none": every element, in the chosen value type; with f16 or bf16 the 16-bit baseline.
// On the wire: n values. Deterministic, no random numbers.
#pragma once

#include "engine/compression/compressor.h"

#include <vector>

namespace gradlab::engine {

[[nodiscard]] MethodEntry denseMethod();

template <class T>
class DenseCompressor final : public Compressor<T> {
public:
    explicit DenseCompressor(const CompressionSettings& settings);
    void compress(TileSource<T>& source, const UnitContext& context, UnitWriter& writer,
                  CompressionStats& stats) override;
    double effectiveRatio(std::uint64_t) const override { return 1.0; }

private:
    ValueType type_;
    std::vector<T> decoded_; ///< one tile
};

} // namespace gradlab::engine
