// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/scripted_change.h"
#include "engine/core/errors.h"

#include <QTest>

using namespace gradlab;

class TestScriptedChange : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void readsStepFieldAndValue() {
        const app::ScriptedChange change =
            app::parseScriptedChange("400:compression.memory=residual");
        QCOMPARE(change.step, std::uint64_t{400});
        QCOMPARE(change.change.path, std::string("compression.memory"));
        QCOMPARE(std::get<std::string>(change.change.value), std::string("residual"));
        QVERIFY(change.member.empty());
    }

    void readsTheRun() {
        const app::ScriptedChange change = app::parseScriptedChange("7:Top-k:training.lr=5");
        QCOMPARE(change.member, std::string("Top-k"));
        QCOMPARE(std::get<double>(change.change.value), 5.0);
        QVERIFY(app::concerns(change, "Top-k 1 %"));
        QVERIFY(!app::concerns(change, "Random-k 1 %"));
    }

    void readsWhatHappensToTheMemory() {
        QVERIFY(app::parseScriptedChange("4:compression.memory=none").change.memory ==
                engine::MemoryChange::Keep);
        const app::ScriptedChange flush =
            app::parseScriptedChange("4:Top-k:compression.memory=none,flush");
        QVERIFY(flush.change.memory == engine::MemoryChange::Flush);
        QCOMPARE(std::get<std::string>(flush.change.value), std::string("none"));
        QVERIFY(app::parseScriptedChange("4:compression.method=qsgd,drop").change.memory ==
                engine::MemoryChange::Drop);
    }

    void readsRates() {
        const app::ScriptedChange change =
            app::parseScriptedChange("1:cluster.link.bandwidth=10Gbit");
        QCOMPARE(std::get<double>(change.change.value), 10e9);
    }

    void refuses_data() {
        QTest::addColumn<QString>("text");
        QTest::newRow("nothing") << "";
        QTest::newRow("no step") << "compression.memory=residual";
        QTest::newRow("step 0") << "0:training.lr=5";
        QTest::newRow("negative") << "-1:training.lr=5";
        QTest::newRow("no value") << "5:training.lr";
        QTest::newRow("empty value") << "5:training.lr=";
        QTest::newRow("unknown field") << "5:training.learning=1";
        QTest::newRow("not live") << "5:model.hidden=8";
        QTest::newRow("not a number") << "5:training.lr=much";
        QTest::newRow("not keep, flush or drop") << "5:compression.memory=none,burn";
        QTest::newRow("flush of a number") << "5:training.lr=1,flush";
        QTest::newRow("step too large") << "99999999999999999999:training.lr=1";
    }
    void refuses() {
        QFETCH(QString, text);
        QVERIFY_EXCEPTION_THROWN((void)app::parseScriptedChange(text.toStdString()),
                                 engine::ExperimentError);
    }

    void actionsOnWorkers() {
        const app::ScriptedAction kill = app::parseScriptedAction("150:2=kill");
        QCOMPARE(kill.step, std::uint64_t{150});
        QCOMPARE(kill.rank, 2U);
        QVERIFY(kill.action == engine::WorkerAction::Kill);
        QVERIFY(app::parseScriptedAction("1:0=thaw").action == engine::WorkerAction::Thaw);
        for (const char* wrong :
             {"", "5", "5:1", "5=kill", "0:1=kill", "5:x=kill", "5:1=shout", "5:1=kill ", "=:kill"})
            QVERIFY_EXCEPTION_THROWN((void)app::parseScriptedAction(wrong),
                                     engine::ExperimentError);
    }
};

QTEST_GUILESS_MAIN(TestScriptedChange)
#include "test_scripted_change.moc"
