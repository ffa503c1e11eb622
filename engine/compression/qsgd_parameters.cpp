// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/qsgd_parameters.h"

#include "engine/compression/compression_parameters.h"

namespace gradlab::engine {

namespace {

constexpr const char* kSource = "Alistarh, Grubic, Li, Tomioka, Vojnovic 2017, arXiv 1610.02132";

FieldSpec levelsParameter() {
    FieldSpec field;
    field.path = "compression.levels";
    field.option = "--levels";
    field.type = FieldType::Integer;
    field.defaultValue = std::int64_t{64};
    field.minimum = 1.0;
    field.maximum = 32767.0;
    field.label = "Levels";
    field.help = "Steps between zero and the norm; each element becomes one of 2s + 1 values.";
    field.equation = "q = floor(r) + [u < r - floor(r)], r = s |v|/norm";
    field.source = kSource;
    field.live = true;
    field.slider = SliderRange{1.0, 1e4, 0.0};
    return field;
}

FieldSpec normParameter() {
    FieldSpec field;
    field.path = "compression.norm";
    field.option = "--norm";
    field.type = FieldType::Choice;
    field.defaultValue = std::string("max");
    field.choices = {"max", "l2"};
    field.label = "Norm";
    field.help =
        "What the levels divide: the largest magnitude of a bucket, or its Euclidean norm.";
    return field;
}

FieldSpec bucketParameter() {
    FieldSpec field;
    field.path = "compression.bucket";
    field.option = "--bucket";
    field.type = FieldType::Integer;
    field.defaultValue = std::int64_t{0};
    field.minimum = 0.0;
    field.maximum = 2147483647.0;
    field.label = "Bucket";
    field.unit = "elements";
    field.help = "Elements that share one norm; 0 takes the whole tensor.";
    field.source = kSource;
    return field;
}

} // namespace

MethodInfo qsgdMethodInfo() {
    MethodInfo info;
    info.name = "qsgd";
    info.label = "QSGD";
    info.description = "Sends every element, rounded at random to a few levels, right on average.";
    info.source = kSource;
    info.defaultMemory = "none";
    info.memories = {"none", "residual"};
    info.parameters = {levelsParameter(), normParameter(), bucketParameter()};
    return info;
}

std::string qsgdResidualRisk(const CompressionSettings& compression, std::size_t largestUnit) {
    const std::int64_t levels = integerParameter(compression, "levels");
    const std::int64_t bucket = integerParameter(compression, "bucket");
    const std::int64_t limit = levels * levels;
    const auto unit = static_cast<std::int64_t>(largestUnit);
    std::int64_t shared = bucket; // elements that share one norm
    if (unit > 0)
        shared = bucket == 0 || bucket > unit ? unit : bucket;
    if (shared != 0 && shared < limit)
        return {};
    const std::string bound = std::to_string(limit) + " = levels^2";
    if (shared == 0)
        return "the residual of QSGD is only sure to stay bounded while fewer than " + bound +
               " elements share a norm: with whole tensors it may grow without bound unless every "
               "tensor is smaller; set bucket below that";
    return "the residual of QSGD may grow without bound: " + std::to_string(shared) +
           " elements share a norm and the error bound is below 1 only under " + bound +
           "; lower bucket, raise levels or use no memory";
}

} // namespace gradlab::engine
