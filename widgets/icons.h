// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The program's own small icons, drawn in the palette's text colour so that they suit light and
// dark.
#pragma once

#include <QColor>
#include <QIcon>
#include <QPalette>

namespace gradlab::widgets {

enum class IconName { Start, Pause, Step, Stop, Reset, Present, Fold, Error, Warning };

[[nodiscard]] QIcon icon(IconName name, const QPalette& palette);
[[nodiscard]] QIcon icon(IconName name, const QColor& normal, const QColor& disabled);

} // namespace gradlab::widgets
