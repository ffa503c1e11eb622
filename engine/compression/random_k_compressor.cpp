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
    field.usedWhen = {{"compression.method", {"randomk"}}};
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
    field.usedWhen = {{"compression.method", {"randomk"}}};
    field.advanced = true;
    return field;
}

} // namespace

MethodInfo randomKMethodInfo() {
    MethodInfo info;
    info.name = "randomk";
    info.label = "Random-k";
    info.description = "Sends k elements of each tensor, drawn at random.";
    info.source = "Stich, Cordonnier, Jaggi 2018, arXiv 1809.07599";
    info.defaultMemory = "residual";
    info.memories = {"none", "residual", "dgc"};
    info.parameters = {ratioParameter(), patternParameter(), scaleParameter()};
    info.sparse = true;
    return info;
}

} // namespace gradlab::engine
