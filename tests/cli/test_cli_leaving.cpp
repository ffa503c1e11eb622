// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How a cluster ends: Ctrl-C, a coordinator that is killed, workers whose coordinator is not there
// or goes away. Nobody stays behind, and what was done is saved. Local workers have two seconds.
#include "engine/metrics/run_log.h"
#include "tests/support/cli_process.h"
#include "tests/support/cluster_run.h"
#include "tests/support/free_endpoint.h"
#include "tests/support/process_table.h"

#include <QElapsedTimer>
#include <QTest>

#include <csignal>
#include <memory>
#include <variant>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

constexpr std::chrono::milliseconds kGoneWithin{2000};

/// Never ends by itself, evaluates every 10 steps.
QStringList endlessRun(const QString& topology) {
    return tinyRun(100000000) + QStringList{"--epochs",    "1000000", "--patience", "1000000",
                                            "--method",    "topk",    "--topology", topology,
                                            "--transport", "zmq"};
}

QByteArray numberOf(const QProcess& process) {
    return QByteArray::number(process.processId());
}

/// Workers name the program that started them on their command line.
std::vector<std::int64_t> workersOf(const QByteArray& coordinator) {
    return processesWith({"--parent-pid", coordinator});
}

bool waitForText(QProcess& process, const QByteArray& text, QByteArray& seen) {
    while (!seen.contains(text)) {
        if (!process.waitForReadyRead(60000))
            return false;
        seen += process.readAllStandardOutput();
    }
    return true;
}
bool waitForText(QProcess& process, const QByteArray& text) {
    QByteArray seen;
    return waitForText(process, text, seen);
}

void signalTo(std::int64_t pid, int signal) {
    (void)::kill(static_cast<pid_t>(pid), signal);
}

/// Once it is the program: until then it is a copy of this test, with this test's handlers.
bool catchesInterrupts(std::int64_t pid) {
    if (!QFile::symLinkTarget(QString("/proc/%1/exe").arg(pid)).endsWith("/gradlab-cli"))
        return false;
    QFile status(QString("/proc/%1/status").arg(pid));
    if (!status.open(QIODevice::ReadOnly))
        return false;
    for (const QByteArray& line : status.readAll().split('\n'))
        if (line.startsWith("SigCgt:"))
            return (line.mid(7).trimmed().toULongLong(nullptr, 16) >> (SIGINT - 1) & 1U) != 0;
    return false;
}

engine::EndRecord endOf(const std::string& log) {
    for (const engine::Record& record : engine::readRunLog(log))
        if (const auto* end = std::get_if<engine::EndRecord>(&record))
            return *end;
    return {};
}

/// Started by hand, at a coordinator that may come later.
struct HandStarted {
    HandStarted(const CliFolder& folder, const QString& endpoint, int rejoin) {
        for (const char* name : {"a", "b"}) {
            processes.push_back(std::make_unique<QProcess>());
            folder.start(*processes.back(), {"worker", "--connect", endpoint, "--name", name,
                                             "--rejoin", QString::number(rejoin)});
        }
    }
    std::vector<std::unique_ptr<QProcess>> processes;
};

} // namespace

class TestCliLeaving : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void ctrlC_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("frozen");
        QTest::newRow("server") << "server" << false;
        QTest::newRow("ring") << "ring" << false;
        QTest::newRow("server, a worker is frozen") << "server" << true;
        QTest::newRow("ring, a worker is frozen") << "ring" << true;
    }
    // Saved and gone; going on from there makes the run that was never interrupted.
    void ctrlC() {
        QFETCH(QString, topology);
        QFETCH(bool, frozen);
        const CliFolder folder;
        const QString endpoint = freeEndpoint();
        const QStringList bound = {"--bind", endpoint};
        QProcess process;
        folder.start(process, endlessRun(topology) + bound + QStringList{"--out", "run"});
        QVERIFY(waitForText(process, "valid perplexity"));
        const QByteArray coordinator = numberOf(process);
        const auto workers = workersOf(coordinator);
        QCOMPARE(workers.size(), std::size_t{2});
        if (frozen)
            signalTo(workers.back(), SIGSTOP);
        signalTo(process.processId(), SIGINT);
        const CliResult result = CliFolder::finish(process);
        QVERIFY2(result.exitCode == 130, qPrintable(result.error));
        QVERIFY2(result.error.contains("--resume run"), qPrintable(result.error));
        QVERIFY(workersOf(coordinator).empty()); // it has waited for them
        const engine::EndRecord end = endOf(folder.file("run/metrics.jsonl"));
        QCOMPARE(QString::fromStdString(end.reason), QString("stopped"));
        QVERIFY(folder.has(QString("run/checkpoints/step-%1.safetensors").arg(end.steps)));
        // The address is free again.
        const QString steps = QString::number(end.steps + 5);
        const CliResult again =
            folder.run({"train", "--resume", "run", "--steps", steps, "--save", "on.safetensors"});
        QVERIFY2(again.exitCode == 0, qPrintable(again.error));
        if (frozen)
            return; // a memory may have been lost with it
        const CliResult whole =
            folder.run(tinyRun(static_cast<int>(end.steps) + 5) +
                       QStringList{"--epochs", "1000000", "--patience", "1000000", "--method",
                                   "topk", "--topology", topology, "--save", "whole.safetensors"});
        QVERIFY2(whole.exitCode == 0, qPrintable(whole.error));
        QVERIFY(!folder.read("whole.safetensors").isEmpty());
        QVERIFY(folder.read("on.safetensors") == folder.read("whole.safetensors"));
    }

    // Until it has had time to save, more of them change nothing.
    void stoppedBySignals_data() {
        QTest::addColumn<QList<int>>("signalNumbers");
        QTest::newRow("Ctrl-C twice") << QList<int>{SIGINT, SIGINT};
        QTest::newRow("Ctrl-C, then a service's end") << QList<int>{SIGINT, SIGTERM, SIGTERM};
        QTest::newRow("closed terminal") << QList<int>{SIGHUP};
    }
    void stoppedBySignals() {
        QFETCH(QList<int>, signalNumbers);
        const CliFolder folder;
        QProcess process;
        folder.start(process, endlessRun("server") + QStringList{"--out", "run"});
        QVERIFY(waitForText(process, "valid perplexity"));
        for (const int number : signalNumbers)
            signalTo(process.processId(), number);
        const CliResult result = CliFolder::finish(process);
        QVERIFY2(result.exitCode == 130, qPrintable(result.error));
        QVERIFY2(result.error.contains("--resume run"), qPrintable(result.error));
        const engine::EndRecord end = endOf(folder.file("run/metrics.jsonl"));
        QCOMPARE(QString::fromStdString(end.reason), QString("stopped"));
        QVERIFY(folder.has(QString("run/checkpoints/step-%1.safetensors").arg(end.steps)));
    }

    // Whoever keeps asking is not held up by what hangs.
    void ctrlCAgainLeavesAtOnce() {
        const CliFolder folder;
        QProcess process;
        folder.start(process, endlessRun("server"));
        QVERIFY(waitForText(process, "valid perplexity"));
        const QByteArray coordinator = numberOf(process);
        const auto workers = workersOf(coordinator);
        QCOMPARE(workers.size(), std::size_t{2});
        signalTo(workers.back(), SIGSTOP); // the first one has something to wait for
        do
            signalTo(process.processId(), SIGINT);
        while (!process.waitForFinished(100) && process.error() == QProcess::Timedout);
        QCOMPARE(process.exitCode(), 130);
        QVERIFY(waitUntil([&] { return workersOf(coordinator).empty(); }, kGoneWithin));
    }

    // gradlab-cli train | head -1: the words are lost, the work is not.
    void nobodyReadsTheOutput() {
        const CliFolder folder;
        QProcess shell;
        shell.setWorkingDirectory(folder.path(""));
        shell.start("/bin/bash",
                    QStringList{"-c", "set -o pipefail; \"$0\" \"$@\" | head -1",
                                QStringLiteral(GRADLAB_BINARY_DIR "/bin/gradlab-cli")} +
                        tinyRun(200) + QStringList{"--out", "run"});
        const CliResult result = CliFolder::finish(shell);
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QCOMPARE(result.out.count('\n'), 1);
        QVERIFY2(result.error.isEmpty(), qPrintable(result.error));
        QCOMPARE(QString::fromStdString(endOf(folder.file("run/metrics.jsonl")).reason),
                 QString("completed"));
        QVERIFY(folder.has("run/checkpoints/step-200.safetensors"));
    }

    // What cannot be resumed is not advised.
    void stoppedBeforeAnythingWasMade() {
        const CliFolder folder;
        QProcess process;
        folder.write("long.txt",
                     QByteArray("a text that takes a while to read\n").repeated(500000));
        folder.start(process,
                     endlessRun("server") + QStringList{"--corpus", "long.txt", "--out", "run"});
        QVERIFY(waitUntil([&] { return catchesInterrupts(process.processId()); }));
        signalTo(process.processId(), SIGINT);
        const CliResult result = CliFolder::finish(process);
        QVERIFY2(result.exitCode == 130, qPrintable(result.error));
        const bool saved = !folder.entries("run/checkpoints").isEmpty();
        QVERIFY2(result.error.contains("--resume run") == saved, qPrintable(result.error));
        QVERIFY2(saved || result.error.contains("nothing was made yet") ||
                     result.error.contains("no checkpoint yet, remove run"),
                 qPrintable(result.error));
    }

    void killedCoordinator_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("frozen");
        QTest::newRow("server") << "server" << false;
        QTest::newRow("ring") << "ring" << false;
        QTest::newRow("a worker is frozen") << "server" << true;
    }
    void killedCoordinator() {
        QFETCH(QString, topology);
        QFETCH(bool, frozen);
        const CliFolder folder;
        QProcess process;
        folder.start(process, endlessRun(topology));
        QVERIFY(waitForText(process, "valid perplexity"));
        const QByteArray coordinator = numberOf(process);
        const auto workers = workersOf(coordinator);
        QCOMPARE(workers.size(), std::size_t{2});
        if (frozen)
            signalTo(workers.back(), SIGSTOP);
        signalTo(process.processId(), SIGKILL);
        QVERIFY(waitUntil([&] { return workersOf(coordinator).empty(); }, kGoneWithin));
        QVERIFY(process.waitForFinished());
        QVERIFY(folder.entries().isEmpty());
    }

    // Before the run has begun its workers are as much its own.
    void killedCoordinatorAtTheStart() {
        const CliFolder folder;
        QProcess process;
        folder.start(process, endlessRun("server"));
        const QByteArray coordinator = numberOf(process);
        QVERIFY(waitUntil([&] { return !workersOf(coordinator).empty(); }));
        signalTo(process.processId(), SIGKILL);
        QVERIFY(process.waitForFinished());
        QVERIFY(waitUntil([&] { return workersOf(coordinator).empty(); }, kGoneWithin));
    }

    void nobodyToConnectTo() {
        const CliFolder folder;
        const QString endpoint = freeEndpoint();
        QElapsedTimer looked;
        looked.start();
        const CliResult result = folder.run({"worker", "--connect", endpoint, "--rejoin", "3"});
        QCOMPARE(result.exitCode, 4);
        QVERIFY(looked.elapsed() >= 3000); // it has tried for so long
        QCOMPARE(result.out,
                 QString("the coordinator is silent; joining again for 3 s\n")); // said once
        QVERIFY2(result.error.startsWith("gradlab-cli: no coordinator (the coordinator is silent): "
                                         "--connect " +
                                         endpoint),
                 qPrintable(result.error));
        QCOMPARE(result.error.count('\n'), 1);
    }

    void vanishedCoordinator_data() {
        QTest::addColumn<QString>("topology");
        QTest::newRow("server") << "server";
        QTest::newRow("ring") << "ring";
    }
    void vanishedCoordinator() {
        QFETCH(QString, topology);
        const CliFolder folder;
        const QString endpoint = freeEndpoint();
        const HandStarted workers(folder, endpoint, 3);
        QProcess process;
        folder.start(process,
                     endlessRun(topology) + QStringList{"--bind", endpoint, "--wait-for", "2"});
        QVERIFY(waitForText(process, "valid perplexity"));
        signalTo(process.processId(), SIGKILL);
        QVERIFY(process.waitForFinished());
        for (const auto& worker : workers.processes) {
            const CliResult result = CliFolder::finish(*worker);
            QCOMPARE(result.exitCode, 4);
            QVERIFY2(result.out.contains("joined as worker") &&
                         result.out.contains("joining again for 3 s"),
                     qPrintable(result.out));
            QVERIFY2(result.error.startsWith("gradlab-cli: no coordinator ("),
                     qPrintable(result.error));
            QCOMPARE(result.error.count('\n'), 1);
        }
    }

    // The same workers serve the next coordinator at the address.
    void aCoordinatorComesBack() {
        const CliFolder folder;
        const QString endpoint = freeEndpoint();
        const HandStarted workers(folder, endpoint, 60);
        const QStringList here = {"--bind", endpoint, "--wait-for", "2"};
        QProcess process;
        folder.start(process, endlessRun("ring") + here);
        QVERIFY(waitForText(process, "valid perplexity"));
        signalTo(process.processId(), SIGKILL);
        QVERIFY(process.waitForFinished());
        const CliResult next = folder.run(
            tinyRun(20) + QStringList{"--transport", "zmq", "--topology", "ring"} + here);
        QVERIFY2(next.exitCode == 0, qPrintable(next.error));
        for (const auto& worker : workers.processes) {
            const CliResult result = CliFolder::finish(*worker);
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
            QCOMPARE(result.out.count("joined as worker"), 2);
        }
    }
};

QTEST_GUILESS_MAIN(TestCliLeaving)
#include "test_cli_leaving.moc"
