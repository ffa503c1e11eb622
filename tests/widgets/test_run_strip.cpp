// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The strip in little room, and what strip and charts say of runs that are not as the others.
#include "tests/support/qt_warnings.h"
#include "tests/widgets/chart_pictures.h"
#include "tests/widgets/synthetic_runs.h"
#include "widgets/plot_widget.h"
#include "widgets/run_strip.h"
#include "widgets/sparsity_chart.h"

#include <QSet>
#include <QSignalSpy>
#include <QTest>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

RunInfo infoOf(const QString& name, const RunSeries& series) {
    RunInfo info;
    info.id = 1;
    info.name = name;
    info.series = &series;
    return info;
}

} // namespace

class TestRunStrip : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QtWarnings::install(); }
    void cleanup() { QCOMPARE(QtWarnings::take(), QByteArray()); }

    void everyRunIsShown_data() {
        QTest::addColumn<int>("runs");
        QTest::addColumn<int>("width");
        QTest::addColumn<bool>("presentation");
        QTest::newRow("three, presented at 1024") << 3 << 1024 << true;
        QTest::newRow("three, presented at 640") << 3 << 640 << true;
        QTest::newRow("eight, presented at 1024") << 8 << 1024 << true;
        QTest::newRow("five at 640") << 5 << 640 << false;
        QTest::newRow("eight at 640") << 8 << 640 << false;
    }
    void everyRunIsShown() {
        QFETCH(int, runs);
        QFETCH(int, width);
        QFETCH(bool, presentation);
        SyntheticRace race(runs);
        race.advance(60);
        RunStrip strip;
        strip.setTheme(Theme::make(false, presentation));
        strip.setRuns(race.runs());
        strip.resize(width, 50);
        strip.resize(width, strip.sizeHint().height());
        QCOMPARE(strip.hiddenCards(), std::size_t{0});
        QVERIFY(!strip.grab().isNull());
        QVERIFY(strip.textBoxes().size() >= 4 * static_cast<std::size_t>(runs));
        const QByteArray fault = faults(strip.textBoxes(), strip.size());
        QVERIFY2(fault.isEmpty(), fault);
        const QSignalSpy clicked(&strip, &RunStrip::runClicked);
        for (int x = 5; x < width; x += 20)
            for (int y = 5; y < strip.height(); y += 20)
                QTest::mouseClick(&strip, Qt::LeftButton, {}, {x, y});
        QSet<int> ids;
        for (const auto& click : clicked)
            ids.insert(click.front().toInt());
        QCOMPARE(ids.size(), runs);
    }

    void fewerBytesAreSaid() {
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

    void theNewestOfManyAreShown() {
        SyntheticRace race(8);
        race.advance(60);
        RunStrip strip;
        strip.resize(600, strip.sizeHint().height());
        strip.setRuns(race.runs());
        QVERIFY(!strip.grab().isNull());
        const QByteArray fault = faults(strip.textBoxes(), strip.size());
        QVERIFY2(fault.isEmpty(), fault);
    }

    void tooManyAreCounted() {
        SyntheticRace race(8);
        race.advance(60);
        RunStrip strip;
        strip.setRuns(race.runs());
        strip.resize(250, 50);
        strip.resize(250, strip.sizeHint().height()); // three rows of one
        QCOMPARE(strip.hiddenCards(), std::size_t{6});
        QVERIFY(!strip.grab().isNull());
        const QSignalSpy clicked(&strip, &RunStrip::runClicked);
        QTest::mouseClick(&strip, Qt::LeftButton, {}, {20, strip.height() - 5});
        QTest::mouseClick(&strip, Qt::LeftButton, {}, {20, 5}); // the place that counts
        QCOMPARE(clicked.size(), 1);
        QCOMPARE(clicked.front().front().toInt(), strip.cards().back().id);
    }

    void nothingSentIsSaid() {
        RunSeries series;
        engine::StepRecord record;
        record.step = 1;
        record.bytesMessage = 100.0; // one worker in a ring: it goes nowhere
        record.bytesDense = 2700.0;
        series.append(record);
        RunStrip strip;
        strip.setRuns({infoOf(QStringLiteral("Alone"), series)});
        QCOMPARE(strip.cards().front().bytes, QStringLiteral("nothing sent"));
        QVERIFY(!series.numbers().compressionRatio);
    }

    void scaledUpEnergyIsNoShare() {
        RunSeries series;
        engine::StepRecord record;
        record.step = 1;
        record.ratio = record.density = 0.01;
        record.energyKept = 100.0;
        series.append(record);
        SparsityChart chart;
        chart.setRuns({infoOf(QStringLiteral("Random-k"), series)});
        chart.refresh();
        const auto* plot = chart.findChild<PlotWidget*>();
        const QString text = plot->hoverTextAt(1.0).lines.front().text;
        QVERIFY2(text.contains(QStringLiteral("100× the energy, scaled up")), qPrintable(text));
        QVERIFY(!text.contains(QStringLiteral("10000")));
    }
};

QTEST_MAIN(TestRunStrip)
#include "test_run_strip.moc"
