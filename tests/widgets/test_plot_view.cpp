// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic of zooming and panning: what is under the cursor stays there, the view stays in
// the data, log axes move by factors.
#include "widgets/plot_view.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace gradlab::widgets;

namespace {

bool isNear(double a, double b) {
    return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

double shareOf(double value, AxisRange range, bool log) {
    return log ? std::log(value / range.from) / std::log(range.to / range.from)
               : (value - range.from) / (range.to - range.from);
}

} // namespace

class TestPlotView : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void zoomKeepsWhatIsUnderTheCursor();
    void panMovesByAShare();
    void confinedStaysInside();
    void wholeAxisIsNoWindow();
    void aLinearWindowFitsALogAxis();
};

void TestPlotView::zoomKeepsWhatIsUnderTheCursor() {
    std::mt19937_64 random(11);
    std::uniform_real_distribution<double> draw(0.01, 1.0);
    for (int round = 0; round < 500; ++round)
        for (const bool log : {false, true}) {
            const AxisRange range{draw(random), 1.0 + 100.0 * draw(random)};
            const double at = range.from + draw(random) * (range.to - range.from);
            const double factor = 0.1 + 2.0 * draw(random);
            const AxisRange closer = zoomed(range, at, factor, log);
            QVERIFY2(isNear(shareOf(at, closer, log), shareOf(at, range, log)),
                     QByteArray::number(round));
            const double width = log ? std::log(closer.to / closer.from) : closer.to - closer.from;
            const double before = log ? std::log(range.to / range.from) : range.to - range.from;
            QVERIFY(isNear(width, factor * before));
        }
}

void TestPlotView::panMovesByAShare() {
    const AxisRange linear = panned({10.0, 20.0}, 0.25, false);
    QVERIFY(isNear(linear.from, 12.5) && isNear(linear.to, 22.5));
    const AxisRange log = panned({10.0, 1000.0}, -0.5, true);
    QVERIFY(isNear(log.from, 1.0) && isNear(log.to, 100.0));
}

void TestPlotView::confinedStaysInside() {
    const AxisRange full{0.0, 600.0};
    const auto right = confined({500.0, 700.0}, full, false);
    QVERIFY(right && isNear(right->from, 400.0) && isNear(right->to, 600.0));
    const auto left = confined({-50.0, 20.0}, full, false);
    QVERIFY(left && isNear(left->from, 0.0) && isNear(left->to, 70.0));
    const auto closest = confined({300.0, 300.0}, full, false);
    QVERIFY(closest && closest->from < 300.0 && closest->to > 300.0);
    QVERIFY(isNear(closest->to - closest->from, 600.0 * 1e-5));
    const auto log = confined({5.0, 50.0}, {10.0, 1e6}, true);
    QVERIFY(log && isNear(log->from, 10.0));
}

void TestPlotView::wholeAxisIsNoWindow() {
    QVERIFY(!confined({0.0, 600.0}, {0.0, 600.0}, false));
    QVERIFY(!confined({-5.0, 900.0}, {0.0, 600.0}, false));
    QVERIFY(!confined({0.001, 1e9}, {1.0, 1000.0}, true));
    QVERIFY(confined({1.0, 600.0}, {0.0, 600.0}, false).has_value());
}

void TestPlotView::aLinearWindowFitsALogAxis() {
    const auto window = confined({0.0, 100.0}, {10.0, 1000.0}, true);
    QVERIFY(window && isNear(window->from, 10.0) && isNear(window->to, 100.0));
}

QTEST_GUILESS_MAIN(TestPlotView)
#include "test_plot_view.moc"
