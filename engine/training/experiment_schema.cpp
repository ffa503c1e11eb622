// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The table of fields put together, and reading and setting one of them. Text is field_text.cpp's,
// JSON is experiment_json.cpp's, what makes sense is experiment_validation.cpp's.
#include "engine/training/experiment_schema.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/training/experiment_fields.h"
#include "engine/training/field_text.h"

#include <algorithm>
#include <type_traits>

namespace gradlab::engine {

namespace {

FieldValue valueAt(FieldReference reference) {
    return std::visit([](auto* member) { return FieldValue(*member); }, reference);
}

std::vector<BoundField> makeFields() {
    std::vector<BoundField> fields;
    addCorpusFields(fields);
    addModelFields(fields);
    addTrainingFields(fields);
    addCompressionFields(fields);
    addClusterFields(fields);
    Experiment defaults;
    for (BoundField& field : fields) {
        if (field.access != nullptr)
            field.spec.defaultValue = valueAt(field.access(defaults));
    }
    return fields;
}

const BoundField& requireField(std::string_view path) {
    const BoundField* field = findBoundField(path);
    if (field == nullptr) {
        throw ExperimentError(std::string(path), "unknown field: " + inQuotes(path) + "; gradlab " +
                                                     std::string(version()) + " has no such field");
    }
    return *field;
}

/// The value as the member's type: a whole number may stand for a real one, nothing else is
/// converted.
template <class T>
bool assign(T& member, const FieldValue& value) {
    if (const auto* same = std::get_if<T>(&value)) {
        member = *same;
        return true;
    }
    if constexpr (std::is_same_v<T, double>) {
        if (const auto* whole = std::get_if<std::int64_t>(&value)) {
            member = static_cast<double>(*whole);
            return true;
        }
    }
    return false;
}

bool assignParameter(ParameterValues& parameters, const FieldSpec& spec, const FieldValue& value) {
    FieldValue converted = spec.defaultValue;
    const bool done = std::visit([&](auto& member) { return assign(member, value); }, converted);
    if (done)
        parameters.insert_or_assign(std::string(lastComponent(spec.path)), std::move(converted));
    return done;
}

} // namespace

const std::vector<BoundField>& boundFields() {
    static const std::vector<BoundField> fields = makeFields();
    return fields;
}

const BoundField* findBoundField(std::string_view path) {
    const auto& fields = boundFields();
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const BoundField& field) {
        return field.spec.path == path;
    });
    return found == fields.end() ? nullptr : &*found;
}

std::string_view lastComponent(std::string_view path) {
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

const std::vector<FieldSpec>& experimentSchema() {
    static const std::vector<FieldSpec> schema = [] {
        std::vector<FieldSpec> specs;
        for (const BoundField& field : boundFields())
            specs.push_back(field.spec);
        return specs;
    }();
    return schema;
}

const FieldSpec* findField(std::string_view pathOrOption) {
    const auto& schema = experimentSchema();
    const auto found = std::find_if(schema.begin(), schema.end(), [&](const FieldSpec& spec) {
        return spec.path == pathOrOption || spec.option == pathOrOption;
    });
    return found == schema.end() ? nullptr : &*found;
}

Experiment defaultExperiment() {
    Experiment experiment;
    for (const BoundField& field : boundFields()) {
        if (field.access == nullptr)
            assignParameter(experiment.compression.parameters, field.spec, field.spec.defaultValue);
    }
    return experiment;
}

FieldValue getField(const Experiment& experiment, std::string_view path) {
    const BoundField& field = requireField(path);
    if (field.access == nullptr) {
        const auto& parameters = experiment.compression.parameters;
        const auto found = parameters.find(lastComponent(path));
        return found == parameters.end() ? field.spec.defaultValue : found->second;
    }
    // The accessor gives a way to write; nothing is written through it here.
    return valueAt(field.access(const_cast<Experiment&>(experiment)));
}

void setField(Experiment& experiment, std::string_view path, const FieldValue& value) {
    const BoundField& field = requireField(path);
    const bool done = field.access == nullptr
                          ? assignParameter(experiment.compression.parameters, field.spec, value)
                          : std::visit([&](auto* member) { return assign(*member, value); },
                                       field.access(experiment));
    if (!done) {
        throw ExperimentError(field.spec.path,
                              fieldMessage(field.spec, "a value of the wrong type for " +
                                                           std::string(lastComponent(path))));
    }
}

} // namespace gradlab::engine
