// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_collection.h"
#include "engine/training/experiment_schema.h"
#include "widgets/theme.h"

#include <QSignalSpy>
#include <QTest>

#include <set>

using namespace gradlab;

class TestRunCollection : public QObject {
    Q_OBJECT

    static engine::Experiment named(const std::string& name) {
        engine::Experiment experiment = engine::defaultExperiment();
        experiment.name = name;
        return experiment;
    }

private Q_SLOTS:
    void namesAreUnique() {
        app::RunCollection runs;
        runs.add(1, named("Dense"));
        runs.add(2, named("Dense"));
        runs.add(3, named("Dense"));
        QCOMPARE(runs.list()[0].name, QStringLiteral("Dense"));
        QCOMPARE(runs.list()[1].name, QStringLiteral("Dense (2)"));
        QCOMPARE(runs.list()[2].name, QStringLiteral("Dense (3)"));
        runs.rename(2, QStringLiteral("Dense"));
        QCOMPARE(runs.list()[1].name, QStringLiteral("Dense (2)"));
        runs.rename(2, QStringLiteral("  "));
        QCOMPARE(runs.list()[1].name, QStringLiteral("Dense (2)"));
    }

    void coloursDifferAndAreReused() {
        app::RunCollection runs;
        std::set<int> colours;
        for (int id = 1; id <= widgets::Theme::kRunColours; ++id) {
            runs.add(id, named("run"));
            colours.insert(runs.list().back().colour);
        }
        QCOMPARE(colours.size(), std::size_t{widgets::Theme::kRunColours});
        const int freed = runs.find(3)->info.colour;
        runs.remove(3);
        runs.add(99, named("new"));
        QCOMPARE(runs.find(99)->info.colour, freed);
    }

    void runsFromSeveralSeedsAreOneGroup() {
        app::RunCollection runs;
        const auto add = [&](int id, const std::string& name, std::int64_t seed, double lr) {
            engine::Experiment experiment = named(name);
            experiment.training.seed = seed;
            experiment.training.lr = lr;
            runs.add(id, experiment);
        };
        add(1, "Dense", 42, 20.0);
        add(2, "Dense", 43, 20.0);
        QCOMPARE(runs.list()[1].name, QStringLiteral("Dense · seed 43"));
        QCOMPARE(runs.list()[1].seedGroup, 0); // two are compared one by one
        add(3, "Dense", 44, 20.0);
        add(4, "Dense", 44, 20.0); // once more: not another seed
        add(5, "Dense", 45, 5.0);  // another experiment
        const widgets::RunList list = runs.list();
        QVERIFY(list[0].seedGroup != 0);
        QCOMPARE(list[1].seedGroup, list[0].seedGroup);
        QCOMPARE(list[2].seedGroup, list[0].seedGroup);
        QCOMPARE(list[1].colour, list[0].colour);
        QCOMPARE(list[2].seedGroupName, QStringLiteral("Dense"));
        QCOMPARE(list[3].seedGroup, 0);
        QCOMPARE(list[4].seedGroup, 0);
        runs.remove(1);
        QCOMPARE(runs.list()[0].seedGroup, 0);
    }

    void seriesLivesWhileListsAreReplaced() {
        app::RunCollection runs;
        runs.add(1, named("a"));
        const widgets::RunSeries* series = runs.list().front().series;
        bool checked = false;
        connect(&runs, &app::RunCollection::listChanged, &runs, [&] {
            // Whoever still draws the old list may do so until this returns.
            checked = runs.isEmpty() && series->numbers().step == 0;
        });
        runs.remove(1);
        QVERIFY(checked);
    }

    void followsChanges() {
        app::RunCollection runs;
        runs.add(1, named("a"));
        const QSignalSpy changed(&runs, &app::RunCollection::experimentChanged);
        engine::EventRecord event;
        event.step = 3;
        event.event = "parameter_changed";
        event.field = "training.lr";
        event.from = "20";
        event.to = "5";
        runs.append(1, {event});
        QCOMPARE(runs.find(1)->current.training.lr, 5.0);
        QCOMPARE(runs.find(1)->atStart.training.lr, 20.0);
        QCOMPARE(changed.size(), 1);
        event.to = "a value of another version";
        runs.append(1, {event});
        QCOMPARE(runs.find(1)->current.training.lr, 5.0);
        runs.append(77, {event}); // a run that was removed meanwhile
        QCOMPARE(changed.size(), 1);
    }

    void titlesSayWhatIsSent() {
        engine::Experiment experiment = named("");
        QCOMPARE(app::experimentTitle(experiment), QStringLiteral("Dense"));
        engine::setField(experiment, "compression.method", std::string("topk"));
        engine::setField(experiment, "compression.ratio", 0.001);
        QVERIFY(app::experimentTitle(experiment).endsWith(QStringLiteral("0.001")));
        engine::setField(experiment, "compression.memory", std::string("none"));
        QVERIFY(app::methodText(experiment).endsWith(QStringLiteral("0.001, none")));
    }
};

QTEST_GUILESS_MAIN(TestRunCollection)
#include "test_run_collection.moc"
