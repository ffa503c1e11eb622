// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/pareto_chart.h"

#include <QLocale>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradlab::widgets {

namespace {

/// Names of the runs on the front, each once, from the cheapest on.
QStringList namesOn(const std::vector<ParetoPoint>& front, const RunList& runs) {
    QStringList names;
    for (const ParetoPoint& point : front)
        if (!names.contains(runs[point.run].name))
            names << runs[point.run].name;
    return names;
}

/// A staircase: for each cost the least perplexity that it buys, up to `end`.
std::vector<PlotPoint> stairsOf(const std::vector<ParetoPoint>& front, double end) {
    std::vector<PlotPoint> stairs;
    for (const ParetoPoint& point : front) {
        if (!stairs.empty())
            stairs.push_back({point.cost, stairs.back().y});
        stairs.push_back({point.cost, point.value});
    }
    if (!stairs.empty() && end > stairs.back().x)
        stairs.push_back({end, stairs.back().y});
    return stairs;
}

} // namespace

ParetoChart::ParetoChart(QWidget* parent)
    : RunChart(parent), byBytes_(new PlotWidget(this)), byTime_(new PlotWidget(this)) {
    setObjectName(QStringLiteral("pareto-chart"));
    setAccessibleName(tr("Pareto front"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    column->addWidget(byBytes_);
    column->addWidget(byTime_);
    setUp(byBytes_, QStringLiteral("pareto-by-bytes"), XAxis::Bytes);
    setUp(byTime_, QStringLiteral("pareto-by-time"), XAxis::SimulatedTime);
}

void ParetoChart::setUp(PlotWidget* plot, const QString& name, XAxis axis) {
    addPlot(plot, name, axis);
    plot->setYAxis(ValueKind::Number, true);
    plot->setHoverProvider([this, plot](double x) {
        return hoverText(*plot, x, Metric::ValidPerplexity,
                         [this, plot, x](const RunInfo& run) { return hoverLine(*plot, run, x); });
    });
}

QString ParetoChart::hoverLine(const PlotWidget& plot, const RunInfo& run, double x) const {
    const auto valid = run.series->nearest(Metric::ValidPerplexity, axisOf(plot), x);
    if (!valid)
        return tr("not validated yet");
    const auto at = [&](XAxis axis, ValueKind kind) {
        return QString::fromStdString(
            formatValue(valid->x[static_cast<std::size_t>(axis)], kind, 3));
    };
    return tr("%1 at step %2, after %3 and %4")
        .arg(QString::number(valid->value, 'g', QLocale::FloatingPointShortest))
        .arg(valid->x[0])
        .arg(at(XAxis::Bytes, ValueKind::Bytes), at(XAxis::SimulatedTime, ValueKind::Seconds));
}

std::vector<ParetoPoint> ParetoChart::front(const RunList& runs, XAxis axis) const {
    SeriesStore::Query query;
    query.axis = axis;
    // A staircase has two points a step and is one line.
    query.maxPoints = std::max<std::size_t>(8, (PlotWidget::kMaxPoints / 2 - 1) /
                                                   std::max<std::size_t>(1, runs.size()));
    std::vector<ParetoPoint> points;
    for (std::size_t run = 0; run < runs.size(); ++run)
        for (const PlotPoint& point :
             runs[run].series->query(Metric::ValidPerplexity, query).points)
            points.push_back({point.x, point.y, run});
    return paretoFront(std::move(points));
}

void ParetoChart::draw(PlotWidget& plot, const RunList& runs, const QString& title) {
    const XAxis axis = axisOf(plot);
    const std::vector<ParetoPoint> best = front(runs, axis);
    double end = 0.0;
    std::vector<PlotLine> lines;
    for (const RunInfo& run : runs) {
        end = std::max(end, run.series->now()[static_cast<std::size_t>(axis)]);
        lines.push_back(line(plot, run, Metric::ValidPerplexity, false, run.name));
        lines.back().markers = true;
    }
    PlotLine stairs;
    stairs.colour = theme().mark;
    stairs.points = stairsOf(best, end);
    lines.insert(lines.begin(), std::move(stairs));
    // The runs' own colours where they are on it.
    for (std::size_t run = 0; run < runs.size(); ++run) {
        PlotLine own;
        own.colour = theme().runColour(runs[run].colour);
        own.markers = true;
        for (const ParetoPoint& point : best)
            if (point.run == run)
                own.points.push_back({point.cost, point.value});
            else if (!own.points.empty() && !std::isnan(own.points.back().y))
                own.points.push_back({point.cost, std::numeric_limits<double>::quiet_NaN()});
        lines.push_back(std::move(own));
    }
    const QStringList names = namesOn(best, runs);
    plot.setTitle(names.isEmpty() ? title
                                  : tr("%1 – front: %2").arg(title, names.join(tr(", then "))));
    applyXAxis(plot);
    if (!best.empty()) // nothing is validated before
        plot.setXExtent(AxisRange{best.front().cost, std::max(end, best.front().cost)});
    plot.setData(std::move(lines), {}, changeMarks(plot));
    plot.setSummary(names.isEmpty() ? tr("No validation yet")
                                    : tr("Least perplexity for its cost, from the cheapest on: %1")
                                          .arg(names.join(QStringLiteral(", "))));
}

void ParetoChart::redraw() {
    const RunList runs = shownRuns();
    draw(*byBytes_, runs, tr("Validation perplexity by bytes"));
    draw(*byTime_, runs, tr("By simulated time"));
}

QStringList ParetoChart::logFields() const {
    return {QStringLiteral("loss"), QStringLiteral("bytes_message"), QStringLiteral("bytes_dense"),
            QStringLiteral("split"), QStringLiteral("perplexity")};
}

std::unique_ptr<RunChart> ParetoChart::fresh() const {
    return std::make_unique<ParetoChart>();
}

void ParetoChart::applyTheme() {
    byBytes_->setTheme(theme());
    byTime_->setTheme(theme());
}

} // namespace gradlab::widgets
