// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Charts to files and clipboard. Pictures are made at once (milliseconds), tables and reports of
// long logs in a thread of their own; files appear whole or not at all. Leaves out: asking for
// names (MainWindow).
#pragma once

#include "app/csv_table.h"
#include "app/html_report.h"

#include <QObject>
#include <QString>
#include <QThreadPool>

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace gradlab::widgets {
class RunChart;
struct Theme;
} // namespace gradlab::widgets

namespace gradlab::app {

/// What a table is made of.
struct ChartTable {
    std::vector<CsvRun> runs;
    std::vector<std::uint64_t> steps; ///< that each run has come to
    std::vector<std::string> fields;
    bool forSpreadsheets = false; ///< as QLocale's country writes numbers
};

/// Lives in the GUI thread; nothing blocks it for longer than a picture takes.
class ChartExporter : public QObject {
    Q_OBJECT

public:
    explicit ChartExporter(QObject* parent = nullptr);
    /// Stops a table under way.
    ~ChartExporter() override;

    /// PNG as shown, at twice the size; SVG and PDF in light colours. By the end of the name.
    void savePicture(const widgets::RunChart& chart, const widgets::Theme& shown,
                     const QString& path);
    void copyPicture(const widgets::RunChart& chart, const widgets::Theme& shown);
    /// One after the other, in the order of the calls.
    void saveTable(const ChartTable& table, const QString& path);
    /// Reads the events of its runs first.
    void saveReport(Report report, const QString& path);

Q_SIGNALS:
    void done(const QString& text);
    /// What is wrong, where, what to do.
    void failed(const QString& text);

private:
    void finishTable(const ChartTable& table, const QString& path, const CsvResult& result);

    QThreadPool pool_;
    std::stop_source stop_;
};

} // namespace gradlab::app
