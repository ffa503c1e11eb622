// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/dgc_compressor.h"

#include "engine/compression/compression_parameters.h"

#include <cmath>

namespace gradlab::engine {

namespace {

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
    field.usedWhen = {{"compression.method", {"dgc"}}};
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
    field.usedWhen = {{"compression.method", {"dgc"}}};
    return field;
}

} // namespace

MethodInfo dgcMethodInfo() {
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
    return info;
}

double warmupRatio(double ratio, std::int64_t warmupEpochs, std::uint64_t epoch) {
    if (epoch >= static_cast<std::uint64_t>(warmupEpochs))
        return ratio;
    return std::pow(ratio,
                    static_cast<double>(epoch + 1) / (static_cast<double>(warmupEpochs) + 1.0));
}

} // namespace gradlab::engine
