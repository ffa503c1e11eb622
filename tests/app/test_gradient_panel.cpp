// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The window's Gradient dock on real runs: filled while it can be seen, silent while it cannot, and
// step by step on a recorded run.
#include "app/gradient_panel.h"
#include "app/main_window.h"
#include "app/run_collection.h"
#include "engine/metrics/inspection_log.h"
#include "tests/support/small_run.h"
#include "tests/support/window_settings.h"
#include "widgets/gradient_inspector.h"
#include "widgets/gradient_inspector_table.h"
#include "widgets/histogram_plot.h"
#include "widgets/message_banner.h"

#include <QDockWidget>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <numeric>

using namespace gradlab;
using engine::RunState;

namespace {

std::unique_ptr<app::MainWindow> makeWindow(std::vector<engine::Experiment> race,
                                            const QString& out = {}) {
    app::WindowOptions options;
    options.experiments = std::move(race);
    options.quit = true;
    options.width = 1280;
    options.height = 800;
    options.out = out.toStdString();
    auto window = std::make_unique<app::MainWindow>(
        app::WindowServices{tests::threadTransports(), tests::loadSmallCorpus}, options);
    window->show();
    return window;
}

engine::Experiment compressed(std::int64_t steps = 0) {
    engine::Experiment experiment = tests::smallExperiment("Top-k", steps);
    tests::setCompression(experiment, "topk", "residual");
    engine::setField(experiment, "compression.ratio", 0.1);
    return experiment;
}

double barSum(const widgets::HistogramData& data) {
    return std::accumulate(
        data.bars.begin(), data.bars.end(), data.apart ? data.apart->all : 0.0,
        [](double sum, const widgets::HistogramBar& bar) { return sum + bar.all; });
}

} // namespace

class TestGradientPanel : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        tests::prepareWindowTests();
        qRegisterMetaType<std::shared_ptr<const engine::GradientSnapshot>>();
    }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void aLiveRunFillsTheDock() {
        const auto window = makeWindow({tests::smallExperiment("Dense"), compressed()});
        QVERIFY(QTest::qWaitForWindowActive(window.get()));
        const auto* dock = window->findChild<QDockWidget*>(QStringLiteral("gradientDock"));
        QVERIFY(!dock->isVisible());
        QTest::keyClick(window.get(), Qt::Key_G, Qt::ControlModifier);
        QVERIFY(dock->isVisible());
        window->startOrResume();
        widgets::GradientInspector* inspector = window->gradient()->inspector();
        QCOMPARE(inspector->run(), window->runs()->list()[1].id); // the one that compresses
        QTRY_VERIFY(!inspector->histogram()->data().bars.empty());
        const double n = inspector->table()->number(0, widgets::GradientInspectorTable::Elements);
        QVERIFY(n > 0.0);
        QCOMPARE(barSum(inspector->histogram()->data()), n);
        QVERIFY(inspector->histogram()->data().line.has_value());
        QVERIFY(inspector->sentence().contains(QStringLiteral("of the energy")));
        QVERIFY(inspector->costText().contains(QStringLiteral("of a step")));
        const int before = inspector->slider()->maximum();
        QTRY_VERIFY(inspector->slider()->maximum() > before); // it goes on
    }

    void nothingIsSampledWhileHidden() {
        const auto window = makeWindow({compressed()});
        QSignalSpy seen(window->session(), &app::TrainingSession::snapshotArrived);
        window->startOrResume();
        const auto step = [&] { return window->runs()->list().front().series->numbers().step; };
        QTRY_VERIFY(step() > 300);
        QCOMPARE(seen.size(), 0);
        auto* dock = window->findChild<QDockWidget*>(QStringLiteral("gradientDock"));
        dock->show();
        QTRY_VERIFY(seen.size() > 1);
        dock->hide();
        const auto shown = seen.size();
        const std::uint64_t then = step();
        QTRY_VERIFY(step() > then + 2000);
        QVERIFY(seen.size() <= shown + 1); // one was under way
    }

    void aRecordedRunIsShownStepByStep() {
        const QTemporaryDir folder;
        const QString out = folder.filePath("run");
        engine::Experiment experiment = compressed(20);
        experiment.training.inspectEvery = 5;
        {
            const auto window = makeWindow({experiment}, out);
            window->startOrResume();
            QTRY_VERIFY(window->session()->state() == RunState::Finished);
        }
        const engine::InspectionFile file((out + "/inspections.jsonl").toStdString());
        QCOMPARE(file.steps(), (std::vector<std::uint64_t>{5, 10, 15, 20}));
        const auto window = makeWindow({tests::smallExperiment()});
        window->openPath(out);
        window->findChild<QDockWidget*>(QStringLiteral("gradientDock"))->show();
        widgets::GradientInspector* inspector = window->gradient()->inspector();
        QCOMPARE(inspector->slider()->maximum(), 3);
        for (const int index : {1, 3, 0}) {
            inspector->slider()->setValue(index);
            const engine::GradientSnapshot expected = file.read(static_cast<std::size_t>(index));
            const engine::MagnitudeHistogram& counts = expected.workers[0].tensors[0].magnitudes;
            const widgets::HistogramData& data = inspector->histogram()->data();
            QCOMPARE(data.bars.size(), counts.all.size());
            for (std::size_t i = 0; i < counts.all.size(); ++i)
                QCOMPARE(data.bars[i].all, static_cast<double>(counts.all[i]));
            QCOMPARE(inspector->table()->number(0, widgets::GradientInspectorTable::Residual),
                     std::sqrt(expected.workers[0].tensors[0].squaredResidual));
        }
        QCOMPARE(window->banner()->messages(), QStringList());
    }

    void onlyARunThatIsOnIsAsked() {
        app::GradientPanel panel;
        panel.resize(500, 700);
        QSignalSpy wanted(&panel, &app::GradientPanel::inspectionWanted);
        panel.setRuns({{1, QStringLiteral("on"), true}});
        panel.show();
        QTRY_VERIFY(!wanted.isEmpty());
        panel.setRuns({{2, QStringLiteral("over"), false}});
        wanted.clear();
        panel.hide();
        panel.show(); // it would ask at once
        QCOMPARE(wanted.size(), 0);
        QVERIFY(panel.inspector()->histogram()->emptyText().contains(
            QStringLiteral("No step of over was looked into")));
    }

    void onlyTheLatestAreKept() {
        app::GradientPanel panel;
        panel.setRuns({{1, QStringLiteral("run"), true}});
        for (std::uint64_t step = 1; step <= 100; ++step) {
            engine::GradientSnapshot snapshot;
            snapshot.step = step;
            panel.add(1, std::make_shared<const engine::GradientSnapshot>(snapshot));
        }
        panel.refresh();
        QCOMPARE(panel.inspector()->slider()->maximum(),
                 static_cast<int>(app::GradientPanel::kMostKept) - 1);
    }
};

QTEST_MAIN(TestGradientPanel)
#include "test_gradient_panel.moc"
