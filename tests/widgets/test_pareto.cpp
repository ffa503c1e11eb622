// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The Pareto front against its definition, and the chart that draws and names it.
#include "tests/support/qt_warnings.h"
#include "tests/widgets/chart_pictures.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/pareto_chart.h"

#include <limits>
#include <random>

using namespace gradlab::tests;

class TestPareto : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QtWarnings::install(); }
    void cleanup();
    void frontIsWhatNothingBeats();
    void notFinitePointsAreLeftOut();
    void chartNamesTheFront();
    void hiddenRunsAreNotOnIt();
    void chartHasNoFaults_data();
    void chartHasNoFaults();
    void itsAxesAreItsOwn();
};

void TestPareto::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestPareto::frontIsWhatNothingBeats() {
    std::mt19937_64 random(3);
    for (int round = 0; round < 300; ++round) {
        std::vector<ParetoPoint> points;
        for (std::size_t i = 0; i < random() % 30; ++i)
            points.push_back(
                {static_cast<double>(random() % 12), static_cast<double>(random() % 12), i});
        const auto isBeaten = [&](const ParetoPoint& point) {
            return std::any_of(points.begin(), points.end(), [&](const ParetoPoint& other) {
                return other.cost <= point.cost && other.value <= point.value &&
                       (other.cost < point.cost || other.value < point.value);
            });
        };
        const std::vector<ParetoPoint> front = paretoFront(points);
        for (std::size_t i = 0; i < front.size(); ++i) {
            QVERIFY2(!isBeaten(front[i]), QByteArray::number(round));
            if (i > 0)
                QVERIFY(front[i].cost > front[i - 1].cost && front[i].value < front[i - 1].value);
        }
        for (const ParetoPoint& point : points)
            if (!isBeaten(point))
                QVERIFY(std::any_of(front.begin(), front.end(), [&](const ParetoPoint& on) {
                    return on.cost == point.cost && on.value == point.value;
                }));
    }
}

void TestPareto::notFinitePointsAreLeftOut() {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    const auto front = paretoFront({{1.0, kNaN, 0}, {kNaN, 1.0, 0}, {2.0, 3.0, 1}});
    QCOMPARE(front.size(), std::size_t{1});
    QCOMPARE(front.front().run, std::size_t{1});
}

void TestPareto::chartNamesTheFront() {
    SyntheticRace race(3);
    race.advance(600);
    ParetoChart chart;
    chart.resize(760, 600);
    chart.setRuns(race.runs());
    chart.show();
    // By bytes: random-k's first validation is the cheapest, then top-k, at last dense.
    const QString byBytes = chart.plots()[0]->layoutNow().title.text;
    QVERIFY2(byBytes.contains(QStringLiteral("random-k 1 %, then top-k 1 %, then dense")),
             byBytes.toUtf8());
    QVERIFY(chart.plots()[0]->accessibleDescription().contains(QStringLiteral("top-k 1 %")));
    for (PlotWidget* plot : chart.plots())
        for (int run = 0; run < 3; ++run)
            QVERIFY(hasColour(plot->grab().toImage(), Theme::make(false, false).runColour(run)));
    const HoverText hover = chart.plots()[0]->hoverTextAt(1e6);
    QCOMPARE(hover.lines.size(), std::size_t{3});
    QVERIFY(hover.lines[1].text.contains(QStringLiteral("step")));
}

void TestPareto::hiddenRunsAreNotOnIt() {
    SyntheticRace race(3);
    race.advance(600);
    RunList runs = race.runs();
    runs[1].visible = false;
    ParetoChart chart;
    chart.resize(760, 600);
    chart.setRuns(runs);
    chart.show();
    QVERIFY(!chart.plots()[0]->layoutNow().title.text.contains(QStringLiteral("top-k")));
}

void TestPareto::chartHasNoFaults_data() {
    QTest::addColumn<int>("runs");
    QTest::addColumn<int>("steps");
    QTest::addColumn<QSize>("size");
    for (const int runs : {1, 3, 8})
        for (const int steps : {20, 60, 3000})
            for (const QSize& size : {QSize(600, 420), QSize(1100, 800)})
                QTest::addRow("%d runs, %d steps, %d wide", runs, steps, size.width())
                    << runs << steps << size;
}

void TestPareto::chartHasNoFaults() {
    QFETCH(int, runs);
    QFETCH(int, steps);
    QFETCH(QSize, size);
    SyntheticRace race(runs);
    race.advance(static_cast<std::uint64_t>(steps));
    ParetoChart chart;
    chart.setTheme(Theme::make(runs == 3, false));
    chart.resize(size);
    chart.setRuns(race.runs());
    chart.show();
    for (PlotWidget* plot : chart.plots()) {
        const QByteArray fault = faults(textOf(plot->layoutNow()), plot->size());
        QVERIFY2(fault.isEmpty(), fault);
    }
    keepPicture(chart, QStringLiteral("pareto-%1-%2-%3").arg(runs).arg(steps).arg(size.width()));
}

void TestPareto::itsAxesAreItsOwn() {
    SyntheticRace race(3);
    race.advance(600);
    ParetoChart chart;
    chart.resize(760, 600);
    chart.setRuns(race.runs());
    chart.show();
    chart.refresh();
    chart.setXAxis(XAxis::Tokens);
    chart.setXWindow(AxisRange{10.0, 20.0});
    QVERIFY(!chart.plots()[0]->window().isZoomed());
    QTest::keyClick(chart.plots()[0], Qt::Key_Plus);
    QVERIFY(chart.plots()[0]->window().x && !chart.plots()[1]->window().x);
}

QTEST_MAIN(TestPareto)
#include "test_pareto.moc"
