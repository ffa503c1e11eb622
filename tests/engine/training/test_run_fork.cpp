// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Forks: the same bits without changes, what may change and what not, what the log says.
#include "engine/core/errors.h"
#include "engine/metrics/record_json.h"
#include "engine/training/checkpoint.h"
#include "engine/training/run_fork.h"
#include "tests/support/small_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <filesystem>
#include <utility>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

constexpr std::uint64_t kForkStep = 12;

/// A run that was stopped after kForkStep steps, in a folder of its own.
struct Origin {
    explicit Origin(engine::Experiment what) : experiment(std::move(what)) {
        CollectingSink sink;
        const auto trainer = makeTrainer(experiment, sink);
        while (trainer->progress().step < kForkStep)
            trainer->advance({});
        trainer->saveCheckpoint(checkpoint());
    }
    [[nodiscard]] std::filesystem::path folder() const { return temporary.path().toStdString(); }
    [[nodiscard]] std::filesystem::path checkpoint() const {
        return folder() / "checkpoints" / engine::checkpointName(kForkStep);
    }
    [[nodiscard]] engine::TrainerOptions options() const {
        engine::TrainerOptions options;
        options.resumeFrom = checkpoint();
        options.forkedFrom = "runs/origin";
        return options;
    }
    engine::Experiment experiment;
    QTemporaryDir temporary;
};

engine::Experiment experimentOf(const char* method, const char* memory) {
    engine::Experiment experiment = smallExperiment("Origin", 30);
    setCompression(experiment, method, memory);
    return experiment;
}

std::uint64_t bits(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

std::string refusal(const engine::Experiment& origin, const engine::Experiment& wanted) {
    try {
        engine::requireForkable(origin, wanted);
    } catch (const engine::ExperimentError& error) {
        return error.what();
    }
    return {};
}

} // namespace

class TestRunFork : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void withoutChangesTheBitsAreTheSame_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("memory");
        QTest::newRow("dense") << "none"
                               << "none";
        QTest::newRow("topk, residual") << "topk"
                                        << "residual";
        QTest::newRow("dgc") << "dgc"
                             << "dgc";
        QTest::newRow("qsgd") << "qsgd"
                              << "none";
    }
    void withoutChangesTheBitsAreTheSame() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        const Origin origin(experimentOf(qPrintable(method), qPrintable(memory)));
        const CollectedRun whole = runToEnd(origin.experiment);
        const CollectedRun fork = runToEnd(origin.experiment, origin.options());
        QCOMPARE(fork.records.steps.size(), whole.records.steps.size() - kForkStep);
        for (std::size_t i = 0; i < fork.records.steps.size(); ++i) {
            const engine::StepRecord& own = fork.records.steps[i];
            const engine::StepRecord& before = whole.records.steps[i + kForkStep];
            QCOMPARE(own.step, before.step);
            QCOMPARE(bits(own.loss), bits(before.loss));
            QCOMPARE(own.bytesMessage, before.bytesMessage);
        }
        QCOMPARE(fork.hash, whole.hash);
        const engine::StartRecord& start = fork.records.starts.front();
        QCOMPARE(start.forkedFrom, std::string("runs/origin"));
        QCOMPARE(start.forkedStep, kForkStep);
        QVERIFY(start.forkedBytesMessage > 0.0);
        QCOMPARE(fork.records.events.front().event, std::string("forked"));
        QCOMPARE(fork.records.events.front().details, std::string("from step 12 of runs/origin"));
    }

    void aChangedForkIsTheRunThatWasChanged_data() {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::newRow("a memory comes") << "none"
                                        << "residual";
        QTest::newRow("a memory goes") << "residual"
                                       << "none";
        QTest::newRow("another memory") << "residual"
                                        << "dgc";
    }
    void aChangedForkIsTheRunThatWasChanged() {
        QFETCH(QString, from);
        QFETCH(QString, to);
        const Origin origin(experimentOf("topk", qPrintable(from)));
        engine::Experiment wanted = origin.experiment;
        wanted.training.lr = 0.25;
        setCompression(wanted, "topk", to.toStdString());
        const CollectedRun fork = runToEnd(wanted, origin.options());

        CollectedRun tuned; // the same changes live, on the run itself
        const auto trainer = makeTrainer(origin.experiment, tuned.records);
        while (trainer->progress().step < kForkStep)
            trainer->advance({});
        trainer->apply({"training.lr", 0.25, engine::MemoryChange::Keep});
        trainer->apply({"compression.memory", to.toStdString(), engine::MemoryChange::Keep});
        while (trainer->advance({})) {
        }
        QCOMPARE(fork.hash, trainer->parameterHash());
        QCOMPARE(fork.records.steps.front().lr, 0.25);
        const std::string& details = fork.records.events.front().details;
        QVERIFY2(details.find(from.toStdString() + " → " + to.toStdString()) != std::string::npos,
                 details.c_str());
        QVERIFY2(details.find("1 → 0.25") != std::string::npos, details.c_str());
        QVERIFY(
            fork.records.starts.front().experimentJson.find("\"lr\":0.25") != std::string::npos ||
            fork.records.starts.front().experimentJson.find("\"lr\": 0.25") != std::string::npos);
    }

    void anotherMethodGoesOn() {
        const Origin origin(experimentOf("topk", "residual"));
        engine::Experiment wanted = origin.experiment;
        setCompression(wanted, "qsgd", "none");
        wanted.compression.scope = "model";
        wanted.training.momentum = 0.5;
        const CollectedRun fork = runToEnd(wanted, origin.options());
        QCOMPARE(fork.records.end->reason, std::string("completed"));
        QCOMPARE(fork.records.steps.front().step, kForkStep + 1);
    }

    void whatCannotChangeIsNamed() {
        const engine::Experiment origin = experimentOf("topk", "residual");
        QCOMPARE(refusal(origin, origin), std::string());
        const auto refused = [&](const char* path, const engine::FieldValue& value) {
            engine::Experiment wanted = origin;
            engine::setField(wanted, path, value);
            const std::string text = refusal(origin, wanted);
            QVERIFY2(text.starts_with(std::string(path) + " cannot change in a fork"),
                     (std::string(path) + ": " + text).c_str());
        };
        refused("model.hidden", std::int64_t{16});
        refused("model.tied", false);
        refused("corpus.vocabulary", std::int64_t{50});
        refused("training.batch", std::int64_t{8});
        refused("training.bptt", std::int64_t{7});
        refused("training.precision", std::string("f64"));
        refused("cluster.workers", std::int64_t{4});
        engine::Experiment wanted = origin;
        wanted.name = "another name is no change";
        wanted.training.steps = 500;
        wanted.model.dropout = 0.1;
        QCOMPARE(refusal(origin, wanted), std::string());
        setCompression(wanted, "topk", "none");
        wanted.cluster.transport = "zmq";
        QVERIFY(refusal(origin, wanted).starts_with("compression.memory cannot change"));
    }

    void theTrainerRefusesToo() {
        const Origin origin(experimentOf("none", "none"));
        engine::Experiment wanted = origin.experiment;
        wanted.model.hidden = 16;
        CollectingSink sink;
        QVERIFY_EXCEPTION_THROWN((void)makeTrainer(wanted, sink, origin.options()),
                                 engine::ExperimentError);
        wanted = origin.experiment;
        wanted.training.steps = kForkStep; // nothing is left to do
        QVERIFY_EXCEPTION_THROWN((void)makeTrainer(wanted, sink, origin.options()),
                                 engine::ExperimentError);
        QVERIFY(sink.starts.empty());
    }

    void pointsAreFound() {
        const Origin origin(experimentOf("none", "none"));
        QVERIFY(engine::forkPoints(origin.folder() / "nowhere").empty());
        std::filesystem::copy(origin.checkpoint(),
                              origin.checkpoint().parent_path() / engine::checkpointName(4));
        const auto points = engine::forkPoints(origin.folder());
        QCOMPARE(points.size(), std::size_t{2});
        QCOMPARE(points[0].step, std::uint64_t{4});
        const std::string folder = origin.folder().string();
        QCOMPARE(engine::findForkPoint(folder).step, kForkStep);
        QCOMPARE(engine::findForkPoint(folder + "@4").step, std::uint64_t{4});
        for (const char* wrong : {"@5", "@", "@x", "/nothing"})
            QVERIFY_EXCEPTION_THROWN((void)engine::findForkPoint(folder + wrong),
                                     engine::DataError);
    }

    void theOriginIsInTheLog() {
        engine::StartRecord start;
        start.experimentJson = "{}";
        const std::string without = engine::toJsonLine(start);
        QVERIFY(without.find("forked_from") == std::string::npos);
        start.forkedFrom = "runs/a \"b\"";
        start.forkedStep = 40;
        start.forkedBytesMessage = 1234.5;
        std::string line = engine::toJsonLine(start);
        line.pop_back(); // the line break
        const auto read = engine::parseJsonLine(line);
        QVERIFY(read.has_value());
        const auto& back = std::get<engine::StartRecord>(*read);
        QCOMPARE(back.forkedFrom, start.forkedFrom);
        QCOMPARE(back.forkedStep, start.forkedStep);
        QCOMPARE(back.forkedBytesMessage, start.forkedBytesMessage);
    }
};

QTEST_GUILESS_MAIN(TestRunFork)
#include "test_run_fork.moc"
