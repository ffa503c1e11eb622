// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/compression_parameters.h"

#include "engine/compression/compressor_registry.h"
#include "engine/core/errors.h"

#include <algorithm>

namespace gradlab::engine {

FieldSpec ratioParameter() {
    FieldSpec field;
    field.path = "compression.ratio";
    field.option = "--ratio";
    field.type = FieldType::Real;
    field.defaultValue = 0.01;
    field.minimum = 0.0;
    field.maximum = 1.0;
    field.minimumExcluded = true;
    field.label = "Kept ratio";
    field.help = "Share of a tensor's elements that a worker sends in one step; at least one "
                 "element is always sent.";
    field.equation = "k = max(1, floor(ratio * n))";
    field.live = true;
    field.slider = SliderRange{1e-4, 1.0, 0.0};
    return field;
}

std::size_t keptCount(double ratio, std::size_t elements) noexcept {
    const double kept = ratio * static_cast<double>(elements);
    const auto floored = kept < 1.0 ? std::size_t{1} : static_cast<std::size_t>(kept);
    return std::min(floored, elements);
}

namespace {

const FieldValue& parameterValue(const CompressionSettings& settings, std::string_view name) {
    if (const auto found = settings.parameters.find(name); found != settings.parameters.end())
        return found->second;
    for (const FieldSpec& field : compressionParameters())
        if (std::string_view(field.path).substr(field.path.rfind('.') + 1) == name)
            return field.defaultValue;
    throw ExperimentError("compression." + std::string(name), "no method declares this parameter");
}

template <class Value>
Value typedParameter(const CompressionSettings& settings, std::string_view name) {
    const FieldValue& value = parameterValue(settings, name);
    if (const auto* typed = std::get_if<Value>(&value))
        return *typed;
    throw ExperimentError("compression." + std::string(name), "has a value of the wrong type");
}

} // namespace

double realParameter(const CompressionSettings& settings, std::string_view name) {
    const FieldValue& value = parameterValue(settings, name);
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return static_cast<double>(*integer);
    return typedParameter<double>(settings, name);
}

std::int64_t integerParameter(const CompressionSettings& settings, std::string_view name) {
    return typedParameter<std::int64_t>(settings, name);
}

bool booleanParameter(const CompressionSettings& settings, std::string_view name) {
    return typedParameter<bool>(settings, name);
}

std::string textParameter(const CompressionSettings& settings, std::string_view name) {
    return typedParameter<std::string>(settings, name);
}

} // namespace gradlab::engine
