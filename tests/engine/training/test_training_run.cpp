// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of a run: states, pause, single step, stop, changes at a step, races, and what
// happens on errors.
#include "engine/core/errors.h"
#include "engine/training/checkpoint.h"
#include "engine/training/training_run.h"
#include "tests/support/run_training.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <mutex>

using namespace gradlab;
using namespace gradlab::tests;
using engine::RunState;
using engine::TrainingRun;

namespace {

// A run of one or more members with everything it said.
struct Bench {
    explicit Bench(std::vector<engine::Experiment> experiments,
                   const std::filesystem::path& folder = {}) {
        sinks.resize(experiments.size());
        std::vector<engine::RunMember> members;
        for (std::size_t i = 0; i < experiments.size(); ++i) {
            sinks[i] = std::make_unique<CollectingSink>();
            engine::RunMember member;
            member.experiment = experiments[i];
            member.sink = sinks[i].get();
            member.options.checkpointFolder = folder;
            members.push_back(member);
        }
        TrainingRun::Callbacks callbacks;
        callbacks.stateChanged = [this](RunState state) {
            const std::lock_guard lock(mutex);
            states.push_back(state);
        };
        run = std::make_unique<TrainingRun>(
            std::move(members), threadTransports(),
            [](const engine::CorpusSettings& settings, const std::function<void(double)>&) {
                return loadExperimentCorpus(settings);
            },
            callbacks);
    }
    std::vector<RunState> seen() {
        const std::lock_guard lock(mutex);
        return states;
    }
    std::vector<std::unique_ptr<CollectingSink>> sinks;
    std::mutex mutex;
    std::vector<RunState> states;     ///< guarded by mutex
    std::unique_ptr<TrainingRun> run; ///< last: ends before the sinks
};

engine::Experiment endless() {
    engine::Experiment experiment = oracleExperiment();
    experiment.training.precision = "f32";
    experiment.training.steps = 1000000;
    experiment.training.epochs = 1000000;
    return experiment;
}

bool hasEvent(const CollectingSink& sink, const std::string& event) {
    return std::any_of(sink.events.begin(), sink.events.end(),
                       [&](const auto& record) { return record.event == event; });
}

} // namespace

class TestTrainingRun : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void completes() {
        engine::Experiment experiment = endless();
        experiment.training.steps = 12;
        Bench bench({experiment});
        QCOMPARE(bench.run->state(), RunState::Idle);
        bench.run->start();
        bench.run->wait();
        QCOMPARE(bench.run->state(), RunState::Finished);
        const std::vector<RunState> expected{RunState::Loading, RunState::Running,
                                             RunState::Finished};
        QTRY_COMPARE(bench.seen(), expected); // the last call may come after wait()
        QCOMPARE(bench.sinks[0]->steps.size(), std::size_t{12});
        QCOMPARE(bench.sinks[0]->end->reason, std::string("completed"));
        QCOMPARE(bench.run->progress().members.at(0).step, std::uint64_t{12});
    }

    void pauseSingleStepResumeStop() {
        Bench bench({endless()});
        bench.run->start();
        QTRY_VERIFY(bench.run->progress().members.at(0).step > 3);
        bench.run->pause();
        QTRY_COMPARE(bench.run->state(), RunState::Paused);
        const std::uint64_t paused = bench.run->progress().members.at(0).step;
        bench.run->stepOnce();
        QTRY_COMPARE(bench.run->progress().members.at(0).step, paused + 1);
        QTRY_COMPARE(bench.run->state(), RunState::Paused);
        bench.run->resume();
        QTRY_VERIFY(bench.run->progress().members.at(0).step > paused + 3);
        bench.run->stop();
        bench.run->wait();
        QCOMPARE(bench.run->state(), RunState::Finished);
        QCOMPARE(bench.sinks[0]->end->reason, std::string("stopped"));
        QCOMPARE(bench.sinks[0]->end->steps, bench.sinks[0]->steps.back().step);
    }

    void singleStepStartsAnIdleRun() {
        Bench bench({endless()});
        bench.run->stepOnce();
        QTRY_COMPARE(bench.run->state(), RunState::Paused);
        QCOMPARE(bench.run->progress().members.at(0).step, std::uint64_t{1});
    }

    void pausesAfterAStep() {
        Bench bench({endless()});
        bench.run->pauseAfter(7);
        bench.run->start();
        QTRY_COMPARE(bench.run->state(), RunState::Paused);
        QCOMPARE(bench.run->progress().members.at(0).step, std::uint64_t{7});
    }

    void stopSavesWhereThereIsAFolder() {
        const QTemporaryDir folder;
        Bench bench({endless()}, folder.path().toStdString());
        bench.run->start();
        QTRY_VERIFY(bench.run->progress().members.at(0).step > 2);
        bench.run->stop();
        bench.run->wait();
        const auto file = engine::latestCheckpoint(folder.path().toStdString());
        QVERIFY(file.has_value());
        QCOMPARE(engine::readCheckpointStep(*file), bench.sinks[0]->end->steps);
    }

    void aChangeActsAtItsStepAndIsRecorded() {
        engine::Experiment experiment = endless();
        experiment.training.steps = 20;
        setCompression(experiment, "topk", "none");
        Bench bench({experiment});
        bench.run->change(0, {"compression.memory", std::string("residual")}, 10);
        bench.run->change(0, {"training.lr", 2.0}, 15);
        bench.run->start();
        bench.run->wait();
        const CollectingSink& sink = *bench.sinks[0];
        QCOMPARE(sink.steps.size(), std::size_t{20});
        for (const engine::StepRecord& step : sink.steps) {
            QCOMPARE(step.residualNorm > 0.0, step.step > 10);
            QCOMPARE(step.lr, step.step > 15 ? 2.0 : 8.0);
        }
        QCOMPARE(sink.events.size(), std::size_t{2});
        QCOMPARE(sink.events[0].event, std::string("parameter_changed"));
        QCOMPARE(sink.events[0].step, std::uint64_t{11});
        QCOMPARE(sink.events[0].from, std::string("none"));
        QCOMPARE(sink.events[0].to, std::string("residual"));
    }

    void everyLiveChangeIsAcceptedByARun() {
        engine::Experiment experiment = endless();
        experiment.training.steps = 60;
        setCompression(experiment, "topk");
        Bench bench({experiment});
        const std::vector<engine::ParameterChange> changes{
            {"compression.ratio", 0.1},
            {"training.clip", 0.5},
            {"model.dropout", 0.1},
            {"cluster.link.bandwidth", 10e9},
            {"cluster.link.latency", 0.0},
            {"compression.method", std::string("randomk")},
            {"compression.method", std::string("qsgd")},
            {"compression.levels", std::int64_t{16}},
            {"compression.method", std::string("dgc")},
            {"compression.memory", std::string("none"), engine::MemoryChange::Drop},
            {"compression.method", std::string("none")}};
        for (std::size_t i = 0; i < changes.size(); ++i)
            bench.run->change(TrainingRun::kAllMembers, changes[i], 4 * (i + 1));
        bench.run->start();
        bench.run->wait();
        QCOMPARE(bench.run->state(), RunState::Finished);
        for (const auto& event : bench.sinks[0]->events)
            QVERIFY2(event.event != "warning", event.details.c_str());
        const auto count = [&](const char* name) {
            return std::count_if(bench.sinks[0]->events.begin(), bench.sinks[0]->events.end(),
                                 [&](const auto& event) { return event.event == name; });
        };
        QCOMPARE(count("parameter_changed"), static_cast<std::ptrdiff_t>(changes.size()));
        // The memory, left to the method: QSGD has none, DGC its own.
        QCOMPARE(count("parameter_followed"), std::ptrdiff_t{2});
    }

    void anInvalidChangeIsAWarningAndChangesNothing() {
        engine::Experiment experiment = endless();
        experiment.training.steps = 5;
        Bench bench({experiment});
        bench.run->change(0, {"training.lr", -1.0});
        bench.run->change(0, {"model.hidden", std::int64_t{13}});
        bench.run->start();
        bench.run->wait();
        QCOMPARE(bench.run->state(), RunState::Finished);
        QCOMPARE(std::count_if(bench.sinks[0]->events.begin(), bench.sinks[0]->events.end(),
                               [](const auto& event) { return event.event == "warning"; }),
                 2);
        QCOMPARE(bench.sinks[0]->steps.back().lr, 8.0);
    }

    void aRaceStepsInTurn() {
        engine::Experiment first = endless();
        first.training.steps = 6;
        engine::Experiment second = first;
        setCompression(second, "topk");
        Bench bench({first, second});
        bench.run->start();
        bench.run->wait();
        for (const auto& sink : bench.sinks) {
            QCOMPARE(sink->steps.size(), std::size_t{6});
            QCOMPARE(sink->end->reason, std::string("completed"));
        }
    }

    // A member whose numbers leave the finite range ends; the other goes on; the run has failed.
    void divergenceEndsOneMember() {
        engine::Experiment good = endless();
        good.training.steps = 30;
        engine::Experiment bad = good;
        bad.training.lr = 1e5;
        bad.training.weightDecay = 1.0; // every step multiplies the weights by −10⁵
        Bench bench({bad, good});
        bench.run->start();
        bench.run->wait();
        QCOMPARE(bench.run->state(), RunState::Failed);
        QVERIFY2(bench.sinks[0]->end->reason == "diverged", bench.sinks[0]->end->message.c_str());
        QCOMPARE(bench.sinks[1]->end->reason, std::string("completed"));
        QVERIFY_EXCEPTION_THROWN(std::rethrow_exception(bench.run->error()), engine::NumericError);
    }

    void aMissingFileFails() {
        engine::Experiment experiment = endless();
        experiment.corpus.source = "/nonexistent/text.txt";
        Bench bench({experiment});
        bench.run->start();
        bench.run->wait();
        QCOMPARE(bench.run->state(), RunState::Failed);
        QVERIFY_EXCEPTION_THROWN(std::rethrow_exception(bench.run->error()), engine::DataError);
    }

    void destroyingARunningRunEndsIt() {
        Bench bench({endless()});
        bench.run->start();
        QTRY_VERIFY(bench.run->progress().members.at(0).step > 1);
        bench.run.reset();
        QCOMPARE(bench.sinks[0]->end->reason, std::string("stopped"));
        QVERIFY(!hasEvent(*bench.sinks[0], "warning"));
    }
};

QTEST_GUILESS_MAIN(TestTrainingRun)
#include "test_training_run.moc"
