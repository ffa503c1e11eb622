// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Two runs of the same seed, one tuned while it runs and taken back: the log explains every
// difference, and is enough to make the tuned run again.
#include "app/live_tuning.h"
#include "app/memory_question.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/training_run.h"
#include "tests/support/tuned_window.h"
#include "tests/support/window_settings.h"

#include <QPushButton>
#include <QTemporaryDir>

#include <algorithm>

using namespace gradlab;
using namespace gradlab::tests;
using engine::MemoryChange;
using engine::RunState;

namespace {

constexpr std::int64_t kSteps = 400;

} // namespace

class TestTuningLog : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { tests::prepareWindowTests(); }
    void cleanup() { QCOMPARE(tests::QtWarnings::take(), QByteArray()); }

    // The same seed twice: one run left alone, one tuned and taken back. Its log alone makes it
    // again, bit for bit.
    void theLogExplainsEveryDifference() {
        const QTemporaryDir folder;
        const auto alone = logOf(folder.filePath(QStringLiteral("alone")), false);
        const auto tuned = logOf(folder.filePath(QStringLiteral("tuned")), true);
        const auto changes = changesIn(tuned);
        QCOMPARE(changes.size(), std::size_t{7}); // four made, three taken back
        QVERIFY(changesIn(alone).empty());
        const auto plain = stepsIn(alone);
        const auto steps = stepsIn(tuned);
        QCOMPARE(steps.size(), plain.size());
        const std::uint64_t first = changes.front().step;
        for (std::size_t i = 0; i < steps.size(); ++i)
            if (steps[i].step < first)
                QVERIFY(sameBits(steps[i].loss, plain[i].loss));
        QVERIFY(!sameBits(steps.back().loss, plain.back().loss));
        replaysFromTheLog(tuned);
        if (QTest::currentTestFailed())
            return;
        runsAgainFromTheLog(tuned);
    }

private:
    static std::vector<engine::Record> logOf(const QString& folder, bool tune) {
        const auto window = makeWindow({topK(kSteps)}, folder.toStdString());
        window->stepOnce();
        waitForPause(*window);
        if (tune) {
            tuneAndTakeBack(*window);
            window->startOrResume();
        } else {
            window->startOrResume();
        }
        [&] { QTRY_VERIFY(window->session()->state() == RunState::Finished); }();
        return engine::readRunLog(run(*window).log);
    }

    static void waitForPause(app::MainWindow& window) {
        QTRY_VERIFY(window.session()->state() == RunState::Paused);
    }

    static void makeSteps(app::MainWindow& window, int steps) {
        for (int i = 0; i < steps; ++i) {
            const std::uint64_t before = window.session()->progress().members[0].step;
            window.stepOnce();
            QTRY_COMPARE_WITH_TIMEOUT(window.session()->progress().members[0].step, before + 1,
                                      20000);
            waitForPause(window);
        }
    }

    static void tuneAndTakeBack(app::MainWindow& window) {
        makeSteps(window, 4);
        edit(window, "training.lr", 0.25);
        makeSteps(window, 3);
        QTRY_COMPARE(run(window).current.training.lr, 0.25);
        edit(window, "compression.ratio", 0.2);
        makeSteps(window, 3);
        edit(window, "compression.method", std::string("qsgd"));
        window.question()->button(MemoryChange::Flush)->click();
        makeSteps(window, 3);
        window.live()->undoStack()->undo(); // the method
        makeSteps(window, 2);
        edit(window, "model.dropout", 0.1);
        makeSteps(window, 2);
        window.live()->undoStack()->undo();
        window.live()->undoStack()->undo(); // and the ratio, at the same boundary
        makeSteps(window, 2);
    }

    /// Each change begins where the last one ended, and what steps tell of themselves is what the
    /// experiment has become.
    static void replaysFromTheLog(const std::vector<engine::Record>& log) {
        const auto& start = std::get<engine::StartRecord>(log.front());
        engine::Experiment now = engine::parseExperiments(start.experimentJson, "log").front();
        const engine::Experiment atStart = now;
        bool flushed = false;
        std::vector<engine::EventRecord> before;
        for (const engine::Record& record : log) {
            if (const auto* step = std::get_if<engine::StepRecord>(&record)) {
                const bool all = flushed || now.compression.method == "qsgd";
                QCOMPARE(step->lr, now.training.lr);
                QCOMPARE(step->ratio, all ? 1.0 : ratioOf(now));
                flushed = false;
            }
            const auto* event = std::get_if<engine::EventRecord>(&record);
            if (event == nullptr || !isChange(*event))
                continue;
            const engine::FieldSpec& field = *engine::findField(event->field);
            QCOMPARE(engine::formatFieldValue(field, engine::getField(now, event->field)),
                     event->from);
            engine::setField(now, event->field, engine::parseFieldValue(field, event->to));
            flushed = flushed || event->memory == "flush";
            if (event->undoes > 0) {
                const auto undone =
                    std::find_if(before.begin(), before.end(), [&](const auto& earlier) {
                        return earlier.step == event->undoes && earlier.field == event->field;
                    });
                QVERIFY(undone != before.end());
                QCOMPARE(event->to, undone->from);
                QVERIFY(event->details.find("undoes the change at step " +
                                            std::to_string(undone->step)) != std::string::npos);
            }
            before.push_back(*event);
        }
        // All but the learning rate, which was not taken back.
        for (const engine::FieldSpec& field : engine::experimentSchema())
            QCOMPARE(engine::getField(now, field.path) == engine::getField(atStart, field.path),
                     field.path != "training.lr");
    }

    static double ratioOf(const engine::Experiment& experiment) {
        return std::get<double>(engine::getField(experiment, "compression.ratio"));
    }

    static void runsAgainFromTheLog(const std::vector<engine::Record>& log) {
        const auto& start = std::get<engine::StartRecord>(log.front());
        tests::CollectingSink sink;
        engine::TrainingRun again(
            {{engine::parseExperiments(start.experimentJson, "log").front(), &sink, {}}},
            tests::threadTransports(), tests::loadSmallCorpus, {});
        for (const engine::EventRecord& event : changesIn(log, true)) {
            engine::ParameterChange change;
            change.path = event.field;
            change.value = engine::parseFieldValue(*engine::findField(event.field), event.to);
            change.memory = engine::memoryChangeOf(event.memory).value_or(MemoryChange::Keep);
            again.change(0, change, event.step - 1);
        }
        again.start();
        again.wait();
        const auto steps = stepsIn(log);
        QCOMPARE(sink.steps.size(), steps.size());
        for (std::size_t i = 0; i < steps.size(); ++i)
            QVERIFY(sameBits(sink.steps[i].loss, steps[i].loss));
    }
};

QTEST_MAIN(TestTuningLog)
#include "test_tuning_log.moc"
