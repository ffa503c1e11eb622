// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/residual_memory.h"

namespace gradlab::engine {

namespace {

FieldSpec betaParameter() {
    FieldSpec field;
    field.path = "compression.beta";
    field.option = "--beta";
    field.type = FieldType::Real;
    field.defaultValue = 1.0;
    field.minimum = 0.0;
    field.maximum = 1.0;
    field.label = "Residual kept";
    field.help = "Share of the residual that is added to the next gradient; 0 forgets it.";
    field.equation = "p = gamma*g + beta*e";
    field.usedWhen = {{"compression.memory", {"residual"}}};
    field.advanced = true;
    return field;
}

FieldSpec gammaParameter() {
    FieldSpec field;
    field.path = "compression.gamma";
    field.option = "--gamma";
    field.type = FieldType::Real;
    field.defaultValue = 1.0;
    field.minimum = 0.0;
    field.maximum = 1.0;
    field.minimumExcluded = true;
    field.label = "Gradient weight";
    field.help = "Weight of the new gradient when the residual is added to it.";
    field.equation = "p = gamma*g + beta*e";
    field.usedWhen = {{"compression.memory", {"residual"}}};
    field.advanced = true;
    return field;
}

FieldSpec unitsParameter() {
    FieldSpec field;
    field.path = "compression.memory_units";
    field.option = "--memory-units";
    field.type = FieldType::Choice;
    field.defaultValue = std::string("gradient");
    field.choices = {"gradient", "update"};
    field.label = "Residual in";
    field.help = "gradient: waiting gradients act with the learning rate of the step that sends "
                 "them; update: with that of the step that made them.";
    field.equation = "update: p = lr*g + e, w <- w - mean(D)";
    field.source = "Karimireddy et al. 2019, arXiv 1901.09847";
    field.usedWhen = {{"compression.memory", {"residual"}}};
    field.advanced = true;
    return field;
}

} // namespace

MemoryInfo residualMemoryInfo() {
    return {"residual",
            "Residual",
            "What was not sent is kept and added to the next gradient (error feedback).",
            {betaParameter(), gammaParameter(), unitsParameter()}};
}

} // namespace gradlab::engine
