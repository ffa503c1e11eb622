// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Names, types, ranges, defaults and help of every experiment field, as data, and the one validator
// that command line, file and window share. Compressors' and memories' parameters come from their
// registry.
#pragma once

#include "engine/core/export.h"
#include "engine/core/precision.h"
#include "engine/training/experiment.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::engine {

/// Every field in the order of the contract's table; the same list for the life of the process.
[[nodiscard]] GRADLAB_ENGINE_EXPORT const std::vector<FieldSpec>& experimentSchema();

/// The field of a dotted path or of an option ("--lr"); null if unknown.
[[nodiscard]] GRADLAB_ENGINE_EXPORT const FieldSpec* findField(std::string_view pathOrOption);

/// An experiment with every default, compression parameters included.
[[nodiscard]] GRADLAB_ENGINE_EXPORT Experiment defaultExperiment();

[[nodiscard]] GRADLAB_ENGINE_EXPORT FieldValue getField(const Experiment& experiment,
                                                        std::string_view path);
/// Sets without range check (validate() finds it). @throws ExperimentError for an unknown path or a
/// wrong type.
GRADLAB_ENGINE_EXPORT void setField(Experiment& experiment, std::string_view path,
                                    const FieldValue& value);

/// Text of the command line or of a form → value of the field's type. Accepts "100Mbit", "1ms",
/// "unlimited".
/// @throws ExperimentError naming field, text and what is allowed.
[[nodiscard]] GRADLAB_ENGINE_EXPORT FieldValue parseFieldValue(const FieldSpec& field,
                                                               std::string_view text);
/// The shortest text that parseFieldValue reads back as the same value.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string formatFieldValue(const FieldSpec& field,
                                                                 const FieldValue& value);
/// What is allowed, for people: "a number in (0, 1]", "none, topk, randomk, dgc or qsgd".
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string allowedValues(const FieldSpec& field);
/// Whether the experiment's method, memory, … make use of the field.
[[nodiscard]] GRADLAB_ENGINE_EXPORT bool isFieldUsed(const FieldSpec& field,
                                                     const Experiment& experiment);

/// One thing wrong (error) or risky (warning) about an experiment.
struct ExperimentIssue {
    enum class Severity { Error, Warning };
    Severity severity = Severity::Error;
    std::string field;   ///< dotted path
    std::string message; ///< one line: field, value, what is allowed, why
};

/// Ranges of every field, and what only makes sense together (batch multiple of workers, momentum
/// with the dgc memory, legal method × memory pairs, residual with QSGD's error bound ≥ 1 as a
/// warning, …), and whether this machine can train in bf16. Errors first.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<ExperimentIssue>
validate(const Experiment& experiment, Bf16Ability ability = bf16Ability());
/// @throws ExperimentError, as validate() says it, if the experiment's precision needs what is not
/// there.
void requirePrecision(const Experiment& experiment, Bf16Ability ability = bf16Ability());
/// @throws ExperimentError with the first error of validate(). Returns the warnings.
GRADLAB_ENGINE_EXPORT std::vector<ExperimentIssue> requireValid(const Experiment& experiment);

/// The errors of validate() for each entry, and what a race's entries must share: corpus, model,
/// seed.
/// @throws ExperimentError. Returns the warnings of all entries, their message beginning with the
/// entry's name.
GRADLAB_ENGINE_EXPORT std::vector<ExperimentIssue>
requireValidRace(const std::vector<Experiment>& race);
/// The entry's name, or what tells it apart from others: "topk 0.01".
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string displayName(const Experiment& experiment);

/// Every `auto` and 0-means-default replaced by what it stands for (memory, values, threads, …).
[[nodiscard]] GRADLAB_ENGINE_EXPORT Experiment resolved(const Experiment& experiment);

/// The document as JSON text, schema 1, fields in contract order, all of them; ends with a newline.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string toJson(const Experiment& experiment);
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string raceToJson(const std::vector<Experiment>& race);
/// One experiment, or a race: each entry inherits the first one's fields. Unknown fields, wrong
/// types and a wrong schema are errors that name the program's version. `origin` (a file name)
/// begins each message.
/// @throws ExperimentError for fields, DataError for what is not JSON (with line and column).
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<Experiment>
parseExperiments(std::string_view json, std::string_view origin);
/// @throws DataError if the file cannot be read, and as parseExperiments.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<Experiment>
readExperiments(const std::filesystem::path& file);
/// The options that differ from the defaults, ready for a shell: "--method topk --ratio 0.001".
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string commandLineOptions(const Experiment& experiment);

} // namespace gradlab::engine
