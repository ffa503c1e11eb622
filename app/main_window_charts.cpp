// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Commands of the charts: zoom, scales, smoothing, and what goes out of the window. They concern
// the chart that had the keyboard last, or the large one.
#include "app/chart_board.h"
#include "app/chart_exporter.h"
#include "app/main_window.h"
#include "app/report_data.h"
#include "app/run_collection.h"
#include "widgets/message_banner.h"
#include "widgets/plot_widget.h"

#include <QAction>
#include <QFileDialog>
#include <QMenu>
#include <QSettings>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStatusBar>
#include <QTimer>

namespace gradlab::app {
namespace {

constexpr int kMostSmoothing = 10000; ///< steps
constexpr int kMessageMs = 8000;

} // namespace

void MainWindow::buildChartActions() {
    buildZoomActions();
    buildSmoothing();
    buildExportActions();
    connect(board_, &ChartBoard::menuRequested, this, &MainWindow::showChartMenu);
}

void MainWindow::buildZoomActions() {
    actions_.zoomIn = addCommand(tr("Zoom &In"), QKeySequence::keyBindings(QKeySequence::ZoomIn),
                                 tr("Closer along x; on a chart also wheel, drag, + and −"));
    actions_.zoomOut = addCommand(tr("Zoom &Out"), QKeySequence::keyBindings(QKeySequence::ZoomOut),
                                  tr("More along x; arrow keys move a zoomed chart"));
    actions_.showAll = addCommand(tr("Show &Everything"), {Qt::CTRL | Qt::Key_0},
                                  tr("Every chart whole again, following the run; on one chart "
                                     "Home or a double click"));
    actions_.linkX = addCommand(tr("Zoom Charts &Together"), {Qt::CTRL | Qt::SHIFT | Qt::Key_L},
                                tr("All charts show the same part of the x axis"));
    actions_.linkX->setCheckable(true);
    actions_.linkX->setChecked(board_->isXLinked());
    actions_.logY = addCommand(tr("&Logarithmic Y Axis"), {Qt::Key_L},
                               tr("Linear or logarithmic, for the chart with the keyboard"));
    actions_.logY->setCheckable(true);
    actions_.pareto = addCommand(tr("&Pareto Front"), {Qt::Key_P},
                                 tr("What a perplexity costs in bytes and in time, and the runs "
                                    "that no other one beats"));
    actions_.pareto->setCheckable(true);
    actions_.seedsTogether =
        addCommand(tr("&Mean over Seeds"), {Qt::Key_M},
                   tr("Runs of one experiment from three seeds and more as their mean and standard "
                      "deviation"));
    actions_.seedsTogether->setCheckable(true);
    actions_.seedsTogether->setChecked(true);
    connect(actions_.seedsTogether, &QAction::toggled, board_, &ChartBoard::setSeedsTogether);
    connect(actions_.zoomIn, &QAction::triggered, this,
            [this] { board_->currentPlot()->zoom(true); });
    connect(actions_.zoomOut, &QAction::triggered, this,
            [this] { board_->currentPlot()->zoom(false); });
    connect(actions_.showAll, &QAction::triggered, board_, &ChartBoard::showAll);
    connect(actions_.linkX, &QAction::toggled, board_, &ChartBoard::setXLinked);
    connect(actions_.pareto, &QAction::triggered, board_, &ChartBoard::showPareto);
    connect(actions_.logY, &QAction::triggered, this,
            [this](bool logarithmic) { board_->currentPlot()->setLogarithmicY(logarithmic); });
    connect(board_, &ChartBoard::currentChartChanged, this, &MainWindow::followChart);
    followChart();
}

void MainWindow::followChart() {
    actions_.logY->setChecked(board_->currentPlot()->isLogarithmicY());
    actions_.pareto->setChecked(board_->isParetoShown());
}

void MainWindow::buildSmoothing() {
    smoothing_ = new QSpinBox(this);
    smoothing_->setObjectName(QStringLiteral("smoothing"));
    smoothing_->setRange(1, kMostSmoothing);
    smoothing_->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
    smoothing_->setPrefix(tr("Smooth over "));
    smoothing_->setSuffix(tr(" steps"));
    smoothing_->setSpecialValueText(tr("Not smoothed"));
    smoothing_->setKeyboardTracking(false);
    smoothing_->setAccessibleName(tr("Smoothing, in steps"));
    const QString tip = tr("Exponential smoothing over N steps: each value y moves the line s by "
                           "s ← s + (y − s)/N, without bias at the start; perplexity as its "
                           "logarithm. The raw values stay behind it, thin and pale. 1: none");
    smoothing_->setToolTip(tip);
    smoothing_->setStatusTip(tip);
    smoothing_->setValue(static_cast<int>(board_->smoothing()));
    connect(smoothing_, &QSpinBox::valueChanged, board_, &ChartBoard::setSmoothing);
    actions_.smoother = addCommand(tr("&More Smoothing"), {Qt::CTRL | Qt::Key_BracketRight},
                                   tr("Over twice as many steps"));
    actions_.rougher = addCommand(tr("L&ess Smoothing"), {Qt::CTRL | Qt::Key_BracketLeft},
                                  tr("Over half as many steps"));
    connect(actions_.smoother, &QAction::triggered, this,
            [this] { smoothing_->setValue(smoothing_->value() * 2); });
    connect(actions_.rougher, &QAction::triggered, this,
            [this] { smoothing_->setValue(smoothing_->value() / 2); });
}

void MainWindow::buildExportActions() {
    exporter_ = new ChartExporter(this);
    actions_.saveChart = addCommand(tr("Save &Chart…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_P},
                                    tr("The chart as a PNG, SVG or PDF file"));
    actions_.saveData = addCommand(
        tr("Save Chart's &Data…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_D},
        tr("Every record of the shown runs as a table (CSV), with what the chart draws"));
    actions_.copyChart = addCommand(tr("Copy C&hart"), {Qt::CTRL | Qt::ALT | Qt::Key_C},
                                    tr("The chart as a picture, for another program"));
    actions_.saveReport = addCommand(
        tr("Save &Report…"), {Qt::CTRL | Qt::SHIFT | Qt::Key_E},
        tr("One HTML page about the shown runs: settings, results, charts, events, commands"));
    connect(actions_.saveReport, &QAction::triggered, this, &MainWindow::saveReport);
    connect(actions_.saveChart, &QAction::triggered, this, &MainWindow::saveChart);
    connect(actions_.saveData, &QAction::triggered, this, &MainWindow::saveChartData);
    connect(actions_.copyChart, &QAction::triggered, this,
            [this] { exporter_->copyPicture(*board_->currentChart(), board_->theme()); });
    connect(exporter_, &ChartExporter::done, this,
            [this](const QString& text) { statusBar()->showMessage(text, kMessageMs); });
    connect(exporter_, &ChartExporter::failed, this, [this](const QString& text) {
        banner_->showMessage(widgets::MessageBanner::Severity::Error, text);
    });
}

void MainWindow::showChartMenu(const QPoint& globalPosition) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addActions({actions_.saveChart, actions_.copyChart, actions_.saveData});
    menu->addSeparator();
    menu->addActions({actions_.zoomIn, actions_.zoomOut, actions_.showAll, actions_.linkX});
    menu->addSeparator();
    menu->addActions({actions_.logY, actions_.smoother, actions_.rougher});
    menu->popup(globalPosition);
}

/// A dialog that asks for a file's name without holding anything up.
QFileDialog* MainWindow::nameDialog(const QString& title, const QStringList& filters) {
    auto* dialog = new QFileDialog(this, title);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters(filters);
    const auto useSuffix = [dialog](const QString& filter) { // "SVG drawing (*.svg)"
        dialog->setDefaultSuffix(filter.section(QStringLiteral("*."), -1).chopped(1));
    };
    connect(dialog, &QFileDialog::filterSelected, dialog, useSuffix);
    useSuffix(filters.front());
    dialog->selectFile(board_->currentChart()->objectName());
    return dialog;
}

void MainWindow::saveChart() {
    QFileDialog* dialog =
        nameDialog(tr("Save chart"), {tr("PNG picture, twice the size (*.png)"),
                                      tr("SVG drawing (*.svg)"), tr("PDF document (*.pdf)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        exporter_->savePicture(*board_->currentChart(), board_->theme(), path);
    });
    dialog->open();
}

void MainWindow::saveReport() {
    QFileDialog* dialog = nameDialog(tr("Save report"), {tr("HTML page (*.html)")});
    dialog->selectFile(QStringLiteral("report"));
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::writeReport);
    dialog->open();
}

void MainWindow::writeReport(const QString& path) {
    exporter_->saveReport(makeReport(*runs_, board_->charts()), path);
}

void MainWindow::saveChartData() {
    QFileDialog* dialog =
        nameDialog(tr("Save the chart's data"),
                   {tr("CSV for programs (*.csv)"), tr("CSV for spreadsheets (*.csv)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this, dialog](const QString& path) {
        ChartTable table;
        table.forSpreadsheets = dialog->selectedNameFilter() == dialog->nameFilters().constLast();
        for (const QString& field : board_->currentChart()->logFields())
            table.fields.push_back(field.toStdString());
        for (const widgets::RunInfo& run : runs_->list()) {
            const CollectedRun* collected = runs_->find(run.id);
            if (!run.visible || collected->log.empty() || run.series->numbers().step == 0)
                continue;
            table.runs.push_back({run.name.toStdString(), collected->log});
            table.steps.push_back(run.series->numbers().step);
        }
        if (table.runs.empty())
            banner_->showMessage(widgets::MessageBanner::Severity::Error,
                                 tr("No data were saved: no run with steps is shown; start one"));
        else
            exporter_->saveTable(table, path);
    });
    dialog->open();
}

} // namespace gradlab::app
