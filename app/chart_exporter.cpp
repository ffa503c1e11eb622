// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/chart_exporter.h"

#include "app/report_data.h"
#include "engine/core/errors.h"
#include "widgets/chart_picture.h"
#include "widgets/run_chart.h"

#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>
#include <QLocale>
#include <QMimeData>
#include <QSaveFile>

#include <optional>

namespace gradlab::app {
namespace {

constexpr QSize kSmallestPicture{720, 440}; ///< a chart in a corner of the window is larger alone

QSize sizeOf(const widgets::RunChart& chart) {
    return chart.size().expandedTo(kSmallestPicture);
}

std::optional<widgets::PictureFormat> formatOf(const QString& path) {
    const QString suffix = QFileInfo(path).suffix().toLower();
    if (suffix == QLatin1String("png"))
        return widgets::PictureFormat::Png;
    if (suffix == QLatin1String("svg"))
        return widgets::PictureFormat::Svg;
    if (suffix == QLatin1String("pdf"))
        return widgets::PictureFormat::Pdf;
    return std::nullopt;
}

CsvStyle styleOf(const ChartTable& table) {
    if (!table.forSpreadsheets)
        return {};
    const bool comma = QLocale().decimalPoint() == QLatin1String(",");
    return {comma ? ';' : ',', comma ? ',' : '.', true};
}

} // namespace

ChartExporter::ChartExporter(QObject* parent) : QObject(parent) {
    pool_.setMaxThreadCount(1);
}

ChartExporter::~ChartExporter() {
    stop_.request_stop();
    pool_.waitForDone();
}

void ChartExporter::savePicture(const widgets::RunChart& chart, const widgets::Theme& shown,
                                const QString& path) {
    const std::optional<widgets::PictureFormat> format = formatOf(path);
    if (!format) {
        Q_EMIT failed(
            tr("The chart was not saved: %1; let its name end in .png, .svg or .pdf").arg(path));
        return;
    }
    const bool onScreen = *format == widgets::PictureFormat::Png;
    const widgets::Theme theme = onScreen ? shown : widgets::Theme::make(false, shown.presentation);
    const QByteArray bytes = widgets::chartPicture(chart, *format, sizeOf(chart), theme);
    QSaveFile file(path);
    if (file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size() && file.commit())
        Q_EMIT done(tr("Saved %1").arg(path));
    else
        Q_EMIT failed(
            tr("%1 was not saved: %2; choose another folder").arg(path, file.errorString()));
}

void ChartExporter::copyPicture(const widgets::RunChart& chart, const widgets::Theme& shown) {
    QGuiApplication::clipboard()->setMimeData(
        widgets::chartForClipboard(chart, sizeOf(chart), shown));
    Q_EMIT done(tr("Copied: %1").arg(chart.title()));
}

void ChartExporter::saveTable(const ChartTable& table, const QString& path) {
    const CsvStyle style = styleOf(table);
    pool_.start([this, table, style, path, stop = stop_.get_token()] {
        try {
            const CsvResult result =
                writeCsv(table.runs, table.fields, style, path.toStdString(), stop);
            // The destructor waits for this thread, and takes queued calls with it.
            QMetaObject::invokeMethod(
                this, [this, table, path, result] { finishTable(table, path, result); },
                Qt::QueuedConnection);
        } catch (const std::exception& error) {
            const QString text = QString::fromStdString(error.what());
            QMetaObject::invokeMethod(
                this, [this, text] { Q_EMIT failed(text); }, Qt::QueuedConnection);
        }
    });
}

void ChartExporter::saveReport(Report report, const QString& path) {
    pool_.start([this, report = std::move(report), path, stop = stop_.get_token()]() mutable {
        addEvents(report, stop);
        const QByteArray page = toHtml(report);
        QSaveFile file(path);
        const bool saved = !stop.stop_requested() && file.open(QIODevice::WriteOnly) &&
                           file.write(page) == page.size() && file.commit();
        const QString text =
            saved ? tr("Saved %1").arg(path)
                  : tr("%1 was not saved: %2; choose another folder").arg(path, file.errorString());
        QMetaObject::invokeMethod(
            this,
            [this, saved, text] {
                if (saved)
                    Q_EMIT done(text);
                else
                    Q_EMIT failed(text);
            },
            Qt::QueuedConnection);
    });
}

void ChartExporter::finishTable(const ChartTable& table, const QString& path,
                                const CsvResult& result) {
    Q_EMIT done(tr("Saved %Ln row(s) in %1", "", static_cast<int>(result.rows)).arg(path));
    for (std::size_t run = 0; run < result.lastSteps.size(); ++run)
        if (result.lastSteps[run] < table.steps[run])
            Q_EMIT failed(tr("%1 goes to step %2 only: the rest was not kept; keep the next run in "
                             "a folder")
                              .arg(QString::fromStdString(table.runs[run].name))
                              .arg(result.lastSteps[run]));
}

} // namespace gradlab::app
