// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Looking into steps: sums that are those of the step records, requests for the next step. That no
// bit depends on it is test_reproducibility's.
#include "engine/compression/compressor_registry.h"
#include "engine/core/errors.h"
#include "engine/training/gradient_inspector.h"
#include "tests/support/run_training.h"

#include <QTest>

#include <bit>
#include <cmath>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

engine::Experiment smallExperiment(const std::string& method, const std::string& memory) {
    engine::Experiment experiment = oracleExperiment();
    experiment.training.precision = "f32";
    experiment.training.steps = 12;
    experiment.training.evalEvery = 100;
    experiment.cluster.workers = 4;
    setCompression(experiment, method, memory);
    engine::setField(experiment, "compression.ratio", 0.05);
    return experiment;
}

void addMethodRows() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<QString>("memory");
    for (const engine::MethodInfo& method : engine::compressionMethods())
        for (const std::string& memory : method.memories)
            QTest::addRow("%s with memory %s", method.name.c_str(), memory.c_str())
                << QString::fromStdString(method.name) << QString::fromStdString(memory);
}

} // namespace

class TestInspection : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void sumsAreThoseOfTheStep_data() { addMethodRows(); }
    void sumsAreThoseOfTheStep() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        engine::Experiment experiment = smallExperiment(method.toStdString(), memory.toStdString());
        experiment.training.inspectEvery = 3;
        const CollectedRun run = runToEnd(experiment);
        QCOMPARE(run.records.snapshots.size(), std::size_t{4});
        for (const auto& snapshot : run.records.snapshots) {
            const engine::StepRecord& record = run.records.steps[snapshot->step - 1];
            QCOMPARE(record.step, snapshot->step);
            QCOMPARE(snapshot->step % 3, std::uint64_t{0});
            QCOMPARE(snapshot->workers.size(), std::size_t{4});
            double norm = 0.0;
            double kept = 0.0;
            double error = 0.0;
            double residual = 0.0;
            std::uint64_t selected = 0;
            for (const engine::WorkerSnapshot& worker : snapshot->workers)
                for (const engine::TensorSnapshot& tensor : worker.tensors) {
                    norm += tensor.squaredNorm;
                    kept += tensor.squaredKept;
                    error += tensor.squaredError;
                    residual += tensor.squaredResidual;
                    selected += tensor.selected;
                    QVERIFY(tensor.squaredGradient > 0.0);
                }
            QVERIFY(std::fabs(kept / norm - record.energyKept) <= 1e-9);
            QVERIFY(std::fabs(std::sqrt(error / norm) - record.error) <= 1e-6);
            QVERIFY(std::fabs(std::sqrt(residual) - record.residualNorm) <=
                    1e-6 * record.residualNorm);
            QCOMPARE(static_cast<double>(selected) / 4.0, record.selected);
            QVERIFY(snapshot->cost > 0.0 && snapshot->stepCost > 0.0);
            if (!memory.contains(QStringLiteral("none")))
                QVERIFY(residual > 0.0 || method == QStringLiteral("none"));
        }
    }

    void overlapCountsEveryChoice_data() {
        QTest::addColumn<QString>("pattern");
        QTest::newRow("worker") << QStringLiteral("worker");
        QTest::newRow("shared") << QStringLiteral("shared");
    }
    void overlapCountsEveryChoice() {
        QFETCH(QString, pattern);
        engine::Experiment experiment = smallExperiment("randomk", "none");
        engine::setField(experiment, "compression.pattern", pattern.toStdString());
        experiment.training.inspectEvery = 12;
        const CollectedRun run = runToEnd(experiment);
        const engine::GradientSnapshot& snapshot = *run.records.snapshots.front();
        for (std::size_t t = 0; t < snapshot.tensors.size(); ++t) {
            const auto& by = snapshot.tensors[t].chosenBy;
            QCOMPARE(by.size(), std::size_t{4});
            std::uint64_t choices = 0;
            for (std::size_t j = 0; j < by.size(); ++j)
                choices += (j + 1) * by[j];
            std::uint64_t selected = 0;
            for (const engine::WorkerSnapshot& worker : snapshot.workers)
                selected += worker.tensors[t].selected;
            QCOMPARE(choices, selected);
            if (pattern == QStringLiteral("shared"))
                QCOMPARE(by[3], snapshot.workers[0].tensors[t].selected);
        }
    }

    void aRequestIsForOneStep() {
        const engine::Experiment experiment = smallExperiment("topk", "residual");
        CollectingSink sink;
        const auto trainer = makeTrainer(experiment, sink);
        QVERIFY(trainer->advance({}));
        trainer->inspectNext({2, 0});
        for (int i = 0; i < 3; ++i)
            QVERIFY(trainer->advance({}));
        QCOMPARE(sink.snapshots.size(), std::size_t{1});
        const engine::GradientSnapshot& seen = *sink.snapshots.front();
        QCOMPARE(seen.step, std::uint64_t{2});
        QCOMPARE(QString::fromStdString(seen.tensors[0].name), QStringLiteral("embedding.weight"));
        QCOMPARE(seen.tensors[0].columns, std::uint64_t{12});
        const auto rows = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(seen.tensors[0].rows, engine::HeatMap::kFocusRows));
        QCOMPARE(seen.workers[2].tensors[0].map.rows, rows);
        QCOMPARE(seen.workers[1].tensors[0].map.rows,
                 static_cast<std::uint32_t>(engine::HeatMap::kRows));
        QVERIFY(seen.tensors[0].rows > engine::HeatMap::kRows); // else the two are the same
    }

    void documentsOfOtherProcessesAreChecked() {
        const std::vector<std::vector<std::uint32_t>> chosen = {{0, 3, 9}, {}};
        engine::InspectionPlan plan;
        plan.tensors = {{"a", 2, 5, {}}, {"b", 1, 4, {}}};
        engine::WorkerInspection inspection;
        inspection.snapshot.tensors.resize(2);
        inspection.snapshot.tensors[0].elements = 10;
        inspection.snapshot.tensors[1].elements = 4;
        inspection.snapshot.tensors[0].squaredNorm = 1.0 / 3.0;
        inspection.chosen = chosen;
        const engine::ByteBuffer bytes = engine::writeInspection(inspection);
        const engine::WorkerInspection back = engine::readInspection(bytes, plan);
        QVERIFY(back.chosen == chosen);
        QCOMPARE(std::bit_cast<std::uint64_t>(back.snapshot.tensors[0].squaredNorm),
                 std::bit_cast<std::uint64_t>(1.0 / 3.0));
        for (std::size_t size = 0; size < bytes.size(); ++size)
            QVERIFY_EXCEPTION_THROWN(
                (void)engine::readInspection(engine::ByteView(bytes).first(size), plan),
                engine::ProtocolError);
        engine::ByteBuffer longer = bytes;
        longer.push_back(std::byte{0});
        const auto refused = [&](const engine::ByteBuffer& document) {
            QVERIFY_EXCEPTION_THROWN((void)engine::readInspection(document, plan),
                                     engine::ProtocolError);
        };
        refused(longer);
        for (const std::vector<std::uint32_t>& bad :
             {std::vector<std::uint32_t>{0, 3, 10}, {3, 3, 9}, {3, 0, 9}}) {
            inspection.chosen[0] = bad;
            refused(engine::writeInspection(inspection));
        }
        plan.tensors[1].columns = 5;
        refused(bytes);
    }

    void theWholeModelIsOneTensor() {
        engine::Experiment experiment = smallExperiment("topk", "residual");
        experiment.compression.scope = "model";
        experiment.training.inspectEvery = 6;
        const CollectedRun run = runToEnd(experiment);
        QCOMPARE(run.records.snapshots.size(), std::size_t{2});
        QCOMPARE(run.records.snapshots[0]->tensors.size(), std::size_t{1});
        QCOMPARE(run.records.snapshots[0]->tensors[0].columns,
                 run.records.starts.front().parameters);
    }
};

QTEST_GUILESS_MAIN(TestInspection)
#include "test_inspection.moc"
