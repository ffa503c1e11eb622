// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the window's charts take to draw one more step of long runs, each by itself as the
// window's timer does it: taking points from the stores, layout and painting.
//   chart_redraw [RUNS [STEPS [ROUNDS]]]     8 runs of 1 000 000 steps, 200 rounds
// Prints a line a chart (milliseconds; the median, the 99th of 100 and the longest) and what the
// runs' stores keep in memory. Bounds: 16 ms for the 99th, 25 ms for the longest; ends with the
// number of charts beyond.
#include "engine/benchmark/machine_limits.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/perplexity_chart.h"
#include "widgets/sparsity_chart.h"
#include "widgets/time_chart.h"
#include "widgets/traffic_chart.h"

#include <QApplication>

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

int measure(NamedChart& named, tests::SyntheticRace& race, int rounds) {
    widgets::RunChart& chart = *named.chart;
    chart.resize(960, 540);
    chart.setRuns(race.runs());
    chart.setXAxis(widgets::XAxis::Step);
    chart.show();
    QApplication::processEvents();
    redraw(chart, race); // fonts
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round)
        times.push_back(redraw(chart, race));
    chart.hide();
    std::sort(times.begin(), times.end());
    const double p99 = times[times.size() * 99 / 100];
    const bool holds = p99 <= kBoundMs && times.back() <= kLongestMs;
    std::printf("%-12s %6.2f %6.2f %6.2f  %s\n", named.name, times[times.size() / 2], p99,
                times.back(), holds ? "ok" : "BROKEN");
    return holds ? 0 : 1;
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
    std::printf("%-12s %6s %6s %6s  milliseconds\n", "chart", "median", "99 %", "most");
    int beyond = 0;
    for (NamedChart& named : allCharts())
        beyond += measure(named, race, rounds);
    return beyond;
}
