// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One plot alone: labels kept apart, values that no axis can show, gaps, nothing to draw.
#include "tests/support/qt_warnings.h"
#include "tests/widgets/chart_pictures.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace gradlab::tests;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

} // namespace

class TestPlotWidget : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void spreadKeepsLabelsApart();
    void badValuesOnALogAxis();
    void emptyPlotDraws();
    void offScaleValuesAreMarked();
    void gapsAreNotJoined();
    void narrowLogRangeHasLabels();
};

void TestPlotWidget::initTestCase() {
    QtWarnings::install();
}

void TestPlotWidget::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestPlotWidget::spreadKeepsLabelsApart() {
    std::mt19937_64 random(7);
    for (int round = 0; round < 500; ++round) {
        const auto count = static_cast<std::size_t>(1 + random() % 12);
        std::vector<double> wanted;
        for (std::size_t i = 0; i < count; ++i)
            wanted.push_back(static_cast<double>(random() % 300) - 50.0);
        std::sort(wanted.begin(), wanted.end());
        const std::vector<double> centres = spread(wanted, 15.0, 0.0, 190.0);
        QCOMPARE(centres.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
            QVERIFY(centres[i] >= 7.5 - 1e-9 && centres[i] <= 182.5 + 1e-9);
            QVERIFY(i == 0 || centres[i] - centres[i - 1] >= 15.0 - 1e-9);
        }
    }
    QVERIFY((spread({50.0, 120.0}, 15.0, 0.0, 190.0) == std::vector<double>{50.0, 120.0}));
}

void TestPlotWidget::badValuesOnALogAxis() {
    PlotWidget plot;
    plot.resize(400, 300);
    plot.setYAxis(ValueKind::Number, true);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    PlotLine line = lineOf({{0, 5}, {1, 0}, {2, -3}, {3, kNaN}, {4, 20}, {5, kInfinity}, {6, 10}});
    line.nonFinite = {{3, NonFiniteMark::Kind::NotANumber},
                      {5, NonFiniteMark::Kind::PositiveInfinity}};
    plot.setData({line}, {}, {});
    const PlotLayout layout = plot.layoutNow();
    QVERIFY(layout.ranges.y.from > 3.0 && layout.ranges.y.to < 30.0);
    QCOMPARE(layout.borderMarks.size(), std::size_t{4}); // 0, −3, NaN, infinity
    plot.setData({lineOf({{0, kNaN}, {1, -1}, {2, 0}})}, {}, {});
    QVERIFY(std::isfinite(plot.layoutNow().ranges.y.to));
    plot.setXAxis(QStringLiteral("x"), ValueKind::Bytes, true);
    QVERIFY(!plot.grab().isNull());
}

void TestPlotWidget::emptyPlotDraws() {
    for (const bool log : {false, true}) {
        PlotWidget plot;
        plot.setXAxis(QStringLiteral("x"), ValueKind::Seconds, log);
        plot.setYAxis(ValueKind::Bytes, log);
        QVERIFY(!plot.grab().isNull());
        plot.setData({lineOf({})}, {}, {});
        plot.setData({lineOf({{3, 3}})}, {}, {});
        plot.resize(20, 20);
        QVERIFY(!plot.grab().isNull());
    }
}

void TestPlotWidget::offScaleValuesAreMarked() {
    PlotWidget plot;
    plot.resize(400, 300);
    plot.setYAxis(ValueKind::Number, true);
    plot.setYLimits(AxisRange{1.0, 100.0});
    plot.setData({lineOf({{0, 10}, {1, 1e9}, {2, 12}, {3, 50}})}, {}, {});
    const PlotLayout layout = plot.layoutNow();
    QVERIFY(layout.ranges.y.to <= 100.0);
    QCOMPARE(layout.borderMarks.size(), std::size_t{1});
    QVERIFY(layout.borderMarks[0].kind == BorderMark::Kind::Above);
    QVERIFY(std::abs(layout.borderMarks[0].tip.x() - layout.mapX(1)) < 1e-9);
}

void TestPlotWidget::gapsAreNotJoined() {
    PlotWidget plot;
    plot.resize(400, 300);
    PlotLine line = lineOf({{0, 1}, {1, 1}, {2, kNaN}, {3, 1}, {4, 1}});
    plot.setYLimits(AxisRange{0.0, 2.0});
    plot.setData({line}, {}, {});
    const PlotLayout layout = plot.layoutNow();
    const QImage picture = plot.grab().toImage();
    const auto isLine = [&](double x) {
        const QColor at = picture.pixelColor(static_cast<int>(layout.mapX(x)),
                                             static_cast<int>(layout.mapY(1.0)));
        return at == line.colour;
    };
    QVERIFY(isLine(0.5) && isLine(3.5));
    QVERIFY(!isLine(1.5) && !isLine(2.5));
}

void TestPlotWidget::narrowLogRangeHasLabels() {
    PlotWidget plot;
    plot.resize(400, 300);
    plot.setYAxis(ValueKind::Number, true);
    plot.setData({lineOf({{0, 35}, {1, 12}})}, {}, {});
    const PlotLayout layout = plot.layoutNow();
    const auto labelled = std::count_if(layout.yTicks.begin(), layout.yTicks.end(),
                                        [](const PlotTick& tick) { return !tick.text.isEmpty(); });
    QVERIFY(labelled >= 3);
    for (const PlotTick& tick : layout.yTicks)
        QVERIFY(tick.position >= layout.plot.top() - 1 &&
                tick.position <= layout.plot.bottom() + 1);
}

QTEST_MAIN(TestPlotWidget)
#include "test_plot_widget.moc"
