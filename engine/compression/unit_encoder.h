// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From selections and dense vectors to a unit's bytes; used by compressors and by the aggregator's
// downlink. Values are narrowed to the wire's type (round to nearest even, clamped to finite).
#pragma once

#include "engine/compression/compressed_gradient.h"
#include "engine/compression/message_plan.h"
#include "engine/compression/random_selection.h"
#include "engine/compression/unit_writer.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace gradlab::engine {

/// "gap" → Gap, "auto" → empty: the smallest. @throws ExperimentError for any other name.
[[nodiscard]] std::optional<IndexCode> indexCodeOf(std::string_view name);
/// "fixed" → Fixed, "auto" → empty: the smallest. @throws ExperimentError for any other name.
[[nodiscard]] std::optional<LevelCode> levelCodeOf(std::string_view name);

/// Writes a selection: indices ascending and distinct, one value each. `code` empty: the smallest.
/// Falls back to dense (zeros elsewhere, flag set) where that is no larger. Returns what it wrote.
template <class T>
UnitDescriptor encodeSparseUnit(const CompressionUnit& unit, std::span<const std::uint32_t> indices,
                                std::span<const T> values, ValueType type,
                                std::optional<IndexCode> code, UnitWriter& writer);

/// Writes a selection that RandomSelection drew from `seed`: 8 bytes, then the values. Falls back
/// as above.
template <class T>
UnitDescriptor encodeSeededUnit(const CompressionUnit& unit, const SelectionSeed& seed,
                                std::span<const std::uint32_t> indices, std::span<const T> values,
                                ValueType type, UnitWriter& writer);

/// Writes all values of a unit.
template <class T>
UnitDescriptor encodeDenseUnit(const CompressionUnit& unit, std::span<const T> values,
                               ValueType type, UnitWriter& writer);

/// Bytes that encodeSparseUnit would write as payload, dense fallback considered.
[[nodiscard]] std::size_t sparseUnitBytes(const CompressionUnit& unit,
                                          std::span<const std::uint32_t> indices, ValueType type,
                                          std::optional<IndexCode> code);

} // namespace gradlab::engine
