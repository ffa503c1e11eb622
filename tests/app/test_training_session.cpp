// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The bridge against the real engine: states, order of facts, late records, scripts, ends.
#include "app/training_session.h"
#include "engine/core/errors.h"
#include "engine/metrics/run_log.h"
#include "tests/support/small_run.h"

#include <QDirIterator>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <map>

using namespace gradlab;
using engine::RunState;

namespace {

template <class T>
std::vector<T> only(const std::vector<engine::Record>& records) {
    std::vector<T> found;
    for (const engine::Record& record : records)
        if (const T* one = std::get_if<T>(&record))
            found.push_back(*one);
    return found;
}

/// A session with everything that it says.
struct Watched {
    explicit Watched(engine::CorpusLoader loader = tests::loadSmallCorpus)
        : session(tests::threadTransports(), std::move(loader)) {
        QObject::connect(&session, &app::TrainingSession::recordsArrived,
                         [this](int id, const std::vector<engine::Record>& some) {
                             auto& all = records[id];
                             all.insert(all.end(), some.begin(), some.end());
                         });
        QObject::connect(&session, &app::TrainingSession::stateChanged,
                         [this](RunState state) { states.push_back(state); });
        QObject::connect(&session, &app::TrainingSession::failed,
                         [this](const QString& text, int) { errors.push_back(text); });
    }
    [[nodiscard]] std::size_t steps(int id) { return only<engine::StepRecord>(records[id]).size(); }

    std::map<int, std::vector<engine::Record>> records;
    std::vector<RunState> states;
    QStringList errors;
    app::TrainingSession session;
};

} // namespace

class TestTrainingSession : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void runsToTheEnd() {
        Watched w;
        const std::vector<int> ids = w.session.prepare({tests::smallRace(30), {}, {}});
        QCOMPARE(ids.size(), std::size_t{2});
        QVERIFY(!w.session.isActive());
        w.session.start();
        QTRY_VERIFY(w.session.state() == RunState::Finished);
        for (const int id : ids) {
            const auto& records = w.records[id];
            QVERIFY(std::holds_alternative<engine::StartRecord>(records.front()));
            QVERIFY(std::holds_alternative<engine::EndRecord>(records.back()));
            const auto steps = only<engine::StepRecord>(records);
            QCOMPARE(steps.size(), std::size_t{30});
            for (std::size_t i = 0; i < steps.size(); ++i)
                QCOMPARE(steps[i].step, i + 1);
            QCOMPARE(only<engine::EndRecord>(records).front().reason, std::string("completed"));
        }
        QCOMPARE(w.session.exitCode(), 0);
        QVERIFY(w.states.back() == RunState::Finished);
    }

    void pausesStepsAndGoesOn() {
        Watched w;
        const int id = w.session.prepare({{tests::smallExperiment()}, {}, {}}).front();
        w.session.stepOnce(); // starts an idle run
        QTRY_VERIFY(w.session.state() == RunState::Paused);
        QTRY_COMPARE(w.steps(id), std::size_t{1});
        w.session.stepOnce();
        QTRY_COMPARE(w.steps(id), std::size_t{2});
        QTRY_VERIFY(w.session.state() == RunState::Paused);
        w.session.resume();
        QTRY_VERIFY(w.session.state() == RunState::Running);
        QTRY_VERIFY(w.steps(id) > 20);
        w.session.pause();
        QTRY_VERIFY(w.session.state() == RunState::Paused);
        const std::uint64_t step = w.session.progress().members.front().step;
        QTRY_COMPARE(w.steps(id), std::size_t{step});
        QCOMPARE(w.session.progress().members.front().step, step);
        w.session.stop();
        QVERIFY(w.session.state() == RunState::Stopping);
        QTRY_VERIFY(w.session.state() == RunState::Finished);
        QCOMPARE(only<engine::EndRecord>(w.records[id]).front().reason, std::string("stopped"));
    }

    void commandsOutOfPlaceDoNothing() {
        Watched w;
        w.session.start();
        w.session.pause();
        w.session.resume();
        w.session.stepOnce();
        w.session.stop();
        w.session.discard();
        w.session.change(1, {"training.lr", 1.0});
        QVERIFY(w.states.empty());
        (void)w.session.prepare({{tests::smallExperiment("Once", 5)}, {}, {}});
        w.session.pause(); // not started
        w.session.start();
        w.session.start();
        QTRY_VERIFY(w.session.state() == RunState::Finished);
        w.session.resume();
        w.session.stop();
        QTest::qWait(100);
        QVERIFY(w.session.state() == RunState::Finished);
    }

    void changesOneRunOrAll() {
        Watched w;
        const std::vector<int> ids = w.session.prepare({tests::smallRace(), {}, {}});
        w.session.stepOnce();
        QTRY_VERIFY(w.session.state() == RunState::Paused);
        w.session.change(ids[1], {"training.lr", 0.5});
        w.session.stepOnce();
        QTRY_COMPARE(w.steps(ids[1]), std::size_t{2});
        QTRY_COMPARE(w.steps(ids[0]), std::size_t{2});
        QCOMPARE(only<engine::StepRecord>(w.records[ids[0]]).back().lr, 1.0);
        QCOMPARE(only<engine::StepRecord>(w.records[ids[1]]).back().lr, 0.5);
        w.session.change(app::TrainingSession::kAllRuns, {"training.lr", 0.25});
        w.session.stepOnce();
        QTRY_COMPARE(w.steps(ids[0]), std::size_t{3});
        QTRY_COMPARE(w.steps(ids[1]), std::size_t{3});
        for (const int id : ids)
            QCOMPARE(only<engine::StepRecord>(w.records[id]).back().lr, 0.25);
    }

    void scriptedChangeActsAfterItsStep() {
        Watched w;
        const std::vector<int> ids =
            w.session.prepare({tests::smallRace(20),
                               {},
                               {app::parseScriptedChange("8:Top:compression.memory=residual"),
                                app::parseScriptedChange("5:training.lr=0.5")}});
        w.session.start();
        QTRY_VERIFY(w.session.state() == RunState::Finished);
        for (const int id : ids)
            for (const engine::StepRecord& step : only<engine::StepRecord>(w.records[id]))
                QCOMPARE(step.lr, step.step <= 5 ? 1.0 : 0.5);
        QCOMPARE(only<engine::EventRecord>(w.records[ids[0]]).size(), std::size_t{1});
        const auto events = only<engine::EventRecord>(w.records[ids[1]]);
        QCOMPARE(events.size(), std::size_t{2});
        QCOMPARE(events[1].field, std::string("compression.memory"));
        for (const engine::StepRecord& step : only<engine::StepRecord>(w.records[ids[1]]))
            QCOMPARE(step.residualNorm > 0.0, step.step > 8);
    }

    void dropsRecordsOfADiscardedRun() {
        Watched w;
        const int first = w.session.prepare({{tests::smallExperiment("First")}, {}, {}}).front();
        w.session.start();
        QTRY_VERIFY(w.steps(first) > 5);
        w.session.discard();
        QVERIFY(w.session.state() == RunState::Idle);
        const std::size_t seen = w.records[first].size();
        const int second =
            w.session.prepare({{tests::smallExperiment("Second", 40)}, {}, {}}).front();
        QVERIFY(second != first);
        w.session.start();
        QTRY_VERIFY(w.session.state() == RunState::Finished);
        QCOMPARE(w.records[first].size(), seen);
        QCOMPARE(w.steps(second), std::size_t{40});
        QTRY_COMPARE(w.session.endingRuns(), std::size_t{0});
    }

    void failureBecomesOneLineAndAnExitCode() {
        Watched w([](const engine::CorpusSettings&,
                     const std::function<void(double)>&) -> std::shared_ptr<const engine::Corpus> {
            throw engine::DataError("no text: nowhere.txt; name a file that exists");
        });
        (void)w.session.prepare({{tests::smallExperiment()}, {}, {}});
        w.session.start();
        QTRY_VERIFY(w.session.state() == RunState::Failed);
        QCOMPARE(w.errors,
                 QStringList{QStringLiteral("no text: nowhere.txt; name a file that exists")});
        QCOMPARE(w.session.exitCode(), 3);
        // The session is as good as new.
        (void)w.session.prepare({{tests::smallExperiment()}, {}, {}});
        QVERIFY(w.session.state() == RunState::Idle);
        QCOMPARE(w.session.exitCode(), 0);
    }

    void failureInARaceNamesTheRun() {
        Watched w;
        auto race = tests::smallRace(400);
        race[1].training.lr = 1e6; // each update multiplies the weights by a million
        race[1].training.weightDecay = 1.0;
        (void)w.session.prepare({race, {}, {}});
        w.session.start();
        QTRY_VERIFY_WITH_TIMEOUT(w.session.state() == RunState::Failed, 60000);
        QCOMPARE(w.errors.size(), 1);
        QVERIFY2(w.errors.front().startsWith(QString::fromStdString(race[1].name) + ": "),
                 qPrintable(w.errors.front()));
        QCOMPARE(w.session.exitCode(), 5);
    }

    void diesAtOnceMidRun() {
        auto w = std::make_unique<Watched>();
        (void)w->session.prepare({tests::smallRace(), {}, {}});
        w->session.start();
        QTRY_VERIFY(w->session.state() == RunState::Running);
        QElapsedTimer clock;
        clock.start();
        w.reset();
        QVERIFY2(clock.elapsed() < 2000, QByteArray::number(clock.elapsed()).constData());
    }

    void writesARunFolder() {
        const QTemporaryDir folder;
        const QString out = folder.filePath("race");
        Watched w;
        (void)w.session.prepare({tests::smallRace(12), out.toStdString(), {}});
        w.session.start();
        QTRY_VERIFY(w.session.state() == RunState::Finished);
        int logs = 0;
        QDirIterator files(out, {QStringLiteral("metrics.jsonl")}, QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const auto records = engine::readRunLog(files.next().toStdString());
            QCOMPARE(only<engine::StepRecord>(records).size(), std::size_t{12});
            ++logs;
        }
        QCOMPARE(logs, 2);
        // A used folder is refused, and what was there goes on.
        Watched other;
        QVERIFY_EXCEPTION_THROWN(
            (void)other.session.prepare({tests::smallRace(12), out.toStdString(), {}}),
            engine::ExperimentError);
        QVERIFY(!other.session.isPrepared());
    }
};

QTEST_GUILESS_MAIN(TestTrainingSession)
#include "test_training_session.moc"
