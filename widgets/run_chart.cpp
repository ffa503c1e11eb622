// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_chart.h"

#include <QContextMenuEvent>
#include <QCoreApplication>
#include <QLayout>
#include <QPainter>
#include <QResizeEvent>

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr std::size_t kPointsPerLine = 600;
constexpr std::size_t kPointsOfMany = 300;
constexpr std::size_t kManyRuns = 4;
constexpr int kRawAlpha = 70;
constexpr int kRoomForTwo = 32;    ///< in text heights
constexpr double kLogSpread = 8.0; ///< ratio of the runs' ends from which on x is logarithmic

ValueKind kindOf(XAxis axis) {
    switch (axis) {
    case XAxis::Bytes:
        return ValueKind::Bytes;
    case XAxis::SimulatedTime:
    case XAxis::WallTime:
        return ValueKind::Seconds;
    case XAxis::Step:
    case XAxis::Epoch:
    case XAxis::Tokens:
        break;
    }
    return ValueKind::Number;
}

} // namespace

RunChart::RunChart(QWidget* parent) : QWidget(parent) {}

void RunChart::addPlot(PlotWidget* plot, const QString& name, std::optional<XAxis> own) {
    plot->setObjectName(name);
    plots_.push_back(plot);
    ownAxes_.push_back(own);
    connect(plot, &PlotWidget::windowChanged, this, [this, plot] { followWindow(*plot); });
    connect(plot, &PlotWidget::activated, this, &RunChart::activated);
}

void RunChart::setRuns(const RunList& runs) {
    runs_ = runs;
    dirty_ = true;
}

void RunChart::setXAxis(XAxis axis) {
    if (axis != xAxis_)
        setXWindow(std::nullopt);
    xAxis_ = axis;
    dirty_ = true;
}

void RunChart::setXWindow(const std::optional<AxisRange>& window) {
    if (window == xWindow_)
        return;
    xWindow_ = window;
    for (std::size_t i = 0; i < plots_.size(); ++i)
        if (!ownAxes_[i]) {
            dirty_ = true;
            plots_[i]->setWindow({window, plots_[i]->window().y});
        }
}

void RunChart::setSmoothing(double steps) {
    dirty_ = dirty_ || steps != smoothing_;
    smoothing_ = steps;
}

void RunChart::setSeedsTogether(bool together) {
    dirty_ = dirty_ || together != seedsTogether_;
    seedsTogether_ = together;
}

void RunChart::setTheme(const Theme& theme) {
    theme_ = theme;
    applyTheme();
    dirty_ = true;
}

XAxis RunChart::axisOf(const PlotWidget& plot) const {
    const auto at = std::find(plots_.begin(), plots_.end(), &plot) - plots_.begin();
    return ownAxes_.at(static_cast<std::size_t>(at)).value_or(xAxis_);
}

/// Its own plots at once, with the points that the stores have for that part.
void RunChart::followWindow(const PlotWidget& plot) {
    dirty_ = true;
    const auto at = std::find(plots_.begin(), plots_.end(), &plot) - plots_.begin();
    const bool moved = !ownAxes_[static_cast<std::size_t>(at)] && plot.window().x != xWindow_;
    if (moved)
        setXWindow(plot.window().x);
    if (isVisible())
        drawNow();
    if (moved)
        Q_EMIT xWindowChanged(xWindow_);
}

std::uint64_t RunChart::revision() const {
    std::uint64_t sum = 0;
    for (const RunInfo& run : runs_)
        sum += run.series->revision();
    return sum;
}

bool RunChart::refresh() {
    const bool current = !dirty_ && revision() == drawnRevision_;
    if (current || !isVisible() || window()->isMinimized())
        return false;
    drawNow();
    return true;
}

void RunChart::drawNow() {
    drawnRevision_ = revision();
    if (dirty_)
        for (PlotWidget* plot : plots_)
            plot->refit();
    dirty_ = false;
    redraw();
}

std::unique_ptr<RunChart> RunChart::twin(const QSize& size, const Theme& theme) const {
    std::unique_ptr<RunChart> other = fresh();
    other->setTheme(theme);
    other->setXAxis(xAxis_);
    other->setRuns(runs_);
    other->setSmoothing(smoothing_);
    other->setSeedsTogether(seedsTogether_);
    other->setXWindow(xWindow_);
    for (std::size_t i = 0; i < plots_.size(); ++i) {
        PlotWindow window = plots_[i]->window();
        if (window.isZoomed()) // also where y was fitted to older data
            window.y = plots_[i]->scales().shown.y;
        other->plots_[i]->setLogarithmicY(plots_[i]->chosenLogarithmicY());
        other->plots_[i]->setWindow(window);
    }
    other->resize(size);
    QResizeEvent resized(size, QSize()); // a widget that is not shown gets none
    QCoreApplication::sendEvent(other.get(), &resized);
    other->layout()->activate();
    other->drawNow();
    return other;
}

void RunChart::paint(QPainter& painter) {
    painter.fillRect(rect(), theme_.background);
    paintParts(painter);
}

void RunChart::paintParts(QPainter& painter) {
    for (PlotWidget* plot : plots_) {
        if (plot->isHidden())
            continue;
        painter.save();
        painter.translate(plot->pos());
        plot->paintTo(painter, plot->size());
        painter.restore();
    }
}

void RunChart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (dirty_ || revision() != drawnRevision_)
        drawNow();
}

void RunChart::contextMenuEvent(QContextMenuEvent* event) {
    Q_EMIT activated();
    Q_EMIT menuRequested(event->globalPos());
}

RunList RunChart::shownRuns() const {
    RunList shown;
    std::copy_if(runs_.begin(), runs_.end(), std::back_inserter(shown), [](const RunInfo& run) {
        return run.visible && run.series->last(Metric::TrainPerplexity).has_value();
    });
    return shown;
}

std::size_t RunChart::pointsPerLine() const {
    const auto shown = static_cast<std::size_t>(
        std::count_if(runs_.begin(), runs_.end(), [](const RunInfo& run) { return run.visible; }));
    return shown > kManyRuns ? kPointsOfMany : kPointsPerLine;
}

bool RunChart::hasRoomForTwo() const {
    return width() >= kRoomForTwo * theme_.textPixels;
}

SeriesStore::Query RunChart::queryFor(const PlotWidget& plot) const {
    SeriesStore::Query query;
    query.axis = axisOf(plot);
    query.maxPoints = pointsPerLine();
    if (const auto& window = plot.window().x) {
        query.from = window->from;
        query.to = window->to;
    }
    return query;
}

/// Of several seeds together one label is enough.
QString RunChart::labelOf(const RunInfo& run, QString label) const {
    if (!seedsTogether_ || run.seedGroup == 0)
        return label;
    const RunList shown = shownRuns();
    const auto first = std::find_if(shown.begin(), shown.end(), [&](const RunInfo& other) {
        return other.seedGroup == run.seedGroup;
    });
    return first != shown.end() && first->id == run.id ? label.replace(run.name, run.seedGroupName)
                                                       : QString();
}

PlotLine RunChart::line(const PlotWidget& plot, const RunInfo& run, Metric metric, bool thick,
                        const QString& label) const {
    SeriesStore::Result result = run.series->query(metric, queryFor(plot));
    return {.label = labelOf(run, label),
            .colour = theme_.runColour(run.colour),
            .thick = thick,
            .markers = false,
            .points = std::move(result.points),
            .nonFinite = std::move(result.marks)};
}

void RunChart::addNoisyLine(std::vector<PlotLine>& lines, const PlotWidget& plot,
                            const RunInfo& run, Metric metric, bool thick,
                            const QString& label) const {
    PlotLine raw = line(plot, run, metric, thick, label);
    if (smoothing_ <= 1.0) {
        lines.push_back(std::move(raw));
        return;
    }
    PlotLine smooth;
    smooth.label = raw.label;
    smooth.colour = raw.colour;
    smooth.thick = thick;
    smooth.points = run.series->smoothed(metric, queryFor(plot), smoothing_);
    raw.label.clear();
    raw.thick = false;
    raw.colour.setAlpha(kRawAlpha);
    lines.push_back(std::move(raw));
    lines.push_back(std::move(smooth));
}

std::vector<EventMark> RunChart::changeMarks(const PlotWidget& plot) const {
    std::vector<EventMark> marks;
    const auto axis = static_cast<std::size_t>(axisOf(plot));
    for (const RunInfo& run : shownRuns())
        for (const ChangeMark& change : run.series->changes()) {
            const double x = change.x[axis];
            const QString text = QString::fromStdString(change.text);
            const auto same = std::find_if(marks.begin(), marks.end(), [&](const EventMark& mark) {
                return mark.x == x && mark.text == text;
            });
            if (same == marks.end())
                marks.push_back({x, text, theme_.runColour(run.colour)});
            else
                same->colour = theme_.mark;
        }
    return marks;
}

void RunChart::applyXAxis(PlotWidget& plot) const {
    const XAxis axis = axisOf(plot);
    double least = 0.0;
    double most = 0.0;
    for (const RunInfo& run : shownRuns()) {
        const double end = run.series->now()[static_cast<std::size_t>(axis)];
        least = least == 0.0 ? end : std::min(least, end);
        most = std::max(most, end);
    }
    const bool apart = least > 0.0 && most / least > kLogSpread;
    const bool logarithmic = apart && (axis == XAxis::Bytes || axis == XAxis::SimulatedTime);
    plot.setXAxis(xAxisTitle(axis), kindOf(axis), logarithmic);
    plot.setXExtent(xExtent(axis));
}

/// Of all steps of the shown runs.
std::optional<AxisRange> RunChart::xExtent(XAxis xAxis) const {
    const auto axis = static_cast<std::size_t>(xAxis);
    std::optional<AxisRange> extent;
    for (const RunInfo& run : shownRuns()) {
        const AxisRange own{run.series->begin()[axis], run.series->now()[axis]};
        extent = extent ? AxisRange{std::min(extent->from, own.from), std::max(extent->to, own.to)}
                        : own;
    }
    return extent;
}

HoverText RunChart::hoverText(const PlotWidget& plot, double x, Metric dot,
                              const std::function<QString(const RunInfo&)>& text) const {
    HoverText hover;
    const XAxis axis = axisOf(plot);
    for (const RunInfo& run : shownRuns()) {
        const auto sample = run.series->nearest(dot, axis, x);
        if (!sample || x > run.series->now()[static_cast<std::size_t>(axis)] * 1.02)
            continue;
        if (const QString line = text(run); !line.isEmpty())
            hover.lines.push_back({QStringLiteral("%1: %2").arg(run.name, line),
                                   theme_.runColour(run.colour), sample->value});
    }
    // Steps and tokens are counted: in full.
    const QString place =
        axis == XAxis::Step || axis == XAxis::Tokens
            ? QString::number(std::round(x), 'f', 0)
            : QString::fromStdString(formatValue(x, kindOf(axis), plot.window().x ? 7 : 4));
    hover.title = QStringLiteral("%1 %2").arg(xAxisTitle(axis), place);
    return hover;
}

QString xAxisTitle(XAxis axis) {
    switch (axis) {
    case XAxis::Bytes:
        return RunChart::tr("bytes sent");
    case XAxis::SimulatedTime:
        return RunChart::tr("simulated time");
    case XAxis::WallTime:
        return RunChart::tr("wall time");
    case XAxis::Epoch:
        return RunChart::tr("epoch");
    case XAxis::Tokens:
        return RunChart::tr("tokens");
    case XAxis::Step:
        break;
    }
    return RunChart::tr("step");
}

XAxis nextXAxis(XAxis axis) noexcept {
    return static_cast<XAxis>((static_cast<std::size_t>(axis) + 1) % kXAxisCount);
}

} // namespace gradlab::widgets
