// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Structure of what the charts of runs draw: nothing overlaps, nothing is cut, nothing is blank,
// series stay bounded.
#include "tests/support/qt_warnings.h"
#include "tests/widgets/chart_pictures.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/chart_picture.h"
#include "widgets/stacked_bars.h"

#include <QStandardPaths>
#include <QTest>

#include <algorithm>

using namespace gradlab::tests;

class TestCharts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void boardHasNoFaults_data();
    void boardHasNoFaults();
    void oneChangeOfAllRunsIsMarkedOnce();
    void changeIsMarkedOnEveryPlot();
    void linesStayBounded();
    void pointsAreFewerWithManyRuns();
    void invisibleChartsDoNothing();
    void unchangedChartsDoNothing();
    void emptyBoardDraws();
    void hiddenRunsAreNotDrawn();
    void hoverReadsLoggedValues();
    void xAxisCycles();
    void barsKeepTheirTextApart();
    void networkHereIsNotTheTurn();
    void presentationIsLarge();
    void smoothingKeepsTheRawLine();
};

void TestCharts::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QtWarnings::install();
}

void TestCharts::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestCharts::boardHasNoFaults_data() {
    QTest::addColumn<int>("runs");
    QTest::addColumn<int>("steps");
    QTest::addColumn<QSize>("size");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<bool>("presentation");
    QTest::addColumn<int>("axis");
    for (const int runs : {1, 3, 8})
        for (const int steps : {1, 600})
            for (const QSize& size : {QSize(1024, 600), QSize(1280, 700), QSize(1920, 960)})
                for (const int axis : {0, 1, 2, 3, 4, 5}) {
                    const bool dark = axis % 2 == 1;
                    QTest::addRow("%d runs, %d steps, %d wide, axis %d", runs, steps, size.width(),
                                  axis)
                        << runs << steps << size << dark << false << axis;
                }
    for (const int axis : {0, 1, 2, 3})
        QTest::addRow("presentation, axis %d", axis)
            << 3 << 600 << QSize(1280, 720) << (axis % 2 == 0) << true << axis;
}

void TestCharts::boardHasNoFaults() {
    QFETCH(int, runs);
    QFETCH(int, steps);
    QFETCH(QSize, size);
    QFETCH(bool, dark);
    QFETCH(bool, presentation);
    QFETCH(int, axis);
    SyntheticRace race(runs);
    race.advance(static_cast<std::uint64_t>(steps) / 2);
    if (runs > 1)
        race.change(1, "compression.memory", "none", "residual");
    race.advance(static_cast<std::uint64_t>(steps) - static_cast<std::uint64_t>(steps) / 2);
    Board board;
    board.resize(size);
    board.show(race.runs(), Theme::make(dark, presentation), static_cast<XAxis>(axis));
    for (PlotWidget* plot : board.findChildren<PlotWidget*>()) {
        const QByteArray fault = faults(textOf(plot->layoutNow()), plot->size());
        QVERIFY2(fault.isEmpty(), fault + " in " + plot->accessibleName().toUtf8());
        QVERIFY(!plot->layoutNow().lineLabels.empty());
    }
    const QImage picture = board.grab().toImage();
    for (int run = 0; run < std::min(runs, 3); ++run)
        QVERIFY(hasColour(picture, Theme::make(dark, false).runColour(run)));
    const bool keep = runs == 3 || axis == 0;
    if (keep)
        keepPicture(board, QStringLiteral("board-%1runs-%2-%3-%4-axis%5%6")
                               .arg(runs)
                               .arg(steps)
                               .arg(size.width())
                               .arg(dark ? QStringLiteral("dark") : QStringLiteral("light"))
                               .arg(axis)
                               .arg(presentation ? QStringLiteral("-present") : QString()));
}

void TestCharts::oneChangeOfAllRunsIsMarkedOnce() {
    SyntheticRace race(3);
    race.advance(50);
    for (std::size_t run = 0; run < 3; ++run)
        race.change(run, "cluster.bandwidth", "100Mbit", "10Gbit");
    race.advance(50);
    Board board;
    board.resize(1280, 700);
    board.show(race.runs(), Theme::make(false, false), XAxis::Step);
    for (PlotWidget* plot : board.findChildren<PlotWidget*>())
        QCOMPARE(plot->layoutNow().eventLabels.size(), std::size_t{1});
}

void TestCharts::changeIsMarkedOnEveryPlot() {
    SyntheticRace race(2);
    race.advance(400);
    race.change(1, "compression.memory", "none", "residual");
    race.advance(200);
    Board board;
    board.resize(1280, 700);
    for (const XAxis axis : {XAxis::Step, XAxis::Bytes, XAxis::SimulatedTime, XAxis::WallTime}) {
        board.show(race.runs(), Theme::make(false, false), axis);
        const QList<PlotWidget*> plots = board.findChildren<PlotWidget*>();
        QCOMPARE(plots.size(), 5);
        for (PlotWidget* plot : plots) {
            const PlotLayout layout = plot->layoutNow();
            QCOMPARE(layout.eventLabels.size(), std::size_t{1});
            const double at = layout.eventLabels[0].anchor;
            QVERIFY(at > layout.plot.left() && at < layout.plot.right());
        }
        const PlotLayout wide = board.perplexity.findChild<PlotWidget*>()->layoutNow();
        QCOMPARE(wide.eventLabels[0].text, QStringLiteral("memory none → residual"));
    }
}

void TestCharts::linesStayBounded() {
    SyntheticRace race(3);
    race.advance(20000);
    Board board;
    board.resize(1280, 700);
    // PlotWidget refuses lines of more than kMaxPoints: drawing is the test.
    board.show(race.runs(), Theme::make(false, false), XAxis::Step);
    QVERIFY(board.perplexity.pointsPerLine() <= 1000);
    for (RunChart* chart : board.charts()) {
        race.advance(1);
        QVERIFY(chart->refresh());
    }
    PlotWidget plot;
    std::vector<PlotPoint> many(PlotWidget::kMaxPoints + 1);
    QVERIFY_EXCEPTION_THROWN(plot.setData({lineOf(std::move(many))}, {}, {}), std::logic_error);
}

void TestCharts::pointsAreFewerWithManyRuns() {
    SyntheticRace race(5);
    PerplexityChart chart;
    RunList runs = race.runs();
    chart.setRuns(runs);
    const std::size_t ofMany = chart.pointsPerLine();
    QVERIFY(ofMany <= 500);
    runs.front().visible = false;
    chart.setRuns(runs);
    QVERIFY(chart.pointsPerLine() > ofMany && chart.pointsPerLine() <= 1000);
}

void TestCharts::invisibleChartsDoNothing() {
    SyntheticRace race(2);
    race.advance(10);
    PerplexityChart chart;
    chart.setRuns(race.runs());
    QVERIFY(!chart.refresh());
    chart.show();
    race.advance(1);
    QVERIFY(chart.refresh());
    chart.hide();
    race.advance(1);
    QVERIFY(!chart.refresh());
}

void TestCharts::unchangedChartsDoNothing() {
    SyntheticRace race(2);
    race.advance(10);
    PerplexityChart chart;
    chart.setRuns(race.runs());
    chart.show();
    chart.refresh();
    QVERIFY(!chart.refresh());
    chart.setXAxis(XAxis::Bytes);
    QVERIFY(chart.refresh());
}

void TestCharts::emptyBoardDraws() {
    Board board;
    board.show({}, Theme::make(true, false), XAxis::Bytes);
    QVERIFY(!board.grab().isNull());
    keepPicture(board, QStringLiteral("board-empty"));
}

void TestCharts::hiddenRunsAreNotDrawn() {
    SyntheticRace race(3);
    race.advance(100);
    RunList runs = race.runs();
    runs[2].visible = false;
    Board board;
    board.resize(1280, 700);
    board.show(runs, Theme::make(false, false), XAxis::Step);
    QVERIFY(!hasColour(board.grab().toImage(), Theme::make(false, false).runColour(2)));
    QCOMPARE(board.strip.cards().size(), std::size_t{2});
}

void TestCharts::hoverReadsLoggedValues() {
    SyntheticRace race(3);
    race.advance(100);
    Board board;
    board.resize(1280, 700);
    board.show(race.runs(), Theme::make(false, false), XAxis::Step);
    auto* plot = board.perplexity.findChild<PlotWidget*>();
    const PlotLayout layout = plot->layoutNow();
    const QString exact =
        QString::number(race.series(0).nearest(Metric::TrainPerplexity, XAxis::Step, 60.0)->value,
                        'g', QLocale::FloatingPointShortest);
    QTest::mouseMove(plot, QPointF(layout.mapX(60.0), layout.plot.center().y()).toPoint());
    const HoverText hover = plot->hoverTextAt(60.0);
    QCOMPARE(hover.lines.size(), std::size_t{3});
    QVERIFY(hover.lines[0].text.contains(exact));
    QVERIFY(hover.title.contains(QStringLiteral("60")));
    QTest::keyClick(plot, Qt::Key_Left);
    QTest::keyClick(plot, Qt::Key_Right);
    QTest::keyClick(plot, Qt::Key_Escape);
}

void TestCharts::xAxisCycles() {
    XAxis axis = XAxis::Step;
    QSet<QString> titles;
    for (std::size_t i = 0; i < kXAxisCount; ++i) {
        titles.insert(xAxisTitle(axis));
        axis = nextXAxis(axis);
    }
    QCOMPARE(titles.size(), 6);
    QVERIFY(axis == XAxis::Step);
}

void TestCharts::barsKeepTheirTextApart() {
    for (const int runs : {1, 3, 8})
        for (const QSize& size : {QSize(400, 180), QSize(520, 200), QSize(760, 300)})
            for (const bool presentation : {false, true}) {
                SyntheticRace race(runs);
                race.advance(60);
                TimeChart chart;
                chart.setTheme(Theme::make(false, presentation));
                chart.setRuns(race.runs());
                chart.resize(size);
                chart.show();
                const QImage picture = chart.grab().toImage();
                QVERIFY(hasColour(picture, Theme::make(false, false).network));
                const auto* bars = chart.findChild<StackedBars*>();
                QVERIFY(bars->textBoxes().size() >= 4);
                const QByteArray fault = faults(bars->textBoxes(), bars->size());
                QVERIFY2(fault.isEmpty(), fault);
            }
}

void TestCharts::networkHereIsNotTheTurn() {
    SyntheticRace race(1);
    race.advance(60);
    const StepParts here = race.series(0).measuredParts();
    QVERIFY(here.turn > here.network);
    QVERIFY(here.network < 0.05 * here.total());
    QVERIFY(race.series(0).simulatedParts().turn == 0.0);
}

void TestCharts::presentationIsLarge() {
    const Theme theme = Theme::make(true, true);
    QVERIFY(theme.textPixels >= 20 && theme.titlePixels >= 20);
    QVERIFY(theme.lineWidth >= 3.0 && theme.thinLineWidth >= 3.0);
    RunStrip strip;
    const int before = strip.sizeHint().height();
    strip.setTheme(theme);
    QVERIFY(strip.sizeHint().height() > before);
}

void TestCharts::smoothingKeepsTheRawLine() {
    SyntheticRace race(1);
    race.advance(300);
    SparsityChart chart;
    chart.resize(900, 400);
    chart.setRuns(race.runs());
    chart.show();
    const auto longLines = [&] { // others have two points
        const QByteArray svg =
            chartPicture(chart, PictureFormat::Svg, chart.size(), Theme::make(false, false));
        int count = 0;
        for (const QByteArray& part : svg.split('<'))
            count += part.startsWith("polyline") && part.count(',') > 50 ? 1 : 0;
        return count;
    };
    chart.setSmoothing(1.0);
    chart.refresh();
    QCOMPARE(longLines(), 4);
    chart.setSmoothing(50.0);
    QVERIFY(chart.refresh());
    QCOMPARE(longLines(), 6); // energy and norm raw and smoothed; the two shares
    QVERIFY(hasColour(chart.grab().toImage(), Theme::make(false, false).runColour(0)));
}

QTEST_MAIN(TestCharts)
#include "test_charts.moc"
