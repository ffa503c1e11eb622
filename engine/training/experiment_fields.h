// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Internal to the experiment's schema: which member of Experiment a field is kept in.
#pragma once

#include "engine/core/field_spec.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace gradlab::engine {

using FieldReference = std::variant<bool*, std::int64_t*, double*, std::string*>;

/// `access` is null for what compressors and memories declare: that lives in
/// CompressionSettings::parameters under the last component of the path.
struct BoundField {
    FieldSpec spec;
    FieldReference (*access)(Experiment&) = nullptr;
};

/// Every field in the contract's order; the same list for the life of the process.
[[nodiscard]] const std::vector<BoundField>& boundFields();
/// Null if unknown.
[[nodiscard]] const BoundField* findBoundField(std::string_view path);

/// "compression.ratio" → "ratio".
[[nodiscard]] std::string_view lastComponent(std::string_view path);

/// The parts of the table, in order. Defaults are taken from a default Experiment afterwards.
void addCorpusFields(std::vector<BoundField>& fields);
void addModelFields(std::vector<BoundField>& fields);
void addTrainingFields(std::vector<BoundField>& fields);
void addCompressionFields(std::vector<BoundField>& fields);
void addClusterFields(std::vector<BoundField>& fields);

} // namespace gradlab::engine
