// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Records as the lines of metrics.jsonl and back. Kinds and field names are the contract's; numbers
// are the shortest that read back as the same bits; what is not finite is null, named in
// `nonfinite`.
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/step_record.h"

#include <optional>
#include <string>
#include <string_view>

namespace gradlab::engine {

/// One line with its line break.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string toJsonLine(const Record& record);

/// Reads a line without its line break. Fields it does not know are ignored, missing ones keep
/// their default.
/// @return nothing for a kind that it does not know
/// @throws DataError for what is not a record; the message says what is wrong, not where
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::optional<Record> parseJsonLine(std::string_view line);

} // namespace gradlab::engine
