// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/experiment_panel.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/qt_warnings.h"
#include "widgets/experiment_form.h"
#include "widgets/field_editor.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace gradlab;

class TestExperimentPanel : public QObject {
    Q_OBJECT

    static std::vector<engine::Experiment> race() {
        std::vector<engine::Experiment> race(2, engine::defaultExperiment());
        race[0].name = "Dense";
        race[1].name = "Top-k";
        engine::setField(race[1], "compression.method", std::string("topk"));
        race[1].training.lr = 10.0;
        return race;
    }
    static void edit(app::ExperimentPanel& panel, const char* path,
                     const engine::FieldValue& value) {
        Q_EMIT panel.form()->editor(QString::fromLatin1(path))->edited(value);
    }

private Q_SLOTS:
    void initTestCase() { tests::QtWarnings::install(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    void sharedFieldsGoToEveryRun() {
        app::ExperimentPanel panel;
        panel.setExperiments(race());
        edit(panel, "model.hidden", std::int64_t{32});
        QCOMPARE(panel.experiments()[0].model.hidden, std::int64_t{32});
        QCOMPARE(panel.experiments()[1].model.hidden, std::int64_t{32});
        edit(panel, "training.lr", 5.0);
        QCOMPARE(panel.experiments()[0].training.lr, 5.0);
        QCOMPARE(panel.experiments()[1].training.lr, 10.0);
        panel.select(1);
        QCOMPARE(panel.form()->experiment().training.lr, 10.0);
        edit(panel, "compression.ratio", 0.5);
        QCOMPARE(std::get<double>(engine::getField(panel.experiments()[1], "compression.ratio")),
                 0.5);
        QCOMPARE(std::get<double>(engine::getField(panel.experiments()[0], "compression.ratio")),
                 0.01);
        QCOMPARE(panel.experiments()[1].name, std::string("Top-k"));
    }

    void anInvalidFieldDisablesStartWithTheReason() {
        app::ExperimentPanel panel;
        panel.setExperiments(race());
        QVERIFY(panel.startProblem().isEmpty());
        QVERIFY(panel.startButton()->isEnabled());
        edit(panel, "training.batch", std::int64_t{7}); // no multiple of 4 workers
        QVERIFY(!panel.startButton()->isEnabled());
        QVERIFY2(panel.startProblem().contains(QStringLiteral("batch")),
                 qPrintable(panel.startProblem()));
        edit(panel, "training.batch", std::int64_t{8});
        QVERIFY(panel.startButton()->isEnabled());
        QVERIFY(panel.startProblem().isEmpty());
    }

    void anInvalidRunThatIsNotShownCounts() {
        app::ExperimentPanel panel;
        std::vector<engine::Experiment> bad = race();
        engine::setField(bad[1], "compression.ratio", 2.0);
        panel.setExperiments(bad);
        QCOMPARE(panel.selected(), std::size_t{0});
        QVERIFY(!panel.startButton()->isEnabled());
        QVERIFY2(panel.startProblem().contains(QStringLiteral("Top-k")),
                 qPrintable(panel.startProblem()));
    }

    void runsCanBeAddedAndRemoved() {
        app::ExperimentPanel panel;
        panel.setExperiments(race());
        const QSignalSpy changed(&panel, &app::ExperimentPanel::experimentsChanged);
        panel.addRun();
        QCOMPARE(panel.experiments().size(), std::size_t{3});
        QCOMPARE(panel.selected(), std::size_t{1});
        panel.removeRun();
        panel.removeRun();
        panel.removeRun(); // the last one stays
        QCOMPARE(panel.experiments().size(), std::size_t{1});
        QCOMPARE(changed.size(), 3);
    }

    void aRunningRaceTakesLiveChangesOnly() {
        app::ExperimentPanel panel;
        panel.setExperiments(race());
        panel.setRunning(true);
        QVERIFY(!panel.startButton()->isEnabled());
        panel.addRun();
        QCOMPARE(panel.experiments().size(), std::size_t{2});
        QVERIFY(!panel.form()->editor(QStringLiteral("model.hidden"))->isEnabled());
        QSignalSpy live(&panel, &app::ExperimentPanel::liveChangeRequested);
        panel.select(1);
        edit(panel, "training.lr", 2.0);
        QCOMPARE(live.size(), 1);
        QCOMPARE(live.front().at(0).value<std::size_t>(), std::size_t{1});
        QCOMPARE(live.front().at(1).toString(), QStringLiteral("training.lr"));
        panel.setRunning(false);
        QVERIFY(panel.startButton()->isEnabled());
    }
};

QTEST_MAIN(TestExperimentPanel)
#include "test_experiment_panel.moc"
