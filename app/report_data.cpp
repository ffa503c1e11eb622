// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report_data.h"

#include "app/run_collection.h"
#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/metrics/run_log.h"
#include "engine/training/experiment_schema.h"
#include "widgets/axis_ticks.h"
#include "widgets/chart_picture.h"
#include "widgets/field_text.h"
#include "widgets/run_chart.h"

#include <QCoreApplication>
#include <QLocale>

#include <algorithm>
#include <thread>

namespace gradlab::app {
namespace {

constexpr QSize kChartSize{960, 520};
constexpr int kBarsHeight = 60; ///< of one run, in a chart without axes

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Report)
};

QString qt(std::string_view text) {
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

std::vector<const CollectedRun*> shownRuns(const RunCollection& runs) {
    std::vector<const CollectedRun*> shown;
    for (const widgets::RunInfo& run : runs.list())
        if (run.visible)
            shown.push_back(runs.find(run.id));
    return shown;
}

QString valueText(const engine::FieldSpec& field, const CollectedRun& run) {
    if (!engine::isFieldUsed(field, run.atStart))
        return QStringLiteral("–");
    return qt(engine::formatFieldValue(field, engine::getField(run.atStart, field.path)));
}

/// Fields in which two of the runs differ; of a run alone, those that are not as usual.
std::vector<const engine::FieldSpec*> differing(const std::vector<const CollectedRun*>& runs) {
    std::vector<const engine::FieldSpec*> fields;
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        if (field.path == "name" || runs.empty())
            continue;
        const QString first = valueText(field, *runs.front());
        const bool usual = qt(engine::formatFieldValue(field, field.defaultValue)) == first ||
                           first == QStringLiteral("–");
        const bool differs = std::any_of(runs.begin(), runs.end(), [&](const CollectedRun* run) {
            return valueText(field, *run) != first;
        });
        if (differs || (runs.size() == 1 && !usual))
            fields.push_back(&field);
    }
    return fields;
}

QString number(const std::optional<double>& value,
               widgets::ValueKind kind = widgets::ValueKind::Number) {
    return value ? qt(widgets::formatValue(*value, kind, 4)) : QStringLiteral("–");
}

QStringList resultTitles() {
    return {Words::tr("State"),
            Words::tr("Steps"),
            Words::tr("Best valid perplexity"),
            Words::tr("Test perplexity"),
            Words::tr("Bytes a step"),
            Words::tr("Against dense"),
            Words::tr("Bytes in total"),
            Words::tr("Simulated time"),
            Words::tr("Wall time")};
}

/// What ended it, whoever shows it now.
QString stateOf(const CollectedRun& run) {
    return run.series->end() ? qt(run.series->end()->reason) : run.info.state;
}

QStringList resultsOf(const CollectedRun& run) {
    using widgets::ValueKind;
    const widgets::RunNumbers numbers = run.series->numbers();
    const QString ratio = numbers.compressionRatio
                              ? number(numbers.compressionRatio) + QStringLiteral("×")
                              : QStringLiteral("–");
    return {stateOf(run),
            QLocale().toString(static_cast<qulonglong>(numbers.step)),
            number(numbers.bestPerplexity),
            number(numbers.testPerplexity),
            number(numbers.bytesPerStep, ValueKind::Bytes),
            ratio,
            number(numbers.bytesTotal, ValueKind::Bytes),
            number(numbers.simulatedS, ValueKind::Seconds),
            number(numbers.wallS, ValueKind::Seconds)};
}

/// For a shell: the options that differ from the defaults.
QString commandLineOf(const engine::Experiment& experiment) {
    return (QStringLiteral("gradlab-cli train ") + qt(engine::commandLineOptions(experiment)))
        .trimmed();
}

QSize sizeOf(const widgets::RunChart& chart, std::size_t runs) {
    const int bars = kBarsHeight * (static_cast<int>(runs) + 2);
    return {kChartSize.width(),
            chart.plots().empty() ? std::min(bars, kChartSize.height()) : kChartSize.height()};
}

ReportRun reportRun(const CollectedRun& run, const std::vector<const engine::FieldSpec*>& fields) {
    ReportRun result;
    result.name = run.info.name;
    result.colour = widgets::Theme::make(false, false).runColour(run.info.colour);
    result.method = run.info.method;
    result.state = stateOf(run);
    for (const engine::FieldSpec* field : fields)
        result.settings << valueText(*field, run);
    result.results = resultsOf(run);
    result.commandLine = commandLineOf(run.atStart);
    result.experimentJson = qt(engine::toJson(run.atStart));
    result.log = run.log;
    return result;
}

/// What the log says of it; false once nothing more is wanted.
bool take(ReportRun& run, const engine::Record& record, const std::stop_token& stop) {
    if (const auto* start = std::get_if<engine::StartRecord>(&record))
        run.machine = Words::tr("gradlab %1 on %2, engine for %3")
                          .arg(qt(start->version), qt(start->cpu), qt(start->isa));
    const auto* event = std::get_if<engine::EventRecord>(&record);
    if (event != nullptr && event->event != "checkpoint") {
        if (run.events.size() >= kMostReportEvents) {
            run.missing = Words::tr("The first %1 events; the run's log has the rest.")
                              .arg(kMostReportEvents);
            return false;
        }
        run.events.push_back({event->step, qt(event->event), qt(event->details)});
    }
    return !stop.stop_requested();
}

} // namespace

Report makeReport(const RunCollection& runs, const std::vector<widgets::RunChart*>& charts) {
    const std::vector<const CollectedRun*> shown = shownRuns(runs);
    const std::vector<const engine::FieldSpec*> fields = differing(shown);
    Report report;
    QStringList names;
    for (const CollectedRun* run : shown)
        names << run->info.name;
    report.title = names.isEmpty() || names.size() > 4
                       ? Words::tr("Gradient Lab: %1 runs").arg(names.size())
                       : Words::tr("Gradient Lab: %1").arg(names.join(QStringLiteral(", ")));
    report.made = QDateTime::currentDateTime();
    report.program = QStringLiteral("gradlab ") + qt(engine::version());
    report.machine = Words::tr("%1 cores, %2, engine for %3")
                         .arg(std::thread::hardware_concurrency())
                         .arg(qt(engine::cpuName()), qt(engine::isaLevel()));
    for (const engine::FieldSpec* field : fields)
        report.settings << widgets::fieldLabel(*field);
    report.results = resultTitles();
    for (const CollectedRun* run : shown)
        report.runs.push_back(reportRun(*run, fields));
    const widgets::Theme theme = widgets::Theme::make(false, false);
    for (const widgets::RunChart* chart : charts)
        report.charts.push_back(
            {chart->title(), widgets::chartPicture(*chart, widgets::PictureFormat::Svg,
                                                   sizeOf(*chart, shown.size()), theme)});
    return report;
}

void addEvents(Report& report, const std::stop_token& stop) {
    for (ReportRun& run : report.runs) {
        if (run.log.empty()) {
            run.missing = Words::tr("Its log was not kept.");
            continue;
        }
        try {
            engine::readRunLog(
                run.log, [&](const engine::Record& record) { return take(run, record, stop); });
        } catch (const engine::Error& error) {
            run.missing = Words::tr("Its log cannot be read: %1").arg(qt(error.what()));
        }
    }
}

} // namespace gradlab::app
