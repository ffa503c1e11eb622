// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Which fields of two experiments differ, in the words of the schema.
#pragma once

#include "engine/training/experiment.h"

#include <QString>

#include <vector>

namespace gradlab::widgets {

struct SettingDifference {
    QString path;     ///< "compression.ratio"
    QString label;    ///< "Kept ratio"
    QString value;    ///< the run's; "–" where it does not use the field
    QString baseline; ///< the baseline's, likewise
};

/// In the schema's order, every `auto` resolved; fields that neither uses are left out, and the
/// name.
[[nodiscard]] std::vector<SettingDifference> settingDifferences(const engine::Experiment& run,
                                                                const engine::Experiment& baseline);

} // namespace gradlab::widgets
