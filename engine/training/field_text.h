// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Pieces that the schema's files share: how messages about a field are worded, and the checks of
// one value.
#pragma once

#include "engine/core/field_spec.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::engine {

/// Text from outside, safe inside a one-line message: in quotes, control characters shown as '?',
/// cut if long.
[[nodiscard]] std::string inQuotes(std::string_view text);

/// "<what is wrong>: <path> (<option>); give <what is allowed>". `origin` (a file) replaces the
/// option.
[[nodiscard]] std::string fieldMessage(const FieldSpec& field, std::string_view wrong,
                                       std::string_view origin = {});

/// What is wrong with a value of the right type, for fieldMessage(), or nothing.
[[nodiscard]] std::optional<std::string> valueProblem(const FieldSpec& field,
                                                      const FieldValue& value);

/// "1, 2 or 3".
[[nodiscard]] std::string orList(const std::vector<std::string>& items);

/// Rates and durations; nothing if the text is not one. Words such as "unlimited" must be among
/// `words`.
[[nodiscard]] std::optional<double> parseRate(std::string_view text,
                                              const std::vector<std::string>& words);
[[nodiscard]] std::string formatRate(double bitsPerSecond);
[[nodiscard]] std::optional<double> parseDuration(std::string_view text);
[[nodiscard]] std::string formatDuration(double seconds);

} // namespace gradlab::engine
