// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What RunTableModel's columns are called, mean and measure.
#pragma once

#include "widgets/axis_ticks.h"

#include <QString>

namespace gradlab::widgets {

struct RunColumn {
    enum class Better { Neither, Less, More };
    const char* key = "";   ///< in settings; never changes
    const char* title = ""; ///< translated in the context RunTableModel
    const char* tip = "";
    ValueKind kind = ValueKind::Number;
    Better better = Better::Neither; ///< Neither: not compared with the baseline
};

/// @param column RunTableModel::Column
[[nodiscard]] const RunColumn& runColumn(int column);
/// −1 if there is none.
[[nodiscard]] int runColumnOf(const QString& key);

} // namespace gradlab::widgets
