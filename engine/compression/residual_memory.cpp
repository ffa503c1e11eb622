// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/residual_memory.h"

#include "engine/compression/compression_parameters.h"
#include "engine/core/check.h"

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

template <class T>
ResidualMemory<T>::ResidualMemory(const CompressionSettings& settings, std::size_t size)
    : residual_(size) {
    configure(settings);
}

template <class T>
void ResidualMemory<T>::configure(const CompressionSettings& settings) {
    gamma_ = realParameter(settings, "gamma");
    beta_ = static_cast<T>(realParameter(settings, "beta"));
    updateUnits_ = textParameter(settings, "memory_units") == "update";
}

template <class T>
void ResidualMemory<T>::begin(std::span<const T>, std::span<const T>,
                              const StepPosition& position) {
    weight_ = static_cast<T>(updateUnits_ ? gamma_ * position.lr : gamma_);
}

template <class T>
void ResidualMemory<T>::peek(GradientTile<const T> unit, std::span<const std::uint32_t> firsts,
                             std::size_t run, bool accumulated, std::span<T> out) const {
    const T* const p = unit.gradient.data();
    const T* const e = residual_.data() + unit.offset;
    eachOfRuns(
        firsts, run,
        [&](std::size_t at, std::size_t to) {
            out[to] = accumulated ? p[at] : weight_ * p[at] + beta_ * e[at];
        },
        p, e);
}

template <class T>
std::span<const T> ResidualMemory<T>::accumulate(GradientTile<T> tile, std::span<T>) {
    T* const p = tile.gradient.data();
    const T* const e = residual_.data() + tile.offset;
    for (std::size_t i = 0; i < tile.gradient.size(); ++i)
        p[i] = weight_ * p[i] + beta_ * e[i];
    return tile.gradient;
}

template <class T>
std::span<const T> ResidualMemory<T>::recall(GradientTile<T> tile, std::span<T>) const {
    return tile.gradient;
}

template <class T>
void ResidualMemory<T>::noteSent(GradientTile<T> unit, std::span<const std::uint32_t> indices,
                                 std::span<const T> values, std::size_t) {
    for (std::size_t i = 0; i < indices.size(); ++i)
        unit.gradient[indices[i]] -= values[i];
}

template <class T>
void ResidualMemory<T>::noteSentTile(GradientTile<T> tile, std::span<const T> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
        tile.gradient[i] -= values[i];
}

template <class T>
void ResidualMemory<T>::commit(AlignedBuffer<T>& gradient) {
    GRADLAB_CHECK(gradient.size() == residual_.size(), gradient.size(), residual_.size());
    residual_.swap(gradient);
}

template <class T>
std::vector<NamedState<T>> ResidualMemory<T>::state() {
    return {{"residual", residual_.span()}};
}

template class ResidualMemory<float>;
template class ResidualMemory<double>;

} // namespace gradlab::engine
