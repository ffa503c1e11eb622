// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/top_k_compressor.h"

#include "engine/compression/compression_parameters.h"

namespace gradlab::engine {

MethodEntry topKMethod() {
    MethodInfo info;
    info.name = "topk";
    info.label = "Top-k";
    info.description = "Sends the k elements of largest magnitude of each tensor.";
    info.source = "Stich, Cordonnier, Jaggi 2018, arXiv 1809.07599";
    info.defaultMemory = "residual";
    info.memories = {"none", "residual", "dgc"};
    info.parameters = {ratioParameter()};
    info.sparse = true;
    return methodEntry<TopKCompressor>(std::move(info));
}

template <class T>
TopKCompressor<T>::TopKCompressor(const CompressionSettings& settings)
    : ratio_(realParameter(settings, "ratio")), sender_(settings) {}

template <class T>
void TopKCompressor<T>::compress(TileSource<T>& source, const UnitContext& context,
                                 UnitWriter& writer, CompressionStats& stats) {
    const std::size_t k = keptCount(ratio_, source.size());
    selector_.selectLargest(source, k);
    sender_.send(source, context, selector_.indices(), selector_.values(), k, T{1}, nullptr, writer,
                 stats);
}

template class TopKCompressor<float>;
template class TopKCompressor<double>;

} // namespace gradlab::engine
