// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a person draws into the future of the perplexity chart: strokes, pen, line, curtain.
#include "tests/support/qt_warnings.h"
#include "widgets/perplexity_chart.h"
#include "widgets/plot_widget.h"

#include <QMouseEvent>
#include <QSignalSpy>
#include <QTest>

#include <cmath>

using namespace gradlab;
using namespace gradlab::widgets;

namespace {

/// The widths of the x axis that the plot has.
AxisRange shownX(PerplexityChart& chart) {
    return chart.plot()->scales().shown.x;
}

int pixelsOf(const QImage& image, const QColor& colour) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            count += image.pixelColor(x, y) == colour ? 1 : 0;
    return count;
}

} // namespace

class TestPrediction : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::QtWarnings::install(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void strokesReplaceWhatTheyCover() {
        Prediction prediction;
        prediction.stroke({100, 50}, {200, 20});
        prediction.stroke({200, 20}, {300, 10});
        QCOMPARE(prediction.end().x, 300.0);
        prediction.stroke({260, 40}, {180, 30}); // backwards, over the middle
        const std::vector<PlotPoint> expected = {{100, 50}, {180, 30}, {260, 40}, {300, 10}};
        QVERIFY(prediction.points() == expected);
        QCOMPARE(*prediction.valueAt(100), 50.0);
        QVERIFY(std::fabs(*prediction.valueAt(140) - std::sqrt(50.0 * 30.0)) < 1e-9);
        QVERIFY(!prediction.valueAt(99) && !prediction.valueAt(301));
    }

    void aLongDrawingStaysBounded() {
        Prediction prediction;
        for (int i = 0; i < 5000; ++i)
            prediction.stroke({i * 1.0, 10.0}, {i + 1.0, 10.0});
        QVERIFY(prediction.points().size() <= Prediction::kMostPoints);
        QCOMPARE(prediction.end().x, 5000.0);
    }

    void thePenDrawsIntoTheFutureOnly() {
        RunSeries series;
        fill(series, 100);
        PerplexityChart chart;
        show(chart, {runOf(series)});
        QSignalSpy drawn(&chart, &PerplexityChart::predictionDrawn);
        drag(chart, 0.2, 0.9);
        QVERIFY(chart.prediction().isEmpty()); // a drag zooms while the pen is away
        chart.plot()->showAll();
        chart.setPredicting(400.0);
        QVERIFY(chart.refresh());
        QCOMPARE(shownX(chart).to, 400.0);
        drag(chart, 0.1, 0.9);
        QVERIFY(!drawn.isEmpty());
        const Prediction& prediction = chart.prediction();
        QCOMPARE(prediction.points().front().x, 100.0); // what has been is no prediction
        QVERIFY(prediction.end().x > 300.0 && prediction.end().x < 400.0);
        QVERIFY(!chart.plot()->window().isZoomed());
        chart.setPredicting(std::nullopt);
        QVERIFY(!chart.prediction().isEmpty()); // it stays
        chart.setPrediction({});
        QVERIFY(chart.refresh() && chart.prediction().isEmpty());
    }

    void thereIsSomethingToDrawOnBeforeAnyRun() {
        PerplexityChart chart;
        show(chart, {});
        chart.setPredicting(600.0);
        chart.refresh();
        drag(chart, 0.1, 0.5);
        QVERIFY(!chart.prediction().isEmpty());
        QVERIFY(chart.prediction().end().x < 600.0);
    }

    void theLineIsThereAlongStepsAndInPictures_data() {
        QTest::addColumn<bool>("dark");
        QTest::addColumn<bool>("presentation");
        QTest::newRow("light") << false << false;
        QTest::newRow("dark") << true << false;
        QTest::newRow("presentation") << false << true;
    }
    void theLineIsThereAlongStepsAndInPictures() {
        QFETCH(bool, dark);
        QFETCH(bool, presentation);
        RunSeries series;
        fill(series, 100);
        PerplexityChart chart;
        chart.setTheme(Theme::make(dark, presentation));
        show(chart, {runOf(series)});
        const int before = labels(chart);
        Prediction prediction;
        prediction.stroke({100, 50}, {200, 20});
        chart.setPrediction(prediction);
        QVERIFY(chart.refresh());
        QCOMPARE(labels(chart), before + 1);
        const auto twin = chart.twin(chart.size(), Theme::make(dark, presentation));
        QCOMPARE(labels(dynamic_cast<PerplexityChart&>(*twin)), before + 1);
        chart.setXAxis(XAxis::Bytes); // it is of steps
        chart.refresh();
        QCOMPARE(labels(chart), before);
    }

    void theCurtainHidesWhatComes() {
        RunSeries series;
        fill(series, 100);
        PerplexityChart chart;
        const RunInfo run = runOf(series);
        show(chart, {run});
        const QColor colour = Theme::make(false, false).runColour(run.colour);
        QVERIFY(pixelsOf(chart.grab().toImage(), colour) > 0);
        QVERIFY(!chart.plot()->hoverTextAt(50.0).lines.empty());
        chart.setCurtain(0.0);
        QVERIFY(chart.refresh());
        QCOMPARE(pixelsOf(chart.grab().toImage(), colour), 0);
        QVERIFY(chart.plot()->hoverTextAt(50.0).lines.empty()); // nor is it told
        chart.setCurtain(std::nullopt);
        QVERIFY(chart.refresh());
        QVERIFY(pixelsOf(chart.grab().toImage(), colour) > 0);
    }

private:
    static void fill(RunSeries& series, std::uint64_t steps) {
        for (std::uint64_t step = 1; step <= steps; ++step) {
            engine::StepRecord record;
            record.step = step;
            record.loss = 4.0 - 0.01 * static_cast<double>(step);
            series.append(record);
            if (step % 20 == 0) {
                engine::EvalRecord eval;
                eval.step = step;
                eval.split = "valid";
                eval.perplexity = std::exp(record.loss);
                series.append(eval);
            }
        }
    }
    static RunInfo runOf(RunSeries& series) {
        RunInfo run;
        run.id = 1;
        run.name = QStringLiteral("Run");
        run.series = &series;
        return run;
    }
    static void show(PerplexityChart& chart, const RunList& runs) {
        chart.resize(700, 400);
        chart.setRuns(runs);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        chart.refresh();
        (void)chart.plot()->layoutNow();
    }
    static int labels(PerplexityChart& chart) {
        return static_cast<int>(chart.plot()->layoutNow().lineLabels.size());
    }
    /// Along the middle of the plot, from and to shares of its width.
    static void drag(PerplexityChart& chart, double from, double to) {
        const QRectF area = chart.plot()->layoutNow().plot;
        const auto at = [&](double share) {
            return QPointF(area.left() + share * area.width(), area.center().y()).toPoint();
        };
        QTest::mousePress(chart.plot(), Qt::LeftButton, {}, at(from));
        for (int i = 1; i <= 20; ++i) {
            const QPoint now = at(from + (to - from) * i / 20.0);
            QMouseEvent move(QEvent::MouseMove, now, chart.plot()->mapToGlobal(now), Qt::NoButton,
                             Qt::LeftButton, {});
            QCoreApplication::sendEvent(chart.plot(), &move);
        }
        QTest::mouseRelease(chart.plot(), Qt::LeftButton, {}, at(to));
    }
};

QTEST_MAIN(TestPrediction)
#include "test_prediction.moc"
