// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Perplexity has 60 % of the width; bytes, time and sparsity share the rest one above the other.
#include "app/chart_board.h"

#include "widgets/perplexity_chart.h"
#include "widgets/run_strip.h"
#include "widgets/sparsity_chart.h"
#include "widgets/time_chart.h"
#include "widgets/traffic_chart.h"

#include <QDataStream>
#include <QIODevice>
#include <QSplitter>
#include <QVBoxLayout>

#include <array>

namespace gradlab::app {
namespace {

// One chart a tick: the large one about ten times a second, the others five times.
constexpr int kRefreshMs = 33;
constexpr std::array<std::size_t, 6> kTurns = {0, 1, 0, 2, 0, 3};

} // namespace

ChartBoard::ChartBoard(QWidget* parent)
    : QWidget(parent), strip_(new widgets::RunStrip(this)),
      columns_(new QSplitter(Qt::Horizontal, this)), stack_(new QSplitter(Qt::Vertical, columns_)) {
    setObjectName(QStringLiteral("chartBoard"));
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Charts"));
    charts_ = {new widgets::PerplexityChart(columns_), new widgets::TrafficChart(stack_),
               new widgets::TimeChart(stack_), new widgets::SparsityChart(stack_)};
    layOut();
    connect(strip_, &widgets::RunStrip::runClicked, this, &ChartBoard::runClicked);
    timer_.setInterval(kRefreshMs);
    connect(&timer_, &QTimer::timeout, this, &ChartBoard::refreshNext);
    timer_.start();
}

void ChartBoard::layOut() {
    columns_->insertWidget(0, charts_[0]);
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

void ChartBoard::resetSplitters() {
    moved_ = false;
    const int width = columns_->width();
    columns_->setSizes({width * 6 / 10, width - width * 6 / 10});
    const int height = stack_->height();
    stack_->setSizes({height * 36 / 100, height * 30 / 100, height * 34 / 100});
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
    Q_EMIT xAxisChanged(axis);
}

void ChartBoard::refreshNext() {
    if (!isVisible() || window()->isMinimized())
        return;
    if (next_ == 0)
        strip_->refresh();
    charts_[kTurns[next_]]->refresh();
    next_ = (next_ + 1) % kTurns.size();
}

void ChartBoard::refreshAll() {
    strip_->refresh();
    for (widgets::RunChart* chart : charts_)
        chart->refresh();
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
