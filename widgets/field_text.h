// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A field's texts in the person's language. The engine knows no Qt and writes English; translation
// files hold these under the context "FieldSpec" (tests/bench/update_translations.py).
#pragma once

#include "engine/core/field_spec.h"

#include <QString>

namespace gradlab::widgets {

inline constexpr const char* kFieldContext = "FieldSpec";

[[nodiscard]] QString fieldLabel(const engine::FieldSpec& field);
[[nodiscard]] QString fieldHelp(const engine::FieldSpec& field);
[[nodiscard]] QString fieldUnit(const engine::FieldSpec& field);
/// Help, equation, source, range and option of a field, as rich text.
[[nodiscard]] QString fieldToolTip(const engine::FieldSpec& field);

} // namespace gradlab::widgets
