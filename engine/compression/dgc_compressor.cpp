// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/dgc_compressor.h"

#include "engine/compression/compression_parameters.h"
#include "engine/core/random.h"

#include <algorithm>
#include <cmath>

namespace gradlab::engine {

namespace {

constexpr std::size_t kRun = 8; // neighbours that are sampled together

FieldSpec sampleParameter() {
    FieldSpec field;
    field.path = "compression.sample";
    field.option = "--dgc-sample";
    field.type = FieldType::Real;
    field.defaultValue = 0.01;
    field.minimum = 0.0;
    field.maximum = 1.0;
    field.minimumExcluded = true;
    field.label = "Sampled share";
    field.help = "Share of a tensor that is looked at to estimate the threshold, at least 2/ratio "
                 "elements; 1 selects exactly.";
    field.source = "Lin et al. 2018, arXiv 1712.01887";
    field.advanced = true;
    return field;
}

FieldSpec warmupParameter() {
    FieldSpec field;
    field.path = "compression.warmup_epochs";
    field.option = "--warmup-epochs";
    field.type = FieldType::Integer;
    field.defaultValue = std::int64_t{0};
    field.minimum = 0.0;
    field.maximum = 1e6;
    field.label = "Warm-up";
    field.unit = "epochs";
    field.help = "Epochs over which the kept ratio falls from dense to its final value.";
    field.equation = "kept(e) = ratio^((e + 1)/(E + 1)) for e < E";
    field.source = "Lin et al. 2018, arXiv 1712.01887";
    return field;
}

} // namespace

MethodEntry dgcMethod() {
    MethodInfo info;
    info.name = "dgc";
    info.label = "Deep gradient compression";
    info.description = "Sends the largest elements, found by a sampled threshold; with momentum "
                       "correction in its memory.";
    info.source = "Lin, Han, Mao, Wang, Dally 2018, arXiv 1712.01887";
    info.defaultMemory = "dgc";
    info.memories = {"none", "residual", "dgc"};
    info.parameters = {ratioParameter(), sampleParameter(), warmupParameter()};
    info.sparse = true;
    return methodEntry<DgcCompressor>(std::move(info));
}

double warmupRatio(double ratio, std::int64_t warmupEpochs, std::uint64_t epoch) {
    if (epoch >= static_cast<std::uint64_t>(warmupEpochs))
        return ratio;
    return std::pow(ratio,
                    static_cast<double>(epoch + 1) / (static_cast<double>(warmupEpochs) + 1.0));
}

template <class T>
DgcCompressor<T>::DgcCompressor(const CompressionSettings& settings)
    : ratio_(realParameter(settings, "ratio")), sample_(realParameter(settings, "sample")),
      warmupEpochs_(integerParameter(settings, "warmup_epochs")), sender_(settings) {}

template <class T>
double DgcCompressor<T>::effectiveRatio(std::uint64_t epoch) const {
    return warmupRatio(ratio_, warmupEpochs_, epoch);
}

template <class T>
T DgcCompressor<T>::sampledThreshold(const TileSource<T>& source, const UnitContext& context,
                                     double ratio, std::size_t k) {
    const auto n = static_cast<double>(source.size());
    const double least = std::ceil(2.0 / ratio);
    const double wanted = std::max(std::ceil(sample_ * n), least);
    if (wanted >= n || k == source.size())
        return T{0};
    const auto size = static_cast<std::size_t>(wanted);
    RandomStream stream(context.identity.seed, RandomPurpose::Sampling,
                        static_cast<std::uint32_t>(context.step), context.identity.rank,
                        context.unit->id);
    // Runs of neighbours, one of each of equally long stretches: without replacement, in the order
    // of memory, and a cache line serves a whole run. Single elements where runs would be few.
    const std::size_t run = size / kRun >= static_cast<std::size_t>(least) ? kRun : 1;
    const std::size_t runs = size / run;
    firsts_.resize(runs);
    for (std::size_t r = 0; r < runs; ++r) {
        const std::size_t begin = r * source.size() / runs;
        const std::size_t places = (r + 1) * source.size() / runs - begin - run + 1;
        firsts_[r] =
            static_cast<std::uint32_t>(begin) + stream.below(static_cast<std::uint32_t>(places));
    }
    const std::size_t sampled = runs * run;
    const double share = static_cast<double>(k) / n;
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sampled)));
    return magnitudeOf<T>(
        selector_.nthLargestOf(source, firsts_, run, std::clamp<std::size_t>(rank, 1, sampled)));
}

template <class T>
bool DgcCompressor<T>::selectByThreshold(TileSource<T>& source, T threshold, std::size_t k,
                                         CompressionStats& stats) {
    constexpr std::uint32_t kMostPasses = 10;
    constexpr double kRaise = 1.3;
    constexpr double kLower = 0.7;
    const auto wanted = static_cast<double>(k);
    const auto keyOf = [](T value) {
        return std::max(MagnitudeKey<T>{1}, magnitudeKey(value)); // never exact zeros
    };
    T collected = threshold; // corrections upwards only count, downwards walk again
    selector_.collect(source, keyOf(collected));
    std::size_t count = selector_.countAtLeast(keyOf(threshold));
    for (std::uint32_t pass = 0; pass < kMostPasses; ++pass) {
        const auto found = static_cast<double>(count);
        if (found >= kLower * wanted && found <= kRaise * wanted)
            break;
        threshold *= static_cast<T>(found > wanted ? kRaise : kLower);
        if (threshold < collected) {
            collected = threshold;
            selector_.collect(source, keyOf(collected));
        }
        count = selector_.countAtLeast(keyOf(threshold));
        ++stats.adjustPasses;
    }
    if (static_cast<double>(count) < kLower * wanted)
        return false;
    selector_.keepAtLeast(keyOf(threshold));
    if (count > k)
        selector_.cutTo(k);
    return true;
}

template <class T>
void DgcCompressor<T>::compress(TileSource<T>& source, const UnitContext& context,
                                UnitWriter& writer, CompressionStats& stats) {
    const double ratio = effectiveRatio(context.epoch);
    const std::size_t k = keptCount(ratio, source.size());
    const T threshold = sampledThreshold(source, context, ratio, k);
    if (!(threshold > T{0}) || !selectByThreshold(source, threshold, k, stats))
        selector_.selectLargest(source, k);
    sender_.send(source, context, selector_.indices(), selector_.values(), k, T{1}, nullptr, writer,
                 stats);
}

template class DgcCompressor<float>;
template class DgcCompressor<double>;

} // namespace gradlab::engine
