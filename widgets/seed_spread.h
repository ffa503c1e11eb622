// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What runs of one experiment from several seeds show together: mean and standard deviation along
// x. No Qt.
#pragma once

#include "engine/core/spread.h"
#include "widgets/run_info.h"
#include "widgets/series_store.h"

#include <vector>

namespace gradlab::widgets {

struct SpreadPoint {
    double x = 0.0;
    double mean = 0.0;
    double deviation = 0.0; ///< of a sample (n − 1)
};

/// At the x values of the first line as far as every line reaches; between the points of a line
/// straight on. A line with a gap there is left out; where fewer than two are left there is no
/// point.
[[nodiscard]] std::vector<SpreadPoint>
spreadAlong(const std::vector<std::vector<PlotPoint>>& lines);

/// The runs of each RunInfo::seedGroup among `runs`, in the order of their first ones. Runs without
/// a group are in none.
[[nodiscard]] std::vector<RunList> seedGroups(const RunList& runs);

/// The metric near x of the runs of `group` less that of the run of `other` with the same seed.
[[nodiscard]] engine::Spread pairedDifference(const RunList& group, const RunList& other,
                                              Metric metric, XAxis axis, double x);

} // namespace gradlab::widgets
