// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Mean and deviation along x against numbers worked out by hand, and what the chart draws of them.
#include "tests/widgets/chart_pictures.h"
#include "widgets/chart_picture.h"
#include "widgets/seed_spread.h"

#include <QTest>

#include <array>
#include <limits>
#include <memory>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Runs from seeds 1, 2, … whose validation perplexity is `base` times the seed at every 100 steps.
class Seeds {
public:
    Seeds(int firstId, int count, double base, const QString& name, int colour) {
        for (int i = 0; i < count; ++i) {
            series_.push_back(std::make_unique<RunSeries>());
            RunSeries& series = *series_.back();
            series.append(engine::StartRecord());
            for (std::uint64_t step = 1; step <= 400; ++step) {
                engine::StepRecord record;
                record.step = step;
                record.loss = std::log(base * 1.2);
                record.bytesMessage = record.bytesUp = 1000.0 + i;
                record.bytesDense = 4000.0;
                series.append(record);
                if (step % 100 == 0)
                    series.append(validation(step, base * (i + 1)));
            }
            RunInfo info;
            info.id = firstId + i;
            info.name = QStringLiteral("%1 · seed %2").arg(name).arg(i + 1);
            info.colour = colour;
            info.seed = i + 1;
            info.seedGroup = firstId;
            info.seedGroupName = name;
            info.series = series_.back().get();
            runs.push_back(info);
        }
    }

    RunList runs;

private:
    static engine::EvalRecord validation(std::uint64_t step, double perplexity) {
        engine::EvalRecord record;
        record.step = step;
        record.split = "valid";
        record.perplexity = perplexity;
        return record;
    }
    std::vector<std::unique_ptr<RunSeries>> series_;
};

} // namespace

class TestSeedSpread : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void meanAndDeviation() {
        const auto spread = spreadAlong({{{0, 10}, {10, 1}, {20, 4}},
                                         {{0, 10}, {10, 2}, {20, 6}},
                                         {{5, 6}, {10, 6}, {30, 26}}});
        // The third begins at 5 and the first two end at 20.
        QCOMPARE(spread.size(), std::size_t{2});
        QCOMPARE(spread[0].x, 10.0);
        QCOMPARE(spread[0].mean, 3.0);
        QCOMPARE(spread[0].deviation, std::sqrt((4.0 + 1.0 + 9.0) / 2.0));
        QCOMPARE(spread[1].x, 20.0);
        QCOMPARE(spread[1].mean, (4.0 + 6.0 + 16.0) / 3.0); // 16: half way from 6 to 26
    }

    void gapsAreLeftOut() {
        const auto spread = spreadAlong({{{0, 1}, {1, 1}}, {{0, 3}, {1, kNone}}, {{0, 5}, {1, 2}}});
        QCOMPARE(spread.size(), std::size_t{2});
        QCOMPARE(spread[0].mean, 3.0);
        QCOMPARE(spread[1].mean, 1.5);
        QVERIFY(spreadAlong({{{0, 1}}}).empty());
        QVERIFY(spreadAlong({{{0, 1}}, {}}).empty());
        QVERIFY(spreadAlong({{{0, 1}, {1, 1}}, {{2, 1}, {3, 1}}}).empty()); // nowhere together
    }

    void differencesArePairedBySeed() {
        const Seeds dense(1, 3, 10.0, QStringLiteral("Dense"), 0);
        Seeds topK(10, 3, 12.0, QStringLiteral("Top-k"), 1);
        topK.runs.erase(topK.runs.begin()); // seed 1 has not run
        const engine::Spread difference =
            pairedDifference(topK.runs, dense.runs, Metric::ValidPerplexity, XAxis::Step, 300.0);
        QCOMPARE(difference.count, std::size_t{2});
        QCOMPARE(difference.mean, 5.0); // 24 - 20 and 36 - 30
        QCOMPARE(difference.deviation, std::sqrt(2.0));
    }

    void chartDrawsMeanAndSpread() {
        Seeds dense(1, 3, 10.0, QStringLiteral("Dense"), 0);
        Seeds topK(10, 3, 12.0, QStringLiteral("Top-k"), 1);
        RunList runs = dense.runs;
        runs.insert(runs.end(), topK.runs.begin(), topK.runs.end());
        PerplexityChart chart;
        chart.resize(900, 500);
        chart.setRuns(runs);
        chart.show();
        const auto svg = [&] {
            return chartPicture(chart, PictureFormat::Svg, chart.size(), Theme::make(false, false));
        };
        QVERIFY(svg().contains("Dense  20 ± 10"));
        QVERIFY(svg().contains("Top-k  24 ± 12"));
        const PlotLayout together = chart.plots().front()->layoutNow();
        QCOMPARE(together.lineLabels.size(), std::size_t{2});
        const HoverText hover = chart.plots().front()->hoverTextAt(300.0);
        QCOMPARE(hover.lines.size(), std::size_t{2});
        QVERIFY(hover.lines[0].text.contains(QStringLiteral("Dense, 3 seeds: validation 20 ± 10")));
        QVERIFY(
            hover.lines[1].text.contains(QStringLiteral("+4 ± 2 to Dense with the same seeds")));

        chart.setSeedsTogether(false);
        QVERIFY(chart.refresh());
        QVERIFY(!svg().contains("±"));
        QCOMPARE(chart.plots().front()->hoverTextAt(300.0).lines.size(), std::size_t{6});
    }

    void oneLabelIsEnough() {
        Seeds dense(1, 3, 10.0, QStringLiteral("Dense"), 0);
        TrafficChart chart;
        chart.resize(900, 300);
        chart.setRuns(dense.runs);
        chart.show();
        const auto labels = [&] {
            QStringList texts;
            for (const PlotLabel& label : chart.plots().front()->layoutNow().lineLabels)
                texts << label.text;
            return texts.filter(QStringLiteral("Dense"));
        };
        QCOMPARE(labels(), QStringList(QStringLiteral("Dense")));
        chart.setSeedsTogether(false);
        chart.refresh();
        QCOMPARE(labels().size(), 3);
    }

    void bandReachesTheFootOfALogarithmicAxis() {
        // Mean minus deviation is below zero: drawn to the plot's foot, not left out.
        Seeds wild(1, 4, 1.0, QStringLiteral("Wild"), 0);
        PerplexityChart chart;
        chart.resize(900, 500);
        wild.runs[0].seedGroup = wild.runs[1].seedGroup = 1;
        chart.setRuns(wild.runs);
        chart.show();
        chart.refresh();
        const QImage image = chart.grab().toImage();
        const QRectF plot = chart.plots().front()->plotArea();
        QVERIFY(plot.isValid());
        const QColor background = Theme::make(false, false).background;
        int tinted = 0;
        const int x = static_cast<int>(plot.center().x()) + 7;
        for (int y = static_cast<int>(plot.top()); y < static_cast<int>(plot.bottom()); ++y)
            tinted += image.pixelColor(x, y) != background ? 1 : 0;
        QVERIFY2(tinted > 40, qPrintable(QString::number(tinted)));
    }
};

QTEST_MAIN(TestSeedSpread)
#include "test_seed_spread.moc"
