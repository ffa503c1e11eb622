// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The experiment's fields as command-line options, made from the schema.
#pragma once

#include "engine/core/field_spec.h"
#include "engine/training/experiment.h"

#include <map>
#include <string>
#include <vector>

namespace CLI { // NOLINT(readability-identifier-naming): the library's own
class App;
}

namespace gradlab::app {

/// A field that the command line sets.
struct FieldOverride {
    const engine::FieldSpec* field = nullptr; ///< of experimentSchema(), which lives for ever
    engine::FieldValue value;
};

/// Options given, by schema path; filled while CLI11 parses.
class SchemaOptions {
public:
    /// Adds an option for each field whose path begins with one of `prefixes` (none: every field).
    /// The object must live as long as the parser.
    void addTo(CLI::App& command, const std::vector<std::string>& prefixes = {});
    /// In the schema's order. @throws ExperimentError naming option, text and what is allowed
    [[nodiscard]] std::vector<FieldOverride> overrides() const;

private:
    std::map<std::string, std::string, std::less<>> given_;
};

void applyOverrides(const std::vector<FieldOverride>& overrides,
                    std::vector<engine::Experiment>& race);

} // namespace gradlab::app
