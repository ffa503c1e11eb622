// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The same experiments with workers as threads and as processes, through the program: every loss,
// every count of bytes and every parameter must be the same bits.
#include "engine/core/precision.h"
#include "engine/metrics/gradient_snapshot_json.h"
#include "engine/metrics/inspection_log.h"
#include "engine/metrics/run_log.h"
#include "tests/support/cli_process.h"
#include "tests/support/oracle_options.h"

#include <QTest>

#include <bit>
#include <map>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

struct Outcome {
    std::vector<engine::StepRecord> steps;
    std::vector<engine::EvalRecord> evals;
    QByteArray parameters;
};

Outcome run(const CliFolder& folder, const QString& transport, const QStringList& options) {
    const QString log = transport + ".jsonl";
    const QString parameters = transport + ".safetensors";
    const CliResult result =
        folder.run(options + QStringList{"--transport", transport, "--log", log, "--save",
                                         parameters, "--quiet"});
    Outcome outcome;
    if (result.exitCode != 0) {
        qWarning("%s", qPrintable(result.error));
        return outcome;
    }
    outcome.parameters = folder.read(parameters);
    for (const engine::Record& record : engine::readRunLog(folder.file(log))) {
        if (const auto* step = std::get_if<engine::StepRecord>(&record))
            outcome.steps.push_back(*step);
        if (const auto* eval = std::get_if<engine::EvalRecord>(&record))
            outcome.evals.push_back(*eval);
    }
    return outcome;
}

/// The tiny run with some of its options replaced (each option has one value).
QStringList tinyRunWith(int steps, const QStringList& options) {
    QStringList all = tinyRun(steps);
    for (const QString& option : options) {
        const qsizetype at = all.indexOf(option);
        if (option.startsWith("--") && at >= 0)
            all.remove(at, 2);
    }
    return all + options;
}

bool sameBits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The first thing that differs; empty: nothing.
QString difference(const Outcome& a, const Outcome& b) {
    if (a.steps.empty() || a.steps.size() != b.steps.size())
        return QString("%1 steps and %2").arg(a.steps.size()).arg(b.steps.size());
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
        const engine::StepRecord& x = a.steps[i];
        const engine::StepRecord& y = b.steps[i];
        const QString at = QString(" at step %1: ").arg(x.step);
        if (!sameBits(x.loss, y.loss))
            return "loss" + at +
                   QString("%1 and %2").arg(x.loss, 0, 'g', 17).arg(y.loss, 0, 'g', 17);
        if (!sameBits(x.gradNorm, y.gradNorm) || !sameBits(x.residualNorm, y.residualNorm) ||
            !sameBits(x.error, y.error) || !sameBits(x.energyKept, y.energyKept))
            return "norms" + at;
        if (!sameBits(x.bytesMessage, y.bytesMessage) || !sameBits(x.bytesUp, y.bytesUp) ||
            !sameBits(x.bytesDown, y.bytesDown) || !sameBits(x.selected, y.selected) ||
            !sameBits(x.ratio, y.ratio))
            return "bytes" + at +
                   QString("%1/%2/%3 and %4/%5/%6")
                       .arg(x.bytesMessage)
                       .arg(x.bytesUp)
                       .arg(x.bytesDown)
                       .arg(y.bytesMessage)
                       .arg(y.bytesUp)
                       .arg(y.bytesDown);
        if (x.tokens != y.tokens || x.contributors != y.contributors)
            return "tokens or contributors" + at;
    }
    if (a.evals.size() != b.evals.size())
        return "number of evaluations";
    for (std::size_t i = 0; i < a.evals.size(); ++i)
        if (!sameBits(a.evals[i].perplexity, b.evals[i].perplexity))
            return "perplexity at step " + QString::number(a.evals[i].step);
    if (a.parameters.isEmpty() || a.parameters != b.parameters)
        return "parameters";
    return {};
}

/// Times differ from run to run.
QString withoutCosts(engine::GradientSnapshot snapshot) {
    snapshot.cost = snapshot.stepCost = 0.0;
    for (engine::WorkerSnapshot& worker : snapshot.workers)
        worker.cost = 0.0;
    return QString::fromStdString(engine::toJsonLine(snapshot));
}

/// What the run with processes had to tell besides steps.
QString told(const CliFolder& folder) {
    QString text;
    for (const engine::Record& record : engine::readRunLog(folder.file("zmq.jsonl")))
        if (const auto* event = std::get_if<engine::EventRecord>(&record))
            text += QString("\n  step %1 %2: %3")
                        .arg(event->step)
                        .arg(QString::fromStdString(event->event),
                             QString::fromStdString(event->details));
    return text;
}

} // namespace

class TestCliCluster : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void oracleCurves_data() {
        QTest::addColumn<int>("index");
        const nlohmann::json runs = oracleRuns();
        for (std::size_t i = 0; i < runs.size(); ++i)
            QTest::addRow("%zu %s x%d", i, runs[i].at("method").get<std::string>().c_str(),
                          runs[i].at("workers").get<int>())
                << static_cast<int>(i);
    }
    void oracleCurves() {
        QFETCH(int, index);
        const QStringList options = oracleOptions(oracleRuns().at(static_cast<std::size_t>(index)));
        const CliFolder folder;
        const QString found =
            difference(run(folder, "threads", options), run(folder, "zmq", options));
        QVERIFY2(found.isEmpty(), qPrintable(found + told(folder)));
    }

    void experiments_data() {
        QTest::addColumn<QStringList>("options");
        const auto row = [](const char* name, const QStringList& options) {
            QTest::newRow(name) << options;
        };
        row("dense ring x3", {"--workers", "3", "--batch", "12", "--topology", "ring"});
        row("dense ring x2 f64", {"--workers", "2", "--topology", "ring", "--precision", "f64"});
        row("dense ring x2 bf16", {"--workers", "2", "--topology", "ring", "--precision", "bf16"});
        row("topk server x4 bf16",
            {"--workers", "4", "--method", "topk", "--precision", "bf16", "--dropout", "0.3"});
        row("16-bit ring bf16",
            {"--workers", "2", "--topology", "ring", "--values", "bf16", "--precision", "bf16"});
        row("16-bit ring", {"--workers", "2", "--topology", "ring", "--values", "bf16"});
        row("topk ring x4", {"--workers", "4", "--topology", "ring", "--method", "topk"});
        row("randomk ring", {"--workers", "2", "--topology", "ring", "--method", "randomk"});
        row("qsgd ring", {"--workers", "2", "--topology", "ring", "--method", "qsgd"});
        row("dgc server dropout", {"--workers", "4", "--method", "dgc", "--dropout", "0.3"});
        row("qsgd server x4", {"--workers", "4", "--method", "qsgd", "--levels", "16"});
        row("randomk shared", {"--workers", "2", "--method", "randomk", "--pattern", "shared"});
        row("topk model scope", {"--workers", "2", "--method", "topk", "--scope", "model"});
        row("flushed", {"--workers", "3", "--batch", "12", "--method", "topk", "--change",
                        "20:compression.method=qsgd,flush"});
        row("flushed ring", {"--topology", "ring", "--method", "dgc", "--change",
                             "20:compression.method=topk,flush"});
        row("flushed to a dense ring", {"--topology", "ring", "--method", "topk", "--change",
                                        "20:compression.method=none,flush"});
        row("dropped", {"--method", "topk", "--change", "20:compression.memory=none,drop"});
        row("recompressed", {"--workers", "2", "--method", "topk", "--downlink", "recompress"});
        row("momentum, no overlap",
            {"--workers", "2", "--momentum", "0.9", "--lr", "1", "--no-overlap"});
    }
    void experiments() {
        QFETCH(QStringList, options);
        const qsizetype precision = options.indexOf("--precision");
        if (precision >= 0 && options[precision + 1] == "bf16" &&
            engine::bf16Ability() != engine::Bf16Ability::Ready)
            QSKIP(whyNotBf16(engine::bf16Ability()).data());
        const QStringList all = tinyRunWith(60, options);
        const CliFolder folder;
        const QString found = difference(run(folder, "threads", all), run(folder, "zmq", all));
        QVERIFY2(found.isEmpty(), qPrintable(found + told(folder)));
    }

    // What is seen inside a process is what is seen inside a thread.
    void inspections_data() {
        QTest::addColumn<QStringList>("options");
        QTest::newRow("topk x3") << QStringList{"--workers", "3",        "--batch",
                                                "12",        "--method", "topk"};
        QTest::newRow("qsgd ring") << QStringList{"--topology", "ring", "--method", "qsgd"};
        QTest::newRow("dgc f64") << QStringList{"--method", "dgc", "--precision", "f64"};
    }
    void inspections() {
        QFETCH(QStringList, options);
        const CliFolder folder;
        std::map<QString, engine::InspectionFile> files;
        for (const QString& transport : {QString("threads"), QString("zmq")}) {
            const CliResult result = folder.run(
                tinyRunWith(20, options + QStringList{"--inspect-every", "5", "--transport",
                                                      transport, "--out", transport, "--quiet"}));
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
            files.emplace(transport,
                          engine::InspectionFile(folder.file(transport + "/inspections.jsonl")));
        }
        const engine::InspectionFile& threads = files.at("threads");
        const engine::InspectionFile& processes = files.at("zmq");
        QCOMPARE(threads.steps(), (std::vector<std::uint64_t>{5, 10, 15, 20}));
        QCOMPARE(processes.steps(), threads.steps());
        for (std::size_t i = 0; i < threads.steps().size(); ++i)
            QCOMPARE(withoutCosts(processes.read(i)), withoutCosts(threads.read(i)));
    }

    // n steps, stop, resume, n more: what the processes hold travels into the checkpoint and back.
    void resumedRuns_data() {
        QTest::addColumn<QString>("topology");
        QTest::newRow("server") << "server";
        QTest::newRow("ring") << "ring";
    }
    void resumedRuns() {
        QFETCH(QString, topology);
        const QStringList options{"--transport", "zmq",    "--method", "topk",
                                  "--topology",  topology, "--quiet"};
        const CliFolder folder;
        const CliResult whole =
            folder.run(tinyRun(40) + options + QStringList{"--save", "whole.safetensors"});
        QVERIFY2(whole.exitCode == 0, qPrintable(whole.error));
        QCOMPARE(folder.run(tinyRun(20) + options + QStringList{"--out", "run"}).exitCode, 0);
        const CliResult second = folder.run({"train", "--resume", "run", "--steps", "40", "--save",
                                             "parts.safetensors", "--quiet"});
        QVERIFY2(second.exitCode == 0, qPrintable(second.error));
        QVERIFY(!folder.read("whole.safetensors").isEmpty());
        QVERIFY(folder.read("whole.safetensors") == folder.read("parts.safetensors"));
    }

    // The numbers leave the finite range in a worker's process: the run ends as with threads.
    void divergenceEndsWith5() {
        const CliFolder folder;
        const CliResult result = folder.run(
            tinyRun(400) + QStringList{"--transport", "zmq", "--lr", "1e6", "--weight-decay", "1"});
        QCOMPARE(result.exitCode, 5);
        QVERIFY2(result.error.contains("not finite"), qPrintable(result.error));
    }
};

QTEST_GUILESS_MAIN(TestCliCluster)
#include "test_cli_cluster.moc"
