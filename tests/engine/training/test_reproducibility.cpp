// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The same bits twice, with any number of threads, across a stop and a resume, in each precision;
// nearly the same numbers for any number of workers without compression.
#include "engine/compression/compressor_registry.h"
#include "engine/core/errors.h"
#include "engine/training/checkpoint.h"
#include "tests/support/run_training.h"

#include <QTemporaryDir>
#include <QTest>

#include <bit>
#include <cmath>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

engine::Experiment smallExperiment(const std::string& precision) {
    engine::Experiment experiment = oracleExperiment();
    experiment.training.precision = precision;
    experiment.training.steps = 40;
    experiment.training.evalEvery = 15;
    experiment.model.dropout = 0.2;
    experiment.cluster.workers = 4;
    engine::setField(experiment, "compression.ratio", 0.05);
    return experiment;
}

void compareBits(const CollectedRun& a, const CollectedRun& b) {
    QCOMPARE(a.records.steps.size(), b.records.steps.size());
    for (std::size_t i = 0; i < a.records.steps.size(); ++i)
        QCOMPARE(std::bit_cast<std::uint64_t>(a.records.steps[i].loss),
                 std::bit_cast<std::uint64_t>(b.records.steps[i].loss));
    QCOMPARE(a.hash, b.hash);
}

} // namespace

class TestReproducibility : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { // before each row
        const void* precision = QTest::currentDataTag() != nullptr
                                    ? QTest::qData("precision", qMetaTypeId<QString>())
                                    : nullptr;
        if (precision != nullptr && *static_cast<const QString*>(precision) == "bf16" &&
            engine::bf16Ability() != engine::Bf16Ability::Ready)
            QSKIP(whyNotBf16(engine::bf16Ability()).data());
    }

    void workersAgreeWithoutCompression() {
        engine::Experiment experiment = smallExperiment("f64");
        experiment.training.steps = 200;
        setCompression(experiment, "none");
        experiment.cluster.workers = 1;
        const CollectedRun one = runToEnd(experiment);
        QCOMPARE(one.records.steps.size(), std::size_t{200});
        for (const int workers : {2, 4}) {
            experiment.cluster.workers = workers;
            const CollectedRun several = runToEnd(experiment);
            for (std::size_t i = 0; i < 200; ++i)
                QVERIFY2(std::abs(several.records.steps[i].loss - one.records.steps[i].loss) <=
                             1e-9,
                         qPrintable(QStringLiteral("step %1, %2 workers").arg(i + 1).arg(workers)));
        }
    }

    void sameRunTwice_data() { addMethodRows(); }
    void sameRunTwice() {
        const engine::Experiment experiment = fetched();
        compareBits(runToEnd(experiment), runToEnd(experiment));
    }

    void sameBitsForAnyThreads_data() { addMethodRows(); }
    void sameBitsForAnyThreads() {
        engine::Experiment experiment = fetched();
        experiment.cluster.threads = 1;
        const CollectedRun one = runToEnd(experiment);
        for (const int threads : {2, 8}) {
            experiment.cluster.threads = threads;
            compareBits(one, runToEnd(experiment));
            if (QTest::currentTestFailed())
                return;
        }
    }

    void overlapChangesNoBit_data() { addMethodRows(); }
    void overlapChangesNoBit() {
        engine::Experiment experiment = fetched();
        const CollectedRun with = runToEnd(experiment);
        experiment.cluster.overlap = false;
        compareBits(with, runToEnd(experiment));
    }

    // Every step looked into, parts sent during backward and after it.
    void inspectionChangesNoBit_data() { addMethodRows(); }
    void inspectionChangesNoBit() {
        engine::Experiment experiment = fetched();
        const CollectedRun without = runToEnd(experiment);
        QVERIFY(without.records.snapshots.empty());
        for (const bool overlap : {true, false}) {
            experiment.training.inspectEvery = 1;
            experiment.cluster.overlap = overlap;
            const CollectedRun with = runToEnd(experiment);
            QCOMPARE(with.records.snapshots.size(), with.records.steps.size());
            compareBits(without, with);
            for (std::size_t i = 0; i < with.records.steps.size(); ++i)
                QCOMPARE(with.records.steps[i].bytesUp, without.records.steps[i].bytesUp);
        }
    }

    void ringGatherGivesTheServersBits_data() { addMethodRows(); }
    void ringGatherGivesTheServersBits() {
        engine::Experiment experiment = fetched();
        if (experiment.compression.method == "none")
            QSKIP("a dense ring sums its chunks from different ranks on");
        const CollectedRun server = runToEnd(experiment);
        experiment.cluster.topology = "ring";
        compareBits(server, runToEnd(experiment));
    }

    // 2n steps = n, stop, resume, n more.
    void resumeIsExact_data() { addMethodRows(); }
    void resumeIsExact() {
        engine::Experiment experiment = fetched();
        experiment.training.momentum = experiment.compression.memory == "dgc" ? 0.0 : 0.5;
        experiment.training.lr = 1.0;
        const CollectedRun whole = runToEnd(experiment);

        const QTemporaryDir folder;
        const std::filesystem::path file =
            folder.filePath(QStringLiteral("half.safetensors")).toStdString();
        CollectedRun halves;
        {
            const auto first = makeTrainer(experiment, halves.records);
            for (int i = 0; i < 20; ++i)
                QVERIFY(first->advance({}));
            first->saveCheckpoint(file);
        }
        engine::TrainerOptions options;
        options.resumeFrom = file;
        const auto second = makeTrainer(experiment, halves.records, options);
        while (second->advance({})) {
        }
        halves.hash = second->parameterHash();
        compareBits(whole, halves);
        QCOMPARE(std::bit_cast<std::uint64_t>(*whole.records.end->testPerplexity),
                 std::bit_cast<std::uint64_t>(*halves.records.end->testPerplexity));
        QCOMPARE(std::bit_cast<std::uint64_t>(*whole.records.end->testPerplexityAtBest),
                 std::bit_cast<std::uint64_t>(*halves.records.end->testPerplexityAtBest));
        QCOMPARE(whole.records.steps.back().bytesUp, halves.records.steps.back().bytesUp);
        QCOMPARE(whole.records.end->bytesUp, halves.records.end->bytesUp);
    }

    // Saved between a change that flushes and the step that sends it.
    void resumeInTheMiddleOfAFlush_data() { addMethodRows(); }
    void resumeInTheMiddleOfAFlush() {
        engine::Experiment experiment = fetched();
        const bool isTopK = experiment.compression.method == "topk";
        const engine::ParameterChange change{"compression.method",
                                             std::string(isTopK ? "randomk" : "topk"),
                                             engine::MemoryChange::Flush};
        engine::setField(experiment, "compression.memory", std::string("auto"));
        if (experiment.compression.method == "none")
            engine::setField(experiment, "compression.memory", std::string("residual"));
        const QTemporaryDir folder;
        const std::filesystem::path file =
            folder.filePath(QStringLiteral("flush.safetensors")).toStdString();
        CollectedRun whole;
        CollectedRun halves;
        {
            const auto trainer = makeTrainer(experiment, whole.records);
            for (int i = 0; i < 20; ++i)
                QVERIFY(trainer->advance({}));
            trainer->apply(change);
            trainer->saveCheckpoint(file);
            halves.records = whole.records;
            while (trainer->advance({})) {
            }
            whole.hash = trainer->parameterHash();
        }
        engine::TrainerOptions options;
        options.resumeFrom = file;
        const auto resumed =
            makeTrainer(engine::readCheckpointExperiment(file), halves.records, options);
        while (resumed->advance({})) {
        }
        halves.hash = resumed->parameterHash();
        compareBits(whole, halves);
        // The step is dense where there was a memory, and only that one.
        const auto& steps = whole.records.steps;
        const bool waited = engine::resolved(experiment).compression.memory != "none";
        QCOMPARE(steps[20].density == 1.0, waited);
        QCOMPARE(steps[20].bytesUp > 4 * steps[21].bytesUp, waited);
        QVERIFY(steps[21].density < 1.0);
        QVERIFY(!waited || steps[20].residualNorm == 0.0);
        const engine::EventRecord& event = whole.records.events.front();
        QCOMPARE(event.memory, std::string("flush"));
        QVERIFY2(event.details.find("sent whole with this step") != std::string::npos,
                 event.details.c_str());
    }

    void checkpointOfAnotherCorpusIsRefused() {
        engine::Experiment experiment = smallExperiment("f32");
        const QTemporaryDir folder;
        const std::filesystem::path file =
            folder.filePath(QStringLiteral("a.safetensors")).toStdString();
        CollectingSink sink;
        const auto trainer = makeTrainer(experiment, sink);
        trainer->saveCheckpoint(file);
        QCOMPARE(engine::readCheckpointStep(file), std::uint64_t{0});
        engine::TrainerOptions options;
        options.resumeFrom = file;
        experiment.corpus.valid = experiment.corpus.source;
        QVERIFY_EXCEPTION_THROWN((void)makeTrainer(experiment, sink, options), engine::DataError);
    }

private:
    // Every method with every memory that it may have, in f32; some also in f64 and bf16.
    static void addMethodRows() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("memory");
        QTest::addColumn<QString>("precision");
        for (const engine::MethodInfo& method : engine::compressionMethods())
            for (const std::string& memory : method.memories)
                QTest::addRow("%s with memory %s", method.name.c_str(), memory.c_str())
                    << QString::fromStdString(method.name) << QString::fromStdString(memory)
                    << QStringLiteral("f32");
        QTest::addRow("topk in f64")
            << QStringLiteral("topk") << QStringLiteral("residual") << QStringLiteral("f64");
        QTest::addRow("topk in bf16")
            << QStringLiteral("topk") << QStringLiteral("residual") << QStringLiteral("bf16");
        QTest::addRow("none in bf16")
            << QStringLiteral("none") << QStringLiteral("none") << QStringLiteral("bf16");
    }
    static engine::Experiment fetched() {
        const auto text = [](const char* name) {
            return QTest::qData(name, qMetaTypeId<QString>());
        };
        const auto value = [&](const char* name) {
            return static_cast<QString*>(text(name))->toStdString();
        };
        engine::Experiment experiment = smallExperiment(value("precision"));
        setCompression(experiment, value("method"), value("memory"));
        return experiment;
    }
};

QTEST_GUILESS_MAIN(TestReproducibility)
#include "test_reproducibility.moc"
