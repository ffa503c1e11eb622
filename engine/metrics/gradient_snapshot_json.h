// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A GradientSnapshot as a line of inspections.jsonl and back. Numbers read back as the same bits;
// what is not finite is null and reads back as NaN. Maps are base64 of their bytes.
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/gradient_snapshot.h"

#include <optional>
#include <string>
#include <string_view>

namespace gradlab::engine {

/// One line with its line break.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string toJsonLine(const GradientSnapshot& snapshot);

/// @throws DataError for what is no snapshot, or has lists whose lengths do not fit each other
[[nodiscard]] GRADLAB_ENGINE_EXPORT GradientSnapshot parseSnapshotLine(std::string_view line);

/// The step that a line is of, from its beginning alone; nothing if it is no snapshot's.
[[nodiscard]] std::optional<std::uint64_t> snapshotLineStep(std::string_view line) noexcept;

} // namespace gradlab::engine
