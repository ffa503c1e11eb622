// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a report is made of: the runs that are shown, their charts, and the events of their logs.
#pragma once

#include "app/html_report.h"

#include <stop_token>

namespace gradlab::widgets {
class RunChart;
} // namespace gradlab::widgets

namespace gradlab::app {

class RunCollection;

/// Of the visible runs, with charts in light colours; GUI thread, some milliseconds a chart. The
/// events are not in it yet.
[[nodiscard]] Report makeReport(const RunCollection& runs,
                                const std::vector<widgets::RunChart*>& charts);

/// Reads the logs: long for long runs, any thread. A log that cannot be read is said in the report.
void addEvents(Report& report, const std::stop_token& stop = {});

} // namespace gradlab::app
