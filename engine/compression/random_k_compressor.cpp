// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/random_k_compressor.h"

#include "engine/compression/compression_parameters.h"

namespace gradlab::engine {

namespace {

FieldSpec patternParameter() {
    FieldSpec field;
    field.path = "compression.pattern";
    field.option = "--pattern";
    field.type = FieldType::Choice;
    field.defaultValue = std::string("worker");
    field.choices = {"worker", "shared"};
    field.label = "Pattern";
    field.help = "Whether each worker draws its own indices or all workers share one draw a step.";
    field.advanced = true;
    return field;
}

FieldSpec scaleParameter() {
    FieldSpec field;
    field.path = "compression.scale";
    field.option = "--scale";
    field.type = FieldType::Choice;
    field.defaultValue = std::string("auto");
    field.choices = {"auto", "off"};
    field.label = "Scale";
    field.help = "auto multiplies what is sent by n/k when there is no memory, so that its mean is "
                 "the gradient; off never scales.";
    field.equation = "scale = n/k without a memory, 1 with one";
    field.advanced = true;
    return field;
}

} // namespace

MethodEntry randomKMethod() {
    MethodInfo info;
    info.name = "randomk";
    info.label = "Random-k";
    info.description = "Sends k elements of each tensor, drawn at random.";
    info.source = "Stich, Cordonnier, Jaggi 2018, arXiv 1809.07599";
    info.defaultMemory = "residual";
    info.memories = {"none", "residual", "dgc"};
    info.parameters = {ratioParameter(), patternParameter(), scaleParameter()};
    info.sparse = true;
    return methodEntry<RandomKCompressor>(std::move(info));
}

template <class T>
RandomKCompressor<T>::RandomKCompressor(const CompressionSettings& settings)
    : ratio_(realParameter(settings, "ratio")),
      shared_(textParameter(settings, "pattern") == "shared"),
      scaled_(settings.memory == "none" && textParameter(settings, "scale") == "auto"),
      sender_(settings) {}

template <class T>
void RandomKCompressor<T>::compress(TileSource<T>& source, const UnitContext& context,
                                    UnitWriter& writer, CompressionStats& stats) {
    const std::size_t n = source.size();
    const std::size_t k = keptCount(ratio_, n);
    const SelectionSeed seed{context.identity.seed, static_cast<std::uint32_t>(context.step),
                             shared_ ? kSharedLane : context.identity.rank, context.unit->id};
    selection_.draw(seed, n, k, indices_);
    values_.resize(k);
    std::size_t next = 0;
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::span<const T> tile = source.tile(t);
        for (; next < k && indices_[next] / kTileElements == t; ++next)
            values_[next] = tile[indices_[next] % kTileElements];
    }
    const double scale = scaled_ ? static_cast<double>(n) / static_cast<double>(k) : 1.0;
    sender_.send(source, context, indices_, values_, k, static_cast<T>(scale), &seed, writer,
                 stats);
}

template class RandomKCompressor<float>;
template class RandomKCompressor<double>;

} // namespace gradlab::engine
