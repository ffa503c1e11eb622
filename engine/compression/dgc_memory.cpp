// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/dgc_memory.h"

namespace gradlab::engine {

namespace {

constexpr const char* kSource = "Lin et al. 2018, arXiv 1712.01887";

FieldSpec dgcField(const char* name, const char* option, FieldType type, FieldValue value) {
    FieldSpec field;
    field.path = std::string("compression.") + name;
    field.option = option;
    field.type = type;
    field.defaultValue = std::move(value);
    field.source = kSource;
    field.usedWhen = {{"compression.memory", {"dgc"}}};
    return field;
}

FieldSpec momentumParameter() {
    FieldSpec field = dgcField("dgc_momentum", "--dgc-momentum", FieldType::Real, 0.5);
    field.minimum = 0.0;
    field.maximum = 1.0;
    field.maximumExcluded = true;
    field.label = "Local momentum";
    field.help = "Momentum that each worker applies before it compresses; the optimiser's own must "
                 "then be 0.";
    field.equation = "u <- m*u + g, v <- v + u";
    return field;
}

FieldSpec maskingParameter() {
    FieldSpec field = dgcField("masking", "--no-masking", FieldType::Boolean, true);
    field.label = "Momentum factor masking";
    field.help = "Clears the velocity of every element that was sent.";
    field.equation = "u <- u*(1 - M)";
    field.advanced = true;
    return field;
}

FieldSpec nesterovParameter() {
    FieldSpec field = dgcField("nesterov", "--nesterov", FieldType::Boolean, false);
    field.label = "Nesterov";
    field.help = "Uses Nesterov's form of the local momentum.";
    field.equation = "u <- m*(u + g), v <- v + u + g";
    field.advanced = true;
    return field;
}

FieldSpec localClipParameter() {
    FieldSpec field = dgcField("local_clip", "--local-clip", FieldType::Real, 0.0);
    field.minimum = 0.0;
    field.label = "Local clip";
    field.help = "Limits the norm of a worker's gradient before it is accumulated; 0 is off. "
                 "Switches overlap off, as it needs the whole gradient first.";
    field.equation = "|g| <= threshold/sqrt(N)";
    field.advanced = true;
    return field;
}

} // namespace

MemoryInfo dgcMemoryInfo() {
    return {"dgc",
            "DGC (momentum correction)",
            "Accumulates a local velocity; what was not sent of it waits.",
            {momentumParameter(), maskingParameter(), nesterovParameter(), localClipParameter()}};
}

} // namespace gradlab::engine
