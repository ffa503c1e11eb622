// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/schema_options.h"

#include "engine/training/experiment_schema.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace gradlab::app {

using engine::FieldSpec;
using engine::FieldType;

void SchemaOptions::addTo(CLI::App& command, const std::vector<std::string>& prefixes) {
    for (const FieldSpec& field : engine::experimentSchema()) {
        const bool wanted =
            prefixes.empty() ||
            std::any_of(prefixes.begin(), prefixes.end(),
                        [&](const std::string& prefix) { return field.path.starts_with(prefix); });
        if (!wanted)
            continue;
        if (field.type == FieldType::Boolean) {
            // The flag turns the default over; saying it twice changes nothing.
            const bool opposite = !std::get<bool>(field.defaultValue);
            command.add_flag_callback(field.option, [this, &field, opposite] {
                given_[field.path] = opposite ? "true" : "false";
            });
            continue;
        }
        const std::function<void(const std::string&)> take =
            [this, &field](const std::string& text) { given_[field.path] = text; };
        command.add_option_function(field.option, take);
    }
}

std::vector<FieldOverride> SchemaOptions::overrides() const {
    std::vector<FieldOverride> overrides;
    for (const FieldSpec& field : engine::experimentSchema()) {
        const auto found = given_.find(field.path);
        if (found != given_.end())
            overrides.push_back({&field, engine::parseFieldValue(field, found->second)});
    }
    return overrides;
}

void applyOverrides(const std::vector<FieldOverride>& overrides,
                    std::vector<engine::Experiment>& race) {
    for (engine::Experiment& experiment : race) {
        for (const FieldOverride& change : overrides)
            engine::setField(experiment, change.field->path, change.value);
    }
}

} // namespace gradlab::app
