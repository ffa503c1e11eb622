// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_chart.h"

#include <algorithm>
#include <cmath>

namespace gradlab::widgets {

namespace {

constexpr std::size_t kPointsPerLine = 600;
constexpr std::size_t kPointsOfMany = 300;
constexpr std::size_t kManyRuns = 4;
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
        break;
    }
    return ValueKind::Number;
}

} // namespace

RunChart::RunChart(QWidget* parent) : QWidget(parent) {}

void RunChart::setRuns(const RunList& runs) {
    runs_ = runs;
    dirty_ = true;
}

void RunChart::setXAxis(XAxis axis) {
    xAxis_ = axis;
    dirty_ = true;
}

void RunChart::setTheme(const Theme& theme) {
    theme_ = theme;
    applyTheme();
    dirty_ = true;
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
    dirty_ = false;
    redraw();
}

QImage RunChart::renderImage(const QSize& size, double scale) {
    drawNow();
    const QSize before = this->size();
    resize(size);
    QImage image((QSizeF(size) * scale).toSize(), QImage::Format_RGB32);
    image.setDevicePixelRatio(scale);
    image.fill(theme_.background);
    render(&image, QPoint(), QRegion(), QWidget::DrawChildren);
    resize(before);
    return image;
}

void RunChart::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (dirty_ || revision() != drawnRevision_)
        drawNow();
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

PlotLine RunChart::line(const RunInfo& run, Metric metric, bool thick, const QString& label) const {
    SeriesStore::Query query;
    query.axis = xAxis_;
    query.maxPoints = pointsPerLine();
    SeriesStore::Result result = run.series->query(metric, query);
    return {.label = label,
            .colour = theme_.runColour(run.colour),
            .thick = thick,
            .markers = false,
            .points = std::move(result.points),
            .nonFinite = std::move(result.marks)};
}

std::vector<EventMark> RunChart::changeMarks() const {
    std::vector<EventMark> marks;
    for (const RunInfo& run : shownRuns())
        for (const ChangeMark& change : run.series->changes()) {
            const double x = change.x[static_cast<std::size_t>(xAxis_)];
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
    const auto axis = static_cast<std::size_t>(xAxis_);
    double least = 0.0;
    double most = 0.0;
    for (const RunInfo& run : shownRuns()) {
        const double end = run.series->now()[axis];
        least = least == 0.0 ? end : std::min(least, end);
        most = std::max(most, end);
    }
    const bool apart = least > 0.0 && most / least > kLogSpread;
    const bool logarithmic = apart && (xAxis_ == XAxis::Bytes || xAxis_ == XAxis::SimulatedTime);
    plot.setXAxis(xAxisTitle(xAxis_), kindOf(xAxis_), logarithmic);
}

HoverText RunChart::hoverText(double x, Metric dot,
                              const std::function<QString(const RunInfo&)>& text) const {
    HoverText hover;
    const auto axis = static_cast<std::size_t>(xAxis_);
    for (const RunInfo& run : shownRuns()) {
        const auto sample = run.series->nearest(dot, xAxis_, x);
        if (!sample || x > run.series->now()[axis] * 1.02)
            continue;
        hover.lines.push_back({QStringLiteral("%1: %2").arg(run.name, text(run)),
                               theme_.runColour(run.colour), sample->value});
    }
    hover.title = QStringLiteral("%1 %2").arg(
        xAxisTitle(xAxis_),
        QString::fromStdString(formatValue(xAxis_ == XAxis::Step ? std::round(x) : x,
                                           kindOf(xAxis_), xAxis_ == XAxis::Step ? 9 : 4)));
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
    case XAxis::Step:
        break;
    }
    return RunChart::tr("step");
}

XAxis nextXAxis(XAxis axis) noexcept {
    return static_cast<XAxis>((static_cast<std::size_t>(axis) + 1) % kXAxisCount);
}

} // namespace gradlab::widgets
