// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Snapshots as lines: every bit comes back, damaged lines are refused, a run's folder keeps those
// that its experiment asked for.
#include "engine/core/errors.h"
#include "engine/metrics/gradient_snapshot_json.h"
#include "engine/metrics/inspection_log.h"
#include "engine/metrics/run_folder.h"
#include "tests/support/run_training.h"
#include "tests/support/sample_records.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>
#include <limits>

using namespace gradlab;
using namespace gradlab::tests;
using engine::GradientSnapshot;

namespace {

/// Of a real run of four workers, whose third step was asked for.
std::shared_ptr<const GradientSnapshot> realSnapshot(const std::string& method) {
    engine::Experiment experiment = oracleExperiment();
    experiment.training.precision = "f32";
    experiment.training.steps = 3;
    experiment.training.inspectEvery = 3;
    experiment.cluster.workers = 4;
    setCompression(experiment, method);
    return runToEnd(experiment).records.snapshots.at(0);
}

std::shared_ptr<const GradientSnapshot> smallSnapshot(std::uint64_t step, bool scheduled) {
    GradientSnapshot snapshot;
    snapshot.step = step;
    snapshot.scheduled = scheduled;
    return std::make_shared<const GradientSnapshot>(snapshot);
}

std::string lineOf(const GradientSnapshot& snapshot) {
    std::string line = toJsonLine(snapshot);
    line.pop_back();
    return line;
}

} // namespace

class TestInspectionLog : public QObject {
    Q_OBJECT

private slots:
    void everyBitComesBack_data() {
        QTest::addColumn<QString>("method");
        for (const char* method : {"none", "topk", "dgc", "qsgd"})
            QTest::newRow(method) << QString(method);
    }
    void everyBitComesBack() {
        QFETCH(QString, method);
        const auto snapshot = realSnapshot(method.toStdString());
        const CommaLocale german;
        const std::string line = lineOf(*snapshot);
        QCOMPARE(engine::snapshotLineStep(line), std::optional<std::uint64_t>(3));
        const GradientSnapshot back = engine::parseSnapshotLine(line);
        QCOMPARE(QString::fromStdString(lineOf(back)), QString::fromStdString(line));
        const engine::TensorSnapshot& a = snapshot->workers[3].tensors[1];
        const engine::TensorSnapshot& b = back.workers[3].tensors[1];
        QVERIFY(a.map.toSend == b.map.toSend && a.map.stayed == b.map.stayed);
        QVERIFY(a.magnitudes.all == b.magnitudes.all && a.levels.drawn == b.levels.drawn);
        QVERIFY(a.squaredNorm == b.squaredNorm && a.squaredKept == b.squaredKept);
        QVERIFY(snapshot->tensors[1].chosenBy == back.tensors[1].chosenBy);
    }

    void staysWithinItsBound() {
        const auto snapshot = realSnapshot("qsgd");
        for (const engine::WorkerSnapshot& worker : snapshot->workers)
            for (const engine::TensorSnapshot& tensor : worker.tensors) {
                const std::size_t bytes = sizeof(tensor) + 16 * tensor.magnitudes.all.size() +
                                          16 * tensor.levels.drawn.size() +
                                          3 * tensor.map.toSend.size();
                QVERIFY(bytes <= engine::kMostTensorBytes);
            }
    }

    void whatIsNotFiniteComesBackAsNan() {
        GradientSnapshot snapshot;
        snapshot.cost = std::numeric_limits<double>::infinity();
        QVERIFY(std::isnan(engine::parseSnapshotLine(lineOf(snapshot)).cost));
    }

    void damagedLinesAreRefused() {
        const std::string good = lineOf(*realSnapshot("topk"));
        const auto with = [&](const std::string& what, const std::string& by) {
            std::string bad = good;
            const auto at = bad.find(what);
            return at == std::string::npos ? std::string() : bad.replace(at, what.size(), by);
        };
        for (const std::string& bad :
             {std::string("{"), std::string("[]"), std::string("{\"kind\":\"step\"}"),
              good.substr(0, good.size() / 2), with("\"first_bin\":", "\"first_bin\":99"),
              with("\"rows\":32", "\"rows\":33"), with("\"to_send\":\"", "\"to_send\":\"!"),
              with("\"all\":[", "\"all\":[1,"), with("\"all\":[", "\"all\":[\"x\","),
              with("\"zeros\":", "\"zeros\":-"), with("\"zeros\":", "\"zeros\":1.5e"),
              with("\"rank\":0", "\"rank\":5000000000"),
              with("\"workers\":[{", "\"workers\":[7,{")})
            QVERIFY_EXCEPTION_THROWN((void)engine::parseSnapshotLine(bad), engine::DataError);
    }

    void filesAreReadByStep() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("inspections.jsonl").toStdString();
        QVERIFY(engine::InspectionFile(path).steps().empty());
        {
            engine::InspectionLog log(path);
            for (const std::uint64_t step : {10U, 20U, 30U})
                log.append(*smallSnapshot(step, true));
        }
        std::ofstream(path, std::ios::app) << "{\"kind\":\"inspection\",\"step\":40,\"me"; // cut
        const engine::InspectionFile file(path);
        QCOMPARE(file.steps(), (std::vector<std::uint64_t>{10, 20, 30}));
        QCOMPARE(file.read(1).step, std::uint64_t{20});
        engine::cutInspectionsAfter(path, 20);
        QCOMPARE(engine::InspectionFile(path).steps(), (std::vector<std::uint64_t>{10, 20}));
        std::filesystem::remove(path);
        QVERIFY_EXCEPTION_THROWN((void)file.read(0), engine::DataError);
    }

    void aRunsFolderKeepsWhatWasAskedFor() {
        const QTemporaryDir base;
        const std::filesystem::path path = base.filePath("run").toStdString();
        {
            const auto folders = engine::newRunFolders(path, {engine::defaultExperiment()});
            folders.front()->record(sampleStart());
            folders.front()->snapshot(smallSnapshot(1, false)); // the window's own look
            QVERIFY(!std::filesystem::exists(folders.front()->inspections()));
            folders.front()->snapshot(smallSnapshot(2, true));
        }
        QCOMPARE(engine::InspectionFile(path / "inspections.jsonl").steps(),
                 (std::vector<std::uint64_t>{2}));
        QCOMPARE(engine::readRunLog(path / "metrics.jsonl").size(), std::size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestInspectionLog)
#include "test_inspection_log.moc"
