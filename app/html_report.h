// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a report says, as data, and the one HTML page made of it: no script, nothing fetched from
// anywhere, readable as XML too. No widgets, any thread. Leaves out: where the data come from
// (report_data.h).
#pragma once

#include <QByteArray>
#include <QColor>
#include <QDateTime>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <utility>
#include <vector>

namespace gradlab::app {

struct ReportEvent {
    quint64 step = 0;
    QString kind; ///< parameter_changed, worker_lost, …
    QString details;
};

struct ReportRun {
    QString name;
    QColor colour;
    QString method;
    QString state;
    QStringList settings; ///< values of the report's `settings`; "–": not used
    QStringList results;  ///< values of the report's `results`
    QString commandLine;
    QString experimentJson;
    QString machine;                 ///< where it ran: program, processor, instruction set
    std::filesystem::path log;       ///< with its events; empty: there are none
    std::vector<ReportEvent> events; ///< in the log's order
    QString missing;                 ///< why there are no events, or not all
};

struct ReportChart {
    QString title;
    QByteArray svg; ///< as QSvgGenerator writes it
};

struct Report {
    QString title;
    QDateTime made;
    QString program;      ///< with its version
    QString machine;      ///< cores, processor, instruction set
    QStringList settings; ///< those that differ between the runs
    QStringList results;
    std::vector<ReportRun> runs;
    std::vector<ReportChart> charts;
};

/// Most events of a run that a report lists.
inline constexpr std::size_t kMostReportEvents = 500;

/// UTF-8.
[[nodiscard]] QByteArray toHtml(const Report& report);

} // namespace gradlab::app
