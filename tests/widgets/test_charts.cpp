// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Structure of what is drawn: nothing overlaps, nothing is cut, nothing is blank, series stay
// bounded. With GRADLAB_PICTURES set to a folder the pictures are kept there.
#include "tests/support/qt_warnings.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/perplexity_chart.h"
#include "widgets/run_strip.h"
#include "widgets/sparsity_chart.h"
#include "widgets/stacked_bars.h"
#include "widgets/time_chart.h"
#include "widgets/traffic_chart.h"

#include <QDir>
#include <QGridLayout>
#include <QSet>
#include <QStandardPaths>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace gradlab::widgets;
using gradlab::tests::QtWarnings;
using gradlab::tests::SyntheticRace;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Strip on top, perplexity left, the others stacked on the right: as the window has them.
class Board : public QWidget {
public:
    Board() {
        auto* grid = new QGridLayout(this);
        grid->addWidget(&strip, 0, 0, 1, 2);
        grid->addWidget(&perplexity, 1, 0, 3, 1);
        grid->addWidget(&traffic, 1, 1);
        grid->addWidget(&time, 2, 1);
        grid->addWidget(&sparsity, 3, 1);
        grid->setColumnStretch(0, 3);
        grid->setColumnStretch(1, 2);
        for (int row = 1; row < 4; ++row)
            grid->setRowStretch(row, 1);
    }
    [[nodiscard]] QList<RunChart*> charts() { return {&perplexity, &traffic, &time, &sparsity}; }
    void show(const RunList& runs, const Theme& theme, XAxis axis) {
        setPalette(themePalette(theme.dark));
        strip.setTheme(theme);
        strip.setRuns(runs);
        for (RunChart* chart : charts()) {
            chart->setTheme(theme);
            chart->setXAxis(axis);
            chart->setRuns(runs);
        }
        QWidget::show();
        strip.refresh();
        for (RunChart* chart : charts())
            chart->refresh();
    }

    RunStrip strip;
    PerplexityChart perplexity;
    TrafficChart traffic;
    TimeChart time;
    SparsityChart sparsity;
};

struct NamedBox {
    QString text;
    QRectF box;
};

std::vector<NamedBox> textOf(const PlotLayout& layout) {
    std::vector<NamedBox> boxes{{layout.title.text, layout.title.box},
                                {layout.xTitle.text, layout.xTitle.box}};
    for (const auto* labels : {&layout.lineLabels, &layout.referenceLabels, &layout.eventLabels})
        for (const PlotLabel& label : *labels)
            boxes.push_back({label.text, label.box});
    for (const auto* ticks : {&layout.xTicks, &layout.yTicks})
        for (const PlotTick& tick : *ticks)
            boxes.push_back({tick.text, tick.box});
    std::erase_if(boxes, [](const NamedBox& box) { return box.text.isEmpty(); });
    return boxes;
}

/// Empty if all is well, else what overlaps or leaves the picture.
QByteArray faults(const std::vector<NamedBox>& boxes, const QSizeF& size) {
    const QRectF picture(QPointF(-0.5, -0.5), size + QSizeF(1.0, 1.0));
    for (std::size_t i = 0; i < boxes.size(); ++i) {
        if (!picture.contains(boxes[i].box))
            return "cut: " + boxes[i].text.toUtf8();
        for (std::size_t j = i + 1; j < boxes.size(); ++j)
            if (boxes[i].box.adjusted(0, 1, 0, -1).intersects(boxes[j].box.adjusted(0, 1, 0, -1)))
                return "overlap: " + boxes[i].text.toUtf8() + " / " + boxes[j].text.toUtf8();
    }
    return {};
}

void keepPicture(QWidget& widget, const QString& name) {
    const QString folder = qEnvironmentVariable("GRADLAB_PICTURES");
    if (folder.isEmpty())
        return;
    QVERIFY(QDir().mkpath(folder));
    QVERIFY(widget.grab().save(QDir(folder).filePath(name + QStringLiteral(".png"))));
}

int coloursIn(const QImage& image) {
    QSet<QRgb> seen;
    for (int y = 0; y < image.height(); y += 2)
        for (int x = 0; x < image.width(); x += 2)
            seen.insert(image.pixel(x, y));
    return static_cast<int>(seen.size());
}

bool hasColour(const QImage& image, const QColor& colour) {
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            if (image.pixelColor(x, y) == colour)
                return true;
    return false;
}

PlotLine lineOf(std::vector<PlotPoint> points) {
    return {.label = QStringLiteral("line"),
            .colour = QColor(0x0072b2),
            .thick = true,
            .markers = false,
            .points = std::move(points),
            .nonFinite = {}};
}

} // namespace

class TestCharts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void spreadKeepsLabelsApart();
    void boardHasNoFaults_data();
    void boardHasNoFaults();
    void oneChangeOfAllRunsIsMarkedOnce();
    void changeIsMarkedOnEveryPlot();
    void linesStayBounded();
    void pointsAreFewerWithManyRuns();
    void invisibleChartsDoNothing();
    void unchangedChartsDoNothing();
    void hiddenRunsAreNotDrawn();
    void badValuesOnALogAxis();
    void emptyPlotDraws();
    void offScaleValuesAreMarked();
    void gapsAreNotJoined();
    void narrowLogRangeHasLabels();
    void hoverReadsLoggedValues();
    void xAxisCycles();
    void stripSaysFewerBytes();
    void stripShowsTheNewestOfMany();
    void barsKeepTheirTextApart();
    void networkHereIsNotTheTurn();
    void presentationIsLarge();
    void pictureAtAnySize();
};

void TestCharts::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QtWarnings::install();
}

void TestCharts::cleanup() {
    const QByteArray warnings = QtWarnings::take();
    QVERIFY2(warnings.isEmpty(), warnings);
}

void TestCharts::spreadKeepsLabelsApart() {
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
                for (const int axis : {0, 1, 2, 3}) {
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

void TestCharts::badValuesOnALogAxis() {
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

void TestCharts::emptyPlotDraws() {
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
    Board board;
    board.show({}, Theme::make(true, false), XAxis::Bytes);
    keepPicture(board, QStringLiteral("board-empty"));
}

void TestCharts::offScaleValuesAreMarked() {
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

void TestCharts::gapsAreNotJoined() {
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

void TestCharts::narrowLogRangeHasLabels() {
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
    for (int i = 0; i < 4; ++i) {
        titles.insert(xAxisTitle(axis));
        axis = nextXAxis(axis);
    }
    QCOMPARE(titles.size(), 4);
    QVERIFY(axis == XAxis::Step);
}

void TestCharts::stripSaysFewerBytes() {
    SyntheticRace race(3);
    race.advance(60);
    RunStrip strip;
    strip.setRuns(race.runs());
    QCOMPARE(strip.cards().size(), std::size_t{3});
    QCOMPARE(strip.cards()[0].bytes, QStringLiteral("dense messages"));
    QCOMPARE(strip.cards()[1].bytes, QStringLiteral("67.7× fewer bytes"));
    QCOMPARE(strip.cards()[0].network, QStringLiteral("96 % network"));
    QCOMPARE(strip.cards()[1].perplexityKind, QStringLiteral("valid"));
}

void TestCharts::stripShowsTheNewestOfMany() {
    SyntheticRace race(8);
    race.advance(60);
    RunStrip strip;
    strip.resize(600, strip.sizeHint().height());
    strip.setRuns(race.runs());
    QVERIFY(!strip.grab().isNull());
    std::vector<NamedBox> boxes;
    for (const QRectF& box : strip.textBoxes())
        boxes.push_back({QStringLiteral("strip"), box});
    const QByteArray fault = faults(boxes, strip.size());
    QVERIFY2(fault.isEmpty(), fault);
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
                std::vector<NamedBox> boxes;
                for (const QRectF& box : bars->textBoxes())
                    boxes.push_back({QString::number(boxes.size()), box});
                QVERIFY(boxes.size() >= 4);
                const QByteArray fault = faults(boxes, bars->size());
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

void TestCharts::pictureAtAnySize() {
    SyntheticRace race(3);
    race.advance(120);
    for (const QSize& size : {QSize(320, 200), QSize(1600, 900)}) {
        PerplexityChart chart;
        chart.setRuns(race.runs());
        const QImage picture = chart.renderImage(size, 2.0);
        QCOMPARE(picture.size(), size * 2);
        QVERIFY(coloursIn(picture) > 20);
    }
    TrafficChart traffic;
    traffic.setRuns(race.runs());
    const QImage both = traffic.renderImage({800, 240}, 2.0);
    for (const QRect& half : {QRect(0, 0, 800, 480), QRect(800, 0, 800, 480)})
        for (int run = 0; run < 3; ++run)
            QVERIFY(hasColour(both.copy(half), Theme::make(false, false).runColour(run)));
    PlotWidget plot;
    plot.setData({lineOf({{0, 0}, {1, 1}})}, {}, {});
    QCOMPARE(plot.renderImage({300, 200}, 1.5).size(), QSize(450, 300));
}

QTEST_MAIN(TestCharts)
#include "test_charts.moc"
