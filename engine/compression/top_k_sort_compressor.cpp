// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/top_k_sort_compressor.h"

#include "engine/compression/compression_parameters.h"

#include <algorithm>
#include <numeric>

namespace gradlab::engine {

MethodEntry topKSortMethod() {
    MethodInfo info;
    info.name = "topk-sort";
    info.label = "Top-k by sorting";
    info.description = "Top-k that sorts the whole tensor: the same message, found the slow way.";
    info.source = "the study's way";
    info.defaultMemory = "residual";
    info.memories = {"none", "residual", "dgc"};
    info.parameters = {ratioParameter()};
    info.sparse = true;
    return methodEntry<TopKSortCompressor>(std::move(info));
}

template <class T>
TopKSortCompressor<T>::TopKSortCompressor(const CompressionSettings& settings)
    : ratio_(realParameter(settings, "ratio")), sender_(settings) {}

template <class T>
void TopKSortCompressor<T>::compress(TileSource<T>& source, const UnitContext& context,
                                     UnitWriter& writer, CompressionStats& stats) {
    vector_.clear();
    vector_.reserve(source.size());
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::span<const T> tile = source.tile(t);
        vector_.insert(vector_.end(), tile.begin(), tile.end());
    }
    indices_.resize(vector_.size());
    std::iota(indices_.begin(), indices_.end(), 0U);
    std::sort(indices_.begin(), indices_.end(), [&](std::uint32_t a, std::uint32_t b) {
        const auto keyA = magnitudeKey(vector_[a]);
        const auto keyB = magnitudeKey(vector_[b]);
        return keyA != keyB ? keyA > keyB : a < b;
    });
    const std::size_t k = keptCount(ratio_, source.size());
    indices_.resize(k);
    std::sort(indices_.begin(), indices_.end());
    values_.clear();
    for (const std::uint32_t index : indices_)
        values_.push_back(vector_[index]);
    sender_.send(source, context, indices_, std::span<const T>(values_), k, T{1}, nullptr, writer,
                 stats);
}

template class TopKSortCompressor<float>;
template class TopKSortCompressor<double>;

} // namespace gradlab::engine
