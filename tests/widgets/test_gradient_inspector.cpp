// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The inspector's plots in pixels, its numbers against plain counts, and a real worker's step in
// pictures (GRADLAB_PICTURES).
#include "tests/support/qt_warnings.h"
#include "tests/widgets/chart_pictures.h"
#include "widgets/gradient_inspector.h"
#include "widgets/gradient_inspector_table.h"
#include "widgets/gradient_inspector_views.h"
#include "widgets/heat_map_view.h"
#include "widgets/histogram_plot.h"

#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QTabWidget>
#include <QTest>

#include <bit>
#include <cmath>
#include <numeric>

using namespace gradlab;
using namespace gradlab::tests;
using engine::GradientSnapshot;
using engine::TensorSnapshot;

namespace {

/// Bins from 2^-10 on: 1000, 100, 10 and 2 elements, of which the last 12 were sent.
TensorSnapshot selectedTensor() {
    TensorSnapshot tensor;
    tensor.elements = 1120;
    tensor.selected = 12;
    tensor.selection = true;
    tensor.squaredNorm = 4.0;
    tensor.squaredKept = 1.0;
    tensor.squaredError = 3.0;
    tensor.squaredResidual = 3.0;
    tensor.squaredGradient = 2.0;
    tensor.magnitudes.zeros = 8;
    tensor.magnitudes.firstBin = (64 - 10) * engine::kBinsPerOctave;
    tensor.magnitudes.all = {1000, 100, 10, 2};
    tensor.magnitudes.chosen = {0, 0, 10, 2};
    tensor.smallestChosen = engine::magnitudeBinEdge(tensor.magnitudes.firstBin + 2);
    tensor.largestLeft = tensor.smallestChosen * 0.99;
    tensor.map.rows = 2;
    tensor.map.columns = 3;
    tensor.map.toSend = {60, -60, 45, -45, 0, 50};
    tensor.map.sent = {60, -60, 0, 0, 0, 0};
    tensor.map.stayed = {0, 0, 45, -45, 0, 50};
    return tensor;
}

std::shared_ptr<const GradientSnapshot> snapshotOf(std::uint64_t step) {
    GradientSnapshot snapshot;
    snapshot.step = step;
    snapshot.cost = 0.0012;
    snapshot.stepCost = 0.035;
    snapshot.tensors = {{"first", 2, 560, {20, 2}}, {"second", 1, 1120, {20, 2}}};
    for (std::uint32_t rank = 0; rank < 2; ++rank)
        snapshot.workers.push_back({rank, 0.0012, {selectedTensor(), selectedTensor()}});
    return std::make_shared<const GradientSnapshot>(snapshot);
}

QColor pixel(const QImage& image, double x, double y) {
    return image.pixelColor(static_cast<int>(x), static_cast<int>(y));
}

} // namespace

class TestGradientInspector : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QtWarnings::install(); }
    void cleanup() { QCOMPARE(QtWarnings::take(), QByteArray()); }

    void themes_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }

    void barsShadesAndLineArePainted_data() { themes_data(); }
    void barsShadesAndLineArePainted() {
        QFETCH(bool, dark);
        const Theme theme = Theme::make(dark, false);
        HistogramPlot plot;
        plot.resize(500, 260);
        plot.setTheme(theme);
        plot.setTitle(QStringLiteral("title"));
        plot.setData(magnitudeView(selectedTensor()));
        const QImage image = plot.grab().toImage();
        const auto centre = [&](int bar) { return plot.barBox(bar).center().x() + 3.0; };
        const double bottom = plot.barBox(0).bottom() - 3.0;
        QCOMPARE(pixel(image, centre(0), bottom), plot.allColour());
        QCOMPARE(pixel(image, centre(1), bottom), plot.allColour());
        QCOMPARE(pixel(image, centre(2), bottom), plot.shadedColour());
        QCOMPARE(pixel(image, centre(3), bottom), plot.shadedColour());
        QCOMPARE(pixel(image, centre(0), plot.barBox(0).top() + 3.0), plot.allColour());
        QCOMPARE(pixel(image, centre(3), plot.barBox(0).top() + 3.0), theme.background);
        QCOMPARE(pixel(image, plot.barBox(-1).center().x(), bottom), plot.allColour()); // zeros
        // Three decades between 1000 and 1 as there are two between 1000 and 10.
        const double decade = plot.yOf(10.0) - plot.yOf(100.0);
        QVERIFY(std::fabs(plot.barBox(1).top() - plot.barBox(0).top() - decade) < 1e-6);
        const double line = plot.xOf(selectedTensor().smallestChosen);
        QVERIFY(std::fabs(line - plot.barBox(2).left()) < 1e-6);
        QVERIFY(contrastRatio(pixel(image, line, plot.barBox(0).top() + 40.0), theme.background) >
                3.0);
        QVERIFY(contrastRatio(plot.shadedColour(), theme.background) >= 3.0);
    }

    void expectationIsMarked() {
        engine::LevelHistogram levels;
        levels.levels = 2;
        levels.drawn = {100, 10, 0};
        levels.expected = {100.0, 1000.0, 0.0};
        HistogramPlot plot;
        plot.resize(400, 240);
        const Theme theme = Theme::make(false, false);
        plot.setTheme(theme);
        plot.setData(levelView(levels));
        const QImage image = plot.grab().toImage();
        const double x = plot.barBox(1).center().x();
        QCOMPARE(pixel(image, x, plot.yOf(1000.0)), theme.text);
        QCOMPARE(pixel(image, x, plot.yOf(50.0)), theme.background); // between bar and mark
        QCOMPARE(pixel(image, x, plot.yOf(5.0)), plot.allColour());
    }

    void keysTellEachBar() {
        HistogramPlot plot;
        plot.setData(magnitudeView(selectedTensor()));
        plot.resize(500, 260);
        plot.show();
        plot.setFocus();
        QTest::keyClick(&plot, Qt::Key_End);
        QVERIFY(plot.accessibleDescription().contains(QStringLiteral("2 elements")));
        QVERIFY(plot.accessibleDescription().contains(QStringLiteral("2 sent")));
        QTest::keyClick(&plot, Qt::Key_Left);
        QVERIFY(plot.accessibleDescription().contains(QStringLiteral("10 elements")));
        QTest::keyClick(&plot, Qt::Key_Home);
        QVERIFY(plot.accessibleDescription().startsWith(QStringLiteral("0: 8 elements")));
    }

    void sentencesSayWhatWasKept() {
        const QString text = sentSentence(selectedTensor());
        QVERIFY2(text.contains(QStringLiteral("12 of 1,120")), qPrintable(text));
        QVERIFY2(text.contains(QStringLiteral("25 %")), qPrintable(text));
        TensorSnapshot chance = selectedTensor();
        chance.largestLeft = 2.0 * chance.smallestChosen;
        QVERIFY(!magnitudeView(chance).line.has_value());
        QVERIFY(sentSentence(chance).contains(QStringLiteral("Size did not decide")));
    }

    // Every subset of four workers by its own probability.
    void chanceIsThatOfSubsets() {
        const engine::SnapshotTensor tensor{"t", 10, 100, {30, 20, 10, 5}};
        const double p = (30.0 + 40.0 + 30.0 + 20.0) / 4000.0;
        std::array<double, 5> expected{};
        for (unsigned subset = 0; subset < 16; ++subset) {
            double probability = 1.0;
            for (unsigned worker = 0; worker < 4; ++worker)
                probability *= (subset >> worker & 1U) != 0 ? p : 1.0 - p;
            expected[static_cast<std::size_t>(std::popcount(subset))] += 1000.0 * probability;
        }
        const HistogramData view = overlapView(tensor);
        QCOMPARE(view.bars.size(), std::size_t{4});
        for (std::size_t j = 0; j < 4; ++j) {
            QVERIFY(std::fabs(*view.bars[j].expected - expected[j + 1]) < 1e-9);
            QCOMPARE(view.bars[j].all, static_cast<double>(tensor.chosenBy[j]));
        }
        QVERIFY(overlapSentence(tensor).contains(QStringLiteral("65")));
    }

    void mapsSharePaintAndScale_data() { themes_data(); }
    void mapsSharePaintAndScale() {
        QFETCH(bool, dark);
        const Theme theme = Theme::make(dark, false);
        HeatMapView view;
        view.resize(520, 220);
        view.setTheme(theme);
        view.setMap(selectedTensor().map, 2, 560, false, QString());
        const QImage image = view.grab().toImage();
        const auto cell = [&](int pane, int row, int column) {
            const QRectF box = view.paneBox(pane);
            return pixel(image, box.left() + box.width() * (column + 0.5) / 3.0,
                         box.top() + box.height() * (row + 0.5) / 2.0);
        };
        QCOMPARE(cell(0, 0, 0), view.levelColour(60));
        QCOMPARE(cell(0, 0, 1), view.levelColour(-60));
        QCOMPARE(cell(0, 1, 1), theme.background);
        QCOMPARE(cell(1, 0, 0), view.levelColour(60));
        QCOMPARE(cell(1, 0, 2), theme.background);
        QCOMPARE(cell(2, 0, 0), theme.background);
        QCOMPARE(cell(2, 1, 2), view.levelColour(50));
        // Largest values stand out, smaller ones less, and signs differ.
        const auto contrast = [&](int level) {
            return contrastRatio(view.levelColour(level), theme.background);
        };
        QVERIFY(contrast(60) > 4.5 && contrast(-60) > 4.5);
        QVERIFY(contrast(50) < contrast(60) && contrast(45) < contrast(50));
        QVERIFY(view.levelColour(60).red() > view.levelColour(60).blue());
        QVERIFY(view.levelColour(-60).blue() > view.levelColour(-60).red());
        view.show();
        view.setFocus();
        QTest::keyClick(&view, Qt::Key_Right);
        QTest::keyClick(&view, Qt::Key_Right);
        QVERIFY2(view.accessibleDescription().startsWith(QStringLiteral("row 0, column 187")) ||
                     view.accessibleDescription().startsWith(QStringLiteral("row 0, column 186")),
                 qPrintable(view.accessibleDescription()));
    }

    void aPixelShowsItsLargestCell() {
        engine::HeatMap map;
        map.rows = engine::HeatMap::kFocusRows;
        map.columns = engine::HeatMap::kFocusColumns;
        map.toSend.assign(std::size_t{map.rows} * map.columns, 20);
        map.sent = map.toSend;
        map.stayed = map.toSend;
        map.toSend[77 * map.columns + 101] = -80;
        HeatMapView view;
        view.resize(260, 130); // a pane has fewer pixels than cells
        view.setTheme(Theme::make(false, false));
        view.setMap(map, 1280, 1920, false, QString());
        const QImage image = view.grab().toImage();
        const QRect first = view.paneBox(0).toRect();
        QVERIFY(first.width() < static_cast<int>(map.columns));
        QVERIFY(hasColour(image.copy(first), view.levelColour(-80)));
        QVERIFY(!hasColour(image.copy(view.paneBox(1).toRect()), view.levelColour(-80)));
    }

    void theTableHasTheNumbersAndTheirSum() {
        GradientInspectorTable table;
        table.setSnapshot(snapshotOf(1), 1);
        QCOMPARE(table.rowCount(), 3);
        using Table = GradientInspectorTable;
        QCOMPARE(table.number(0, Table::Elements), 1120.0);
        QCOMPARE(table.number(2, Table::Elements), 2240.0);
        QCOMPARE(table.number(2, Table::Density), 24.0 / 2240.0);
        QCOMPARE(table.number(1, Table::Energy), 0.25);
        QCOMPARE(table.number(1, Table::Error), std::sqrt(0.75));
        QCOMPARE(table.number(2, Table::Residual), std::sqrt(6.0));
        QCOMPARE(table.number(2, Table::Waiting), 1.5);
        for (int column = 0; column < Table::ColumnCount; ++column) {
            QVERIFY(
                !table.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
            QVERIFY(!table.data(table.index(0, column), Qt::DisplayRole).toString().isEmpty());
        }
        table.setSnapshot(nullptr, 0);
        QCOMPARE(table.rowCount(), 0);
    }

    void choicesAndStepsAreKept() {
        GradientInspector inspector;
        inspector.setRuns({{1, QStringLiteral("a")}, {2, QStringLiteral("b")}});
        QCOMPARE(inspector.run(), 2); // the newest
        inspector.chooseRun(1);
        inspector.setRuns(
            {{1, QStringLiteral("a")}, {2, QStringLiteral("b")}, {3, QStringLiteral("c")}});
        QCOMPARE(inspector.run(), 1);
        QCOMPARE(inspector.stepIndex(), -1);
        inspector.setSteps({10, 20});
        QCOMPARE(inspector.stepIndex(), 1);
        QSignalSpy chosen(&inspector, &GradientInspector::stepChosen);
        inspector.slider()->setValue(0);
        QCOMPARE(chosen.size(), 1);
        QVERIFY(!inspector.follows());
        inspector.setSteps({10, 20, 30}); // 10 stays in sight
        QCOMPARE(inspector.stepIndex(), 0);
        inspector.setSnapshot(snapshotOf(10), QString());
        QCOMPARE(inspector.histogram()->data().bars.size(), std::size_t{4});
        QVERIFY(inspector.costText().contains(QStringLiteral("1.2 ms")));
        QVERIFY(inspector.costText().contains(QStringLiteral("35 ms")));
        auto* tensor = inspector.findChildren<QComboBox*>().at(2);
        tensor->setCurrentIndex(1);
        inspector.setSnapshot(snapshotOf(20), QString());
        QCOMPARE(inspector.tensor(), 1U);
        inspector.setSnapshot(nullptr, QStringLiteral("nothing yet"));
        QVERIFY(inspector.histogram()->data().bars.empty());
    }

    void everyPartHasAName() {
        GradientInspector inspector;
        for (const QComboBox* box : inspector.findChildren<QComboBox*>())
            QVERIFY(!box->accessibleName().isEmpty() && !box->toolTip().isEmpty());
        for (const HistogramPlot* plot : inspector.findChildren<HistogramPlot*>())
            QVERIFY(!plot->accessibleName().isEmpty() && !plot->toolTip().isEmpty());
        QVERIFY(!inspector.slider()->accessibleName().isEmpty());
        QVERIFY(!inspector.map()->accessibleName().isEmpty());
        QVERIFY(!inspector.tabs()->accessibleName().isEmpty());
    }
};

QTEST_MAIN(TestGradientInspector)
#include "test_gradient_inspector.moc"
