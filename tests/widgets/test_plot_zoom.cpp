// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Zoom and pan with wheel, mouse and keys: what is under the cursor stays, a run that goes on moves
// nothing, detail comes from the stores, ticks stay right, everything leads back.
#include "tests/support/qt_warnings.h"
#include "tests/widgets/chart_pictures.h"
#include "tests/widgets/synthetic_runs.h"

#include <QSignalSpy>
#include <QToolButton>
#include <QWheelEvent>

#include <cmath>

using namespace gradlab::tests;

namespace {

void turnWheel(QWidget& widget, const QPointF& at, int eighths,
               Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QWheelEvent event(at, widget.mapToGlobal(at), QPoint(), QPoint(0, eighths), Qt::NoButton,
                      modifiers, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&widget, &event);
}

void drag(QWidget& widget, const QPointF& from, const QPointF& to,
          Qt::MouseButton button = Qt::LeftButton,
          Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
    QTest::mousePress(&widget, button, modifiers, from.toPoint());
    for (const double share : {0.3, 0.7, 1.0}) {
        const QPointF at = from + share * (to - from);
        QMouseEvent move(QEvent::MouseMove, at, widget.mapToGlobal(at), Qt::NoButton, button,
                         modifiers);
        QCoreApplication::sendEvent(&widget, &move);
    }
    QTest::mouseRelease(&widget, button, modifiers, to.toPoint());
}

std::size_t labelsOf(const std::vector<PlotTick>& ticks) {
    return static_cast<std::size_t>(std::count_if(
        ticks.begin(), ticks.end(), [](const PlotTick& tick) { return !tick.text.isEmpty(); }));
}

} // namespace

class TestPlotZoom : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QtWarnings::install(); }
    void init();
    void cleanup();
    void wheelZoomsXAtTheCursor();
    void shiftWheelZoomsY();
    void dragZoomsToItsRectangle();
    void aFlatDragZoomsOneAxis();
    void shiftDragAndMiddleButtonPan();
    void doubleClickAndHomeShowEverything();
    void keysZoomAndPan();
    void arrowsReadValuesWhileNothingIsZoomed();
    void aRunThatGoesOnDoesNotMoveTheView();
    void theButtonLeadsBackToTheRun();
    void closerMeansMoreDetail();
    void narrowRangesHaveDistinctTicks_data();
    void narrowRangesHaveDistinctTicks();
    void labelsStayApartWhileZoomed();
    void bothPlotsOfAChartShowTheSamePart();
    void anotherAxisIsShownWhole();
    void aChosenScaleStays();

private:
    [[nodiscard]] PlotLayout now() const { return plot_->layoutNow(); }

    std::unique_ptr<SyntheticRace> race_;
    std::unique_ptr<PerplexityChart> chart_;
    PlotWidget* plot_ = nullptr;
};

void TestPlotZoom::init() {
    race_ = std::make_unique<SyntheticRace>(3);
    race_->advance(600);
    chart_ = std::make_unique<PerplexityChart>();
    chart_->resize(760, 480);
    chart_->setRuns(race_->runs());
    chart_->show();
    chart_->refresh();
    plot_ = chart_->findChild<PlotWidget*>();
    (void)plot_->layoutNow();
}

void TestPlotZoom::cleanup() {
    chart_.reset();
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestPlotZoom::wheelZoomsXAtTheCursor() {
    const PlotLayout before = now();
    const QPointF at(before.mapX(200.0), before.plot.center().y());
    turnWheel(*plot_, at, 120);
    turnWheel(*plot_, at, 240);
    const PlotLayout closer = now();
    QVERIFY(closer.ranges.x.to - closer.ranges.x.from <
            0.6 * (before.ranges.x.to - before.ranges.x.from));
    const double width = closer.ranges.x.to - closer.ranges.x.from;
    QVERIFY(std::abs(closer.valueAtX(at.x()) - 200.0) < 0.03 * width);
    turnWheel(*plot_, at, -1200);
    QVERIFY(now().ranges == before.ranges);
    QVERIFY(!plot_->window().isZoomed());
}

void TestPlotZoom::shiftWheelZoomsY() {
    const PlotLayout before = now();
    const QPointF at(before.plot.center().x(), before.mapY(20.0));
    turnWheel(*plot_, at, 240, Qt::ShiftModifier);
    const PlotLayout closer = now();
    QVERIFY(closer.ranges.x == before.ranges.x);
    QVERIFY(closer.ranges.y.to / closer.ranges.y.from <
            before.ranges.y.to / before.ranges.y.from / 1.5);
    QVERIFY(std::abs(closer.valueAtY(at.y()) - 20.0) < 0.5);
}

void TestPlotZoom::dragZoomsToItsRectangle() {
    const PlotLayout before = now();
    drag(*plot_, {before.mapX(100.0), before.mapY(100.0)}, {before.mapX(300.0), before.mapY(15.0)});
    const PlotRanges closer = now().ranges;
    QVERIFY(std::abs(closer.x.from - 100.0) < 3.0 && std::abs(closer.x.to - 300.0) < 3.0);
    QVERIFY(std::abs(closer.y.from - 15.0) < 1.0 && std::abs(closer.y.to - 100.0) < 3.0);
}

void TestPlotZoom::aFlatDragZoomsOneAxis() {
    const PlotLayout before = now();
    const double y = before.plot.center().y();
    drag(*plot_, {before.mapX(100.0), y}, {before.mapX(300.0), y + 3.0});
    QVERIFY(plot_->window().x && !plot_->window().y);
    plot_->showAll();
    const double x = before.plot.center().x();
    drag(*plot_, {x, before.mapY(60.0)}, {x + 2.0, before.mapY(15.0)});
    QVERIFY(!plot_->window().x && plot_->window().y);
    const PlotWindow window = plot_->window();
    drag(*plot_, {x, y}, {x + 1.0, y + 1.0}); // a click with an unsteady hand
    QVERIFY(plot_->window() == window);
}

void TestPlotZoom::shiftDragAndMiddleButtonPan() {
    plot_->changeWindow({AxisRange{200.0, 400.0}, std::nullopt});
    const PlotLayout before = now();
    const QPointF from(before.mapX(300.0), before.plot.center().y());
    const QPointF to(before.mapX(350.0), before.plot.center().y());
    drag(*plot_, from, to, Qt::LeftButton, Qt::ShiftModifier);
    QVERIFY(std::abs(now().ranges.x.from - 150.0) < 2.0);
    QVERIFY(std::abs(now().ranges.x.to - 350.0) < 2.0);
    drag(*plot_, to, from, Qt::MiddleButton);
    QVERIFY(std::abs(now().ranges.x.from - 200.0) < 2.0);
    for (int i = 0; i < 20; ++i) // no further than the data
        drag(*plot_, to, from, Qt::MiddleButton);
    QVERIFY(now().ranges.x.to <= 600.0 + 1e-6);
    QVERIFY(std::abs(now().ranges.x.to - now().ranges.x.from - 200.0) < 1e-6);
}

void TestPlotZoom::doubleClickAndHomeShowEverything() {
    const PlotRanges whole = now().ranges;
    const PlotWindow part{AxisRange{100.0, 110.0}, AxisRange{11.0, 12.0}};
    plot_->changeWindow(part);
    QTest::mouseDClick(plot_, Qt::LeftButton, {}, now().plot.center().toPoint());
    QVERIFY(now().ranges == whole);
    plot_->changeWindow(part);
    QTest::keyClick(plot_, Qt::Key_Home);
    QVERIFY(now().ranges == whole);
}

void TestPlotZoom::keysZoomAndPan() {
    QTest::keyClick(plot_, Qt::Key_Plus);
    QVERIFY2(plot_->accessibleDescription().startsWith(QStringLiteral("step ")),
             plot_->accessibleDescription().toUtf8());
    QTest::keyClick(plot_, Qt::Key_Plus);
    const AxisRange closer = now().ranges.x;
    QVERIFY(closer.to - closer.from < 320.0);
    QTest::keyClick(plot_, Qt::Key_Right);
    QVERIFY(now().ranges.x.from > closer.from && now().ranges.x.to > closer.to);
    QTest::keyClick(plot_, Qt::Key_Left);
    QTest::keyClick(plot_, Qt::Key_Left);
    QVERIFY(now().ranges.x.from < closer.from);
    QTest::keyClick(plot_, Qt::Key_PageUp);
    const AxisRange y = now().ranges.y;
    QVERIFY(plot_->window().y);
    QTest::keyClick(plot_, Qt::Key_Up);
    QVERIFY(now().ranges.y.from > y.from);
    QTest::keyClick(plot_, Qt::Key_Down);
    QTest::keyClick(plot_, Qt::Key_PageDown);
    QTest::keyClick(plot_, Qt::Key_PageDown);
    QVERIFY(!plot_->window().y);
    for (int i = 0; i < 6; ++i)
        QTest::keyClick(plot_, Qt::Key_Minus);
    QVERIFY(!plot_->window().isZoomed());
}

void TestPlotZoom::arrowsReadValuesWhileNothingIsZoomed() {
    QTest::keyClick(plot_, Qt::Key_Left);
    const std::optional<double> at = plot_->crosshair();
    QVERIFY(at && *at < 600.0);
    for (const RunInfo& run : race_->runs()) // a screen reader hears them all
        QVERIFY(plot_->accessibleDescription().contains(run.name));
    QVERIFY(!plot_->window().isZoomed());
    QTest::keyClick(plot_, Qt::Key_Plus); // at the crosshair, which stays
    QVERIFY(plot_->crosshair());
    QVERIFY(std::abs(*plot_->crosshair() - *at) < 1.0);
    QTest::keyClick(plot_, Qt::Key_Left, Qt::ShiftModifier); // while zoomed with Shift
    QVERIFY(*plot_->crosshair() < *at);
}

void TestPlotZoom::aRunThatGoesOnDoesNotMoveTheView() {
    plot_->changeWindow({AxisRange{500.0, 599.0}, std::nullopt});
    const PlotLayout before = now();
    race_->advance(400);
    QVERIFY(chart_->refresh());
    QVERIFY(now().ranges == before.ranges);
    QVERIFY(plot_->scales().full.x.to >= 1000.0); // zooming out finds them
    plot_->showAll();
    chart_->refresh();
    QVERIFY(now().ranges.x.to >= 1000.0);
}

void TestPlotZoom::theButtonLeadsBackToTheRun() {
    auto* live = plot_->findChild<QToolButton*>(QStringLiteral("liveButton"));
    QVERIFY(live->isHidden());
    plot_->changeWindow({AxisRange{100.0, 200.0}, std::nullopt});
    QVERIFY(live->isVisible());
    QVERIFY(!live->toolTip().isEmpty() && !live->accessibleName().isEmpty());
    QVERIFY(!now().title.box.intersects(QRectF(live->geometry())));
    QTest::mouseClick(live, Qt::LeftButton);
    QVERIFY(live->isHidden() && !plot_->window().isZoomed());
}

/// 600 points of 40 000 steps show one value in some; the part that is looked at shows each.
void TestPlotZoom::closerMeansMoreDetail() {
    race_->advance(7000);
    chart_->refresh();
    QSignalSpy spy(chart_.get(), &RunChart::xWindowChanged);
    plot_->changeWindow({AxisRange{5000.0, 5100.0}, std::nullopt});
    QCOMPARE(spy.count(), 1);
    const SeriesStore::Query query{XAxis::Step, 5000.0, 5100.0, chart_->pointsPerLine()};
    const auto points = race_->series(0).query(Metric::TrainPerplexity, query).points;
    QVERIFY(points.size() >= 100); // each step
    const PlotRanges shown = now().ranges;
    double least = 1e9;
    double most = 0.0;
    for (std::size_t run = 0; run < 3; ++run)
        for (const PlotPoint& point :
             race_->series(run).query(Metric::TrainPerplexity, query).points)
            if (point.x >= 5000.0 && point.x <= 5100.0) {
                least = std::min(least, point.y);
                most = std::max(most, point.y);
            }
    QVERIFY(shown.y.from <= least && shown.y.from > 0.8 * least);
    QVERIFY(shown.y.to >= most && shown.y.to < 1.2 * most);
}

void TestPlotZoom::narrowRangesHaveDistinctTicks_data() {
    QTest::addColumn<int>("axis");
    QTest::addColumn<bool>("log");
    for (const int axis : {0, 1, 2, 3, 4, 5})
        for (const bool log : {false, true})
            QTest::addRow("axis %d %s", axis, log ? "log" : "linear") << axis << log;
}

void TestPlotZoom::narrowRangesHaveDistinctTicks() {
    QFETCH(int, axis);
    QFETCH(bool, log);
    chart_->setXAxis(static_cast<XAxis>(axis));
    plot_->setLogarithmicY(log);
    chart_->refresh();
    const QPointF at = now().plot.center();
    for (int notch = 0; notch < 60; ++notch) {
        turnWheel(*plot_, at, 120, notch % 2 == 0 ? Qt::NoModifier : Qt::ShiftModifier);
        const PlotLayout layout = now();
        for (const auto* ticks : {&layout.xTicks, &layout.yTicks}) {
            QSet<QString> texts;
            for (const PlotTick& tick : *ticks)
                if (!tick.text.isEmpty())
                    texts.insert(tick.text);
            QVERIFY2(static_cast<std::size_t>(texts.size()) == labelsOf(*ticks),
                     QByteArray::number(notch));
        }
        QVERIFY2(labelsOf(layout.yTicks) >= 2, QByteArray::number(notch));
        QVERIFY2(labelsOf(layout.xTicks) >= 1, QByteArray::number(notch));
        for (const PlotTick& tick : layout.xTicks)
            QVERIFY(tick.position > layout.plot.left() - 1.0 &&
                    tick.position < layout.plot.right() + 1.0);
    }
}

void TestPlotZoom::labelsStayApartWhileZoomed() {
    race_->change(1, "compression.memory", "none", "residual");
    race_->advance(100);
    chart_->refresh();
    for (const AxisRange& range : {AxisRange{0.0, 40.0}, AxisRange{100.0, 200.0},
                                   AxisRange{580.0, 620.0}, AxisRange{640.0, 700.0}}) {
        plot_->changeWindow({range, std::nullopt});
        const PlotLayout layout = now();
        const QByteArray fault = faults(textOf(layout), plot_->size());
        QVERIFY2(fault.isEmpty(), fault);
        QCOMPARE(layout.lineLabels.size(), std::size_t{3});
        for (const PlotLabel& label : layout.lineLabels)
            QVERIFY(label.tip.x() <= layout.plot.right() + 1.0);
        const bool seen = range.from < 600.0 && range.to > 600.0;
        QCOMPARE(layout.eventLabels.front().text.isEmpty(), !seen);
        keepPicture(*chart_, QStringLiteral("zoom-%1").arg(range.from));
    }
}

void TestPlotZoom::bothPlotsOfAChartShowTheSamePart() {
    TrafficChart traffic;
    traffic.resize(900, 300);
    traffic.setRuns(race_->runs());
    traffic.show();
    traffic.refresh();
    QCOMPARE(traffic.plots().size(), std::size_t{2});
    PlotWidget* first = traffic.plots()[0];
    PlotWidget* second = traffic.plots()[1];
    const PlotLayout before = first->layoutNow();
    turnWheel(*first, before.plot.center(), 240);
    QVERIFY(first->window().x && first->window().x == second->window().x);
    turnWheel(*first, before.plot.center(), 240, Qt::ShiftModifier);
    QVERIFY(first->window().y && !second->window().y);
}

void TestPlotZoom::anotherAxisIsShownWhole() {
    plot_->changeWindow({AxisRange{100.0, 200.0}, std::nullopt});
    chart_->setXAxis(XAxis::Tokens);
    chart_->refresh();
    QVERIFY(!plot_->window().x && !chart_->xWindow());
}

void TestPlotZoom::aChosenScaleStays() {
    QVERIFY(plot_->isLogarithmicY());
    plot_->setLogarithmicY(false);
    QVERIFY(!now().logY);
    race_->advance(1);
    chart_->refresh();
    QVERIFY(!now().logY);
    plot_->setLogarithmicY(std::nullopt);
    QVERIFY(now().logY);
}

QTEST_MAIN(TestPlotZoom)
#include "test_plot_zoom.moc"
