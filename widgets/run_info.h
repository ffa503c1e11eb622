// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How one run of the session appears in every view: its number, name, colour and data.
#pragma once

#include "widgets/run_series.h"

#include <QString>

#include <cstdint>
#include <memory>
#include <vector>

namespace gradlab::engine {
struct Experiment;
}

namespace gradlab::widgets {

struct RunInfo {
    int id = 0;
    QString name;
    int colour = 0; ///< index into Theme::runColour
    bool visible = true;
    QString method;        ///< "topk 0.01, residual"
    QString state;         ///< "running", "paused", …
    QString note{};        ///< the person's own words
    bool baseline = false; ///< what the other runs are compared with; one at most
    std::shared_ptr<const engine::Experiment> experiment{}; ///< with the changes made; may be null
    std::int64_t seed = 0;
    int seedGroup = 0;       ///< shared by runs of one experiment from different seeds; 0: too few
    QString seedGroupName{}; ///< the name without the seed
    const RunSeries* series = nullptr; ///< owned by the session, which outlives every view's list
};

using RunList = std::vector<RunInfo>;

} // namespace gradlab::widgets
