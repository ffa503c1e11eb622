// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the parameters that methods and memories declare, and the one that several methods share.
#pragma once

#include "engine/core/field_spec.h"
#include "engine/training/experiment.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gradlab::engine {

/// Of every method that sends a selection: the kept share of a unit's elements.
[[nodiscard]] FieldSpec ratioParameter();

/// k = max(1, ⌊ratio·n⌋) in double, at most n; 0 for an empty unit.
[[nodiscard]] std::size_t keptCount(double ratio, std::size_t elements) noexcept;

/// Value of parameter `name` (last path component), or its declared default when it is not set.
/// @throws ExperimentError if the value has another type.
[[nodiscard]] double realParameter(const CompressionSettings& settings, std::string_view name);
[[nodiscard]] std::int64_t integerParameter(const CompressionSettings& settings,
                                            std::string_view name);
[[nodiscard]] bool booleanParameter(const CompressionSettings& settings, std::string_view name);
[[nodiscard]] std::string textParameter(const CompressionSettings& settings, std::string_view name);

} // namespace gradlab::engine
