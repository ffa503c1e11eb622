// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window's charts take to draw one more step of long runs, each by itself as the
// window's timer does it: taking points from the stores, layout and painting; and how long after a
// turn of the wheel or a move of a dragging mouse the chart shows the other part.
//   chart_redraw [RUNS [STEPS [ROUNDS]]]     8 runs of 1 000 000 steps, 200 rounds
// Prints a line a chart (milliseconds; the median, the 99th of 100 and the longest) and what the
// runs' stores keep in memory. Bounds: 16 ms for the 99th, 25 ms for the longest; 50 ms for the
// 99th of zooming and panning. Ends with the number of lines beyond.
#include "engine/benchmark/machine_limits.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/pareto_chart.h"
#include "widgets/perplexity_chart.h"
#include "widgets/sparsity_chart.h"
#include "widgets/time_chart.h"
#include "widgets/traffic_chart.h"

#include <QApplication>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

using namespace gradlab;

namespace {

constexpr double kBoundMs = 16.0;
constexpr double kLongestMs = 25.0;
constexpr double kHandMs = 50.0;

struct NamedChart {
    const char* name;
    std::unique_ptr<widgets::RunChart> chart;
};

std::vector<NamedChart> allCharts() {
    std::vector<NamedChart> charts;
    charts.push_back({"perplexity", std::make_unique<widgets::PerplexityChart>()});
    charts.push_back({"traffic", std::make_unique<widgets::TrafficChart>()});
    charts.push_back({"time", std::make_unique<widgets::TimeChart>()});
    charts.push_back({"sparsity", std::make_unique<widgets::SparsityChart>()});
    charts.push_back({"pareto", std::make_unique<widgets::ParetoChart>()});
    return charts;
}

/// Milliseconds of one redraw after one more step.
double redraw(widgets::RunChart& chart, tests::SyntheticRace& race) {
    race.advance(1);
    const auto begin = std::chrono::steady_clock::now();
    chart.refresh();
    chart.repaint();
    QApplication::sendPostedEvents();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

int report(const char* name, const char* what, std::vector<double> times, double bound,
           double longest) {
    std::sort(times.begin(), times.end());
    const double p99 = times[times.size() * 99 / 100];
    const bool holds = p99 <= bound && times.back() <= longest;
    std::printf("%-12s %-7s %6.2f %6.2f %6.2f  %s\n", name, what, times[times.size() / 2], p99,
                times.back(), holds ? "ok" : "BROKEN");
    return holds ? 0 : 1;
}

/// Milliseconds until what the event asks for is on the screen.
double handle(widgets::PlotWidget& plot, QEvent& event) {
    const auto begin = std::chrono::steady_clock::now();
    QApplication::sendEvent(&plot, &event);
    plot.repaint();
    QApplication::sendPostedEvents();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

/// Notches in and out again, at places all over the plot.
std::vector<double> zoom(widgets::PlotWidget& plot, int rounds) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        const QRectF area = plot.plotArea();
        const QPointF at(area.left() + area.width() * ((round * 7) % 10 + 0.5) / 10.0,
                         area.center().y());
        QWheelEvent event(at, plot.mapToGlobal(at), QPoint(),
                          QPoint(0, round % 40 < 25 ? 120 : -120), Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        times.push_back(handle(plot, event));
    }
    return times;
}

/// A tenth of the axis, dragged to and fro.
std::vector<double> pan(widgets::PlotWidget& plot, int rounds) {
    const widgets::AxisRange all = plot.scales().full.x;
    const double tenth = (all.to - all.from) / 10.0;
    plot.changeWindow({widgets::AxisRange{all.from + 4 * tenth, all.from + 5 * tenth}, {}});
    (void)plot.layoutNow();
    const QPointF middle = plot.plotArea().center();
    const auto mouse = [&](QEvent::Type type, const QPointF& at) {
        return QMouseEvent(type, at, plot.mapToGlobal(at), Qt::MiddleButton, Qt::MiddleButton, {});
    };
    QMouseEvent press = mouse(QEvent::MouseButtonPress, middle);
    QApplication::sendEvent(&plot, &press);
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        const double way = 20.0 + 200.0 * (round % 2 == 0 ? round % 50 : -(round % 50)) / 50.0;
        QMouseEvent move = mouse(QEvent::MouseMove, middle + QPointF(way, 0.0));
        times.push_back(handle(plot, move));
    }
    QMouseEvent release = mouse(QEvent::MouseButtonRelease, middle);
    QApplication::sendEvent(&plot, &release);
    return times;
}

int measure(NamedChart& named, tests::SyntheticRace& race, int rounds) {
    widgets::RunChart& chart = *named.chart;
    chart.resize(960, 540);
    chart.setSmoothing(8.0);
    chart.setRuns(race.runs());
    chart.setXAxis(widgets::XAxis::Step);
    chart.show();
    QApplication::processEvents();
    redraw(chart, race); // fonts
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round)
        times.push_back(redraw(chart, race));
    int beyond = report(named.name, "redraw", times, kBoundMs, kLongestMs);
    if (!chart.plots().empty()) {
        widgets::PlotWidget& plot = *chart.plots().front();
        beyond += report(named.name, "zoom", zoom(plot, rounds), kHandMs, 2 * kHandMs);
        plot.showAll();
        beyond += report(named.name, "pan", pan(plot, rounds), kHandMs, 2 * kHandMs);
    }
    chart.hide();
    return beyond;
}

} // namespace

int main(int argc, char** argv) {
    const QApplication application(argc, argv);
    const auto argument = [&](int index, int otherwise) {
        return argc > index ? std::atoi(argv[index]) : otherwise;
    };
    const int runs = argument(1, 8);
    const int steps = argument(2, 1'000'000);
    const int rounds = argument(3, 200);
    const double before = engine::peakResidentMib();
    tests::SyntheticRace race(runs);
    race.advance(static_cast<std::uint64_t>(steps));
    std::printf("%d runs of %d steps: %.1f MiB kept\n", runs, steps,
                engine::peakResidentMib() - before);
    std::printf("%-12s %-7s %6s %6s %6s  milliseconds\n", "chart", "", "median", "99 %", "most");
    int beyond = 0;
    for (NamedChart& named : allCharts())
        beyond += measure(named, race, rounds);
    return beyond;
}
