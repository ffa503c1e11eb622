// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Perplexity, or the Pareto front, has 60 % of the width; bytes, time and sparsity share the rest
// one above the other.
#include "app/chart_board.h"

#include "widgets/pareto_chart.h"
#include "widgets/perplexity_chart.h"
#include "widgets/run_strip.h"
#include "widgets/sparsity_chart.h"
#include "widgets/time_chart.h"
#include "widgets/traffic_chart.h"

#include <QDataStream>
#include <QIODevice>
#include <QSettings>
#include <QSplitter>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

#include <array>

namespace gradlab::app {
namespace {

// One chart a tick: the large one about ten times a second, the others five times.
constexpr int kRefreshMs = 33;
constexpr std::array<std::size_t, 6> kTurns = {0, 1, 0, 2, 0, 3};

QString scaleKey(const widgets::PlotWidget& plot) {
    return QStringLiteral("charts/logarithmic-") + plot.objectName();
}

} // namespace

ChartBoard::ChartBoard(QWidget* parent)
    : QWidget(parent), strip_(new widgets::RunStrip(this)),
      columns_(new QSplitter(Qt::Horizontal, this)), stack_(new QSplitter(Qt::Vertical, columns_)),
      large_(new QTabWidget(columns_)) {
    setObjectName(QStringLiteral("chartBoard"));
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Charts"));
    charts_ = {new widgets::PerplexityChart, new widgets::TrafficChart(stack_),
               new widgets::TimeChart(stack_), new widgets::SparsityChart(stack_),
               new widgets::ParetoChart};
    layOut();
    connectCharts();
    connect(strip_, &widgets::RunStrip::runClicked, this, &ChartBoard::runClicked);
    timer_.setInterval(kRefreshMs);
    connect(&timer_, &QTimer::timeout, this, &ChartBoard::refreshNext);
    timer_.start();
}

void ChartBoard::layOut() {
    large_->setObjectName(QStringLiteral("largeChart"));
    large_->setDocumentMode(true);
    for (widgets::RunChart* chart : {charts_.front(), charts_.back()})
        large_->addTab(chart, chart->title());
    large_->setTabToolTip(0, tr("How well the model predicts, step by step"));
    large_->setTabToolTip(1, tr("What a perplexity costs in bytes and in time (P)"));
    columns_->insertWidget(0, large_);
    for (QSplitter* splitter : {columns_, stack_}) {
        splitter->setChildrenCollapsible(false);
        splitter->setHandleWidth(4);
        connect(splitter, &QSplitter::splitterMoved, this, [this] { moved_ = true; });
    }
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(strip_);
    layout->addWidget(columns_, 1);
}

void ChartBoard::connectCharts() {
    for (widgets::RunChart* chart : charts_) {
        chart->setSmoothing(smoothing_);
        connect(chart, &widgets::RunChart::xWindowChanged, this,
                [this, chart](const auto& window) { followXWindow(chart, window); });
        connect(chart, &widgets::RunChart::menuRequested, this, &ChartBoard::menuRequested);
        connect(chart, &widgets::RunChart::activated, this, [this, chart] {
            lastChart_ = chart;
            Q_EMIT currentChartChanged();
        });
        for (widgets::PlotWidget* plot : chart->plots())
            connect(plot, &widgets::PlotWidget::activated, this, [this, plot] {
                lastPlot_ = plot;
                Q_EMIT currentChartChanged();
            });
    }
    connect(large_, &QTabWidget::currentChanged, this, &ChartBoard::currentChartChanged);
}

void ChartBoard::followXWindow(const widgets::RunChart* from,
                               const std::optional<widgets::AxisRange>& window) {
    if (!xLinked_)
        return;
    for (widgets::RunChart* chart : charts_)
        if (chart != from && !chart->plots().empty())
            chart->setXWindow(window); // drawn in the next ticks, one a tick
}

void ChartBoard::setXLinked(bool linked) {
    xLinked_ = linked;
    const auto* chart = qobject_cast<widgets::RunChart*>(currentPlot()->parentWidget());
    if (chart != charts_.back()) // which has axes of its own
        followXWindow(chart, chart->xWindow());
}

void ChartBoard::showX(const widgets::AxisRange& part) {
    refreshAll();
    largeChart()->plots().front()->changeWindow({part, std::nullopt});
    refreshAll();
}

void ChartBoard::setSmoothing(double steps) {
    smoothing_ = steps;
    for (widgets::RunChart* chart : charts_)
        chart->setSmoothing(steps);
    answer();
}

void ChartBoard::setSeedsTogether(bool together) {
    for (widgets::RunChart* chart : charts_)
        chart->setSeedsTogether(together);
    answer();
}

void ChartBoard::showPareto(bool shown) {
    large_->setCurrentWidget(shown ? charts_.back() : charts_.front());
}

widgets::PerplexityChart* ChartBoard::perplexityChart() const {
    return qobject_cast<widgets::PerplexityChart*>(charts_.front());
}

bool ChartBoard::isParetoShown() const {
    return largeChart() == charts_.back();
}

widgets::RunChart* ChartBoard::largeChart() const {
    return charts_[large_->currentIndex() == 1 ? charts_.size() - 1 : 0];
}

void ChartBoard::showAll() {
    for (const widgets::RunChart* chart : charts_)
        for (widgets::PlotWidget* plot : chart->plots())
            plot->showAll();
}

widgets::RunChart* ChartBoard::currentChart() const {
    return lastChart_ && lastChart_->isVisible() ? lastChart_.data() : largeChart();
}

widgets::PlotWidget* ChartBoard::currentPlot() const {
    return lastPlot_ && lastPlot_->isVisible() ? lastPlot_.data() : largeChart()->plots().front();
}

void ChartBoard::resetSplitters() {
    setShares(60, {36, 30, 34});
    moved_ = false;
}

void ChartBoard::setShares(int large, const std::array<int, 3>& small) {
    moved_ = true;
    const int width = columns_->width();
    columns_->setSizes({width * large / 100, width - width * large / 100});
    const int height = stack_->height();
    stack_->setSizes({height * small[0] / 100, height * small[1] / 100, height * small[2] / 100});
}

void ChartBoard::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (!moved_) {
        layout()->activate();
        resetSplitters();
    }
}

void ChartBoard::setRuns(const widgets::RunList& runs) {
    strip_->setRuns(runs);
    for (widgets::RunChart* chart : charts_)
        chart->setRuns(runs);
}

void ChartBoard::setTheme(const widgets::Theme& theme) {
    theme_ = theme;
    large_->tabBar()->setVisible(!theme.presentation);
    strip_->setTheme(theme);
    for (widgets::RunChart* chart : charts_)
        chart->setTheme(theme);
    QPalette colours = palette();
    colours.setColor(QPalette::Window, theme.background);
    setPalette(colours);
    setAutoFillBackground(true);
    updateGeometry();
    if (!moved_)
        resetSplitters();
}

void ChartBoard::setXAxis(widgets::XAxis axis) {
    if (axis == xAxis_)
        return;
    xAxis_ = axis;
    for (widgets::RunChart* chart : charts_)
        chart->setXAxis(axis);
    answer();
    Q_EMIT xAxisChanged(axis);
}

/// A chart that shows another part or other runs than it should goes first, each in its turn.
bool ChartBoard::refreshOutdated() {
    for (std::size_t i = 0; i < charts_.size(); ++i) {
        widgets::RunChart* chart = charts_[nextOutdated_];
        nextOutdated_ = (nextOutdated_ + 1) % charts_.size();
        if (chart->isOutdated() && chart->refresh())
            return true;
    }
    return false;
}

/// What a person has just asked for waits for no turn: the large chart is drawn at once, the others
/// as soon as the event loop comes round.
void ChartBoard::answer() {
    largeChart()->refresh();
    QTimer::singleShot(0, this, &ChartBoard::catchUp);
}

void ChartBoard::catchUp() {
    if (isVisible() && !window()->isMinimized() && refreshOutdated())
        QTimer::singleShot(0, this, &ChartBoard::catchUp);
}

void ChartBoard::refreshNext() {
    if (!isVisible() || window()->isMinimized())
        return;
    if (refreshOutdated())
        return;
    if (next_ == 0)
        strip_->refresh();
    (next_ % 2 == 0 ? largeChart() : charts_[kTurns[next_]])->refresh();
    next_ = (next_ + 1) % kTurns.size();
}

void ChartBoard::refreshAll() {
    strip_->refresh();
    for (widgets::RunChart* chart : charts_)
        chart->refresh();
}

void ChartBoard::saveView(QSettings& settings) const {
    settings.setValue(QStringLiteral("charts/smoothing"), smoothing_);
    settings.setValue(QStringLiteral("charts/linked"), xLinked_);
    for (const widgets::RunChart* chart : charts_)
        for (const widgets::PlotWidget* plot : chart->plots())
            if (const std::optional<bool> chosen = plot->chosenLogarithmicY())
                settings.setValue(scaleKey(*plot), *chosen);
}

void ChartBoard::restoreView(const QSettings& settings) {
    const double steps = settings.value(QStringLiteral("charts/smoothing")).toDouble();
    setSmoothing(steps >= 1.0 && steps <= 1e6 ? steps : kFirstSmoothing);
    setXLinked(settings.value(QStringLiteral("charts/linked"), true).toBool());
    for (const widgets::RunChart* chart : charts_)
        for (widgets::PlotWidget* plot : chart->plots())
            if (settings.contains(scaleKey(*plot)))
                plot->setLogarithmicY(settings.value(scaleKey(*plot)).toBool());
}

QByteArray ChartBoard::saveSplitters() const {
    if (!moved_)
        return {};
    QByteArray state;
    QDataStream stream(&state, QIODevice::WriteOnly);
    stream << columns_->saveState() << stack_->saveState();
    return state;
}

void ChartBoard::restoreSplitters(const QByteArray& state) {
    QByteArray columns;
    QByteArray stack;
    QDataStream stream(state);
    stream >> columns >> stack;
    if (stream.status() == QDataStream::Ok && columns_->restoreState(columns) &&
        stack_->restoreState(stack))
        moved_ = true;
}

} // namespace gradlab::app
