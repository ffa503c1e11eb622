// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli worker and keygen from outside: what they refuse, Ctrl-C, and a run of workers that
// were started by hand, with keys.
#include "engine/core/precision.h"
#include "tests/support/cli_process.h"
#include "tests/support/free_endpoint.h"

#include <QTest>

#include <csignal>
#include <memory>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

bool ignoresInterrupts(qint64 pid) {
    QFile status(QString("/proc/%1/status").arg(pid));
    if (!status.open(QIODevice::ReadOnly))
        return false;
    for (const QByteArray& line : status.readAll().split('\n'))
        if (line.startsWith("SigIgn:"))
            return (line.mid(7).trimmed().toULongLong(nullptr, 16) >> (SIGINT - 1) & 1U) != 0;
    return false;
}

} // namespace

class TestCliWorker : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void refused_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("part");
        const auto row = [](const char* name, const QString& arguments, int exitCode,
                            const char* part) {
            QTest::newRow(name) << arguments.split(' ') << exitCode << part;
        };
        const QString nobody = "worker --rejoin 0 --connect " + freeEndpoint();
        row("no coordinator given", "worker", 2, "no coordinator is given: --connect");
        row("no address", "worker --connect here", 2, "--connect here");
        row("any port", "worker --connect tcp://127.0.0.1:*", 2, "--connect tcp://127.0.0.1:*");
        row("rejoin", "worker --connect tcp://127.0.0.1:1 --rejoin -1", 2,
            "rejoin is -1: --rejoin");
        row("rejoin text", "worker --connect tcp://127.0.0.1:1 --rejoin ever", 2, "--rejoin");
        row("listen", "worker --connect tcp://127.0.0.1:1 --listen tcp://192.0.2.1:*", 2,
            "--insecure");
        row("listen elsewhere",
            "worker --insecure --connect tcp://127.0.0.1:1 --listen tcp://192.0.2.1:*", 2,
            "cannot listen on tcp://192.0.2.1:*");
        row("name too long", "worker --connect tcp://127.0.0.1:1 --name " + QString(5000, 'x'), 2,
            "the name has 5000 characters: --name; give at most 200");
        row("name far too long",
            "worker --connect tcp://127.0.0.1:1 --name " + QString(100000, 'x'), 2,
            "the name has 100000 characters: --name; give at most 200");
        row("name with a bell", "worker --connect tcp://127.0.0.1:1 --name a\ab", 2,
            "cannot be printed: --name");
        row("threads", "worker --connect tcp://127.0.0.1:1 --threads -4", 2,
            "threads is -4: --threads; give a whole number in [0, 4096]");
        row("keys missing", "worker --connect tcp://127.0.0.1:1 --keys no.json", 3, "no.json");
        row("keys open", "worker --connect tcp://127.0.0.1:1 --keys open.json", 3, "chmod 600");
        row("nobody answers", nobody, 4, "no coordinator (the coordinator is silent): --connect");
        row("keygen nothing", "keygen", 2, "no file is given: --out");
        row("keygen none", "keygen --out k.json --workers 0", 2, "workers is 0: --workers");
        row("keygen many", "keygen --out k.json --workers 99999", 2, "[1, 4096]");
        row("keygen exists", "keygen --out open.json", 2, "the file exists: --out open.json");
        row("keygen nowhere", "keygen --out no/such/k.json", 3, "no/such/k.json");
    }
    void refused() {
        QFETCH(QStringList, arguments);
        QFETCH(int, exitCode);
        QFETCH(QString, part);
        const CliFolder folder;
        folder.write("open.json", "{}");
        QFile::setPermissions(folder.path("open.json"),
                              QFile::ReadOwner | QFile::WriteOwner | QFile::ReadOther);
        const CliResult result = folder.run(arguments);
        QVERIFY2(result.exitCode == exitCode, qPrintable(result.error));
        QVERIFY2(isErrorLine(result.error), qPrintable(result.error));
        QVERIFY2(result.error.contains(part), qPrintable(result.error));
        QCOMPARE(folder.entries(), QStringList{"open.json"});
    }

    void interruptedWhileItWaits_data() {
        QTest::addColumn<bool>("local");
        QTest::newRow("started by hand") << false;
        QTest::newRow("started by a coordinator") << true;
    }
    void interruptedWhileItWaits() {
        QFETCH(bool, local);
        const CliFolder folder;
        QProcess worker;
        QStringList arguments = {"worker", "--connect", freeEndpoint(), "--name",
                                 QString(200, QChar(0xE4))};
        if (local)
            arguments += {"--parent-pid", QString::number(QCoreApplication::applicationPid())};
        folder.start(worker, arguments);
        QVERIFY(worker.waitForReadyRead()); // it says that it looks for the coordinator
        QVERIFY(worker.readAllStandardOutput().contains("joining again for 60 s"));
        QCOMPARE(ignoresInterrupts(worker.processId()), local);
        QCOMPARE(::kill(static_cast<pid_t>(worker.processId()), local ? SIGTERM : SIGINT), 0);
        const CliResult result = CliFolder::finish(worker);
        QVERIFY2(result.error.isEmpty(), qPrintable(result.error));
        QCOMPARE(result.exitCode, local ? -1 : 130);
    }

    void aWorkerWithoutItsParentEnds() {
        const CliFolder folder;
        const CliResult result =
            folder.run({"worker", "--connect", freeEndpoint(), "--parent-pid", "1"});
        QCOMPARE(result.exitCode, 4);
        QVERIFY2(result.error.isEmpty(), qPrintable(result.error));
    }

    // Two workers that look for their coordinator before it is there.
    void workersStartedByHand_data() {
        QTest::addColumn<QString>("topology");
        QTest::newRow("server") << "server";
        QTest::newRow("ring") << "ring";
    }
    void workersStartedByHand() {
        QFETCH(QString, topology);
        const CliFolder folder;
        const QString endpoint = freeEndpoint();
        std::vector<std::unique_ptr<QProcess>> workers;
        for (const char* name : {"a", "b"}) {
            workers.push_back(std::make_unique<QProcess>());
            folder.start(*workers.back(), {"worker", "--connect", endpoint, "--name", name});
        }
        const QStringList run = tinyRun(20) + QStringList{"--topology", topology, "--quiet"};
        const CliResult processes =
            folder.run(run + QStringList{"--transport", "zmq", "--bind", endpoint, "--wait-for",
                                         "2", "--save", "zmq.safetensors"});
        QVERIFY2(processes.exitCode == 0, qPrintable(processes.error));
        for (const auto& worker : workers) {
            const CliResult result = CliFolder::finish(*worker);
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
            QVERIFY2(result.out.contains("joined as worker") &&
                         result.out.contains("the run is over"),
                     qPrintable(result.out));
        }
        const CliResult threads = folder.run(run + QStringList{"--save", "threads.safetensors"});
        QVERIFY2(threads.exitCode == 0, qPrintable(threads.error));
        QVERIFY(!folder.read("zmq.safetensors").isEmpty());
        QCOMPARE(folder.read("zmq.safetensors"), folder.read("threads.safetensors"));
    }

    // oneDNN's own variable hides the processor's instructions from it: a worker on a lesser
    // machine.
    void aWorkerThatCannotDoBf16SaysSoAndOthersTakeItsPlace() {
        if (engine::bf16Ability() != engine::Bf16Ability::Ready)
            QSKIP(whyNotBf16(engine::bf16Ability()).data());
        const CliFolder folder;
        CliFolder lesser;
        lesser.setVariable("ONEDNN_MAX_CPU_ISA", "AVX2");
        const QString endpoint = freeEndpoint();
        QProcess coordinator;
        folder.start(coordinator,
                     tinyRun(20) + QStringList{"--quiet", "--precision", "bf16", "--transport",
                                               "zmq", "--bind", endpoint, "--wait-for", "2",
                                               "--log", "log.jsonl"});
        const QString why = QString("cannot train in bf16, %1: training.precision (--precision)")
                                .arg(whyNotBf16(engine::Bf16Ability::NoInstructions).data());
        const CliResult refused =
            lesser.run({"worker", "--connect", endpoint, "--name", "lesser", "--quiet"});
        QVERIFY2(refused.exitCode == 2, qPrintable(refused.error));
        QVERIFY2(isErrorLine(refused.error), qPrintable(refused.error));
        QVERIFY2(refused.error.contains(why), qPrintable(refused.error));
        std::vector<std::unique_ptr<QProcess>> workers;
        for (const char* name : {"a", "b"}) {
            workers.push_back(std::make_unique<QProcess>());
            folder.start(*workers.back(), {"worker", "--connect", endpoint, "--name", name});
        }
        const CliResult run = CliFolder::finish(coordinator);
        QVERIFY2(run.exitCode == 0, qPrintable(run.error));
        for (const auto& worker : workers)
            QCOMPARE(CliFolder::finish(*worker).exitCode, 0);
        QVERIFY2(folder.read("log.jsonl").contains(why.toUtf8()),
                 folder.read("log.jsonl").constData());
    }

    void keygenMakesAPrivateFile() {
        const CliFolder folder;
        const CliResult result = folder.run({"keygen", "--out", "keys.json", "--workers", "3"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QVERIFY(result.out.startsWith("keys.json: keys of a coordinator and of 3 workers"));
        QCOMPARE(QFile::permissions(folder.path("keys.json")) &
                     (QFile::ReadOther | QFile::WriteOther | QFile::ReadGroup | QFile::WriteGroup),
                 QFile::Permissions());
        const QByteArray keys = folder.read("keys.json");
        for (const char* part : {"server", "worker-0", "worker-2"})
            QVERIFY2(keys.contains(part), part);
        QVERIFY(!result.out.contains("secret"));
        QCOMPARE(folder.entries(), QStringList{"keys.json"});
    }

    // A local worker without keys would never get through: said before anything starts.
    void tooFewKeysForLocalWorkers() {
        const CliFolder folder;
        QCOMPARE(folder.run({"keygen", "--out", "keys.json", "--workers", "2"}).exitCode, 0);
        const QStringList keys = {"--transport", "zmq", "--keys", "keys.json"};
        const CliResult two = folder.run(tinyRun(5) + keys);
        QVERIFY2(two.exitCode == 0, qPrintable(two.error)); // two workers have two keys
        QStringList four = tinyRun(5);
        four.replace(four.indexOf("--workers") + 1, "4");
        const CliResult result = folder.run(four + keys + QStringList{"--out", "run"});
        QVERIFY2(result.exitCode == 2, qPrintable(result.error));
        QCOMPARE(result.error,
                 QString("gradlab-cli: the file has the keys of 2 of 4 local workers: cluster.keys "
                         "(--keys) keys.json; make one with gradlab-cli keygen --workers 4\n"));
        QVERIFY(result.out.isEmpty());
    }

    void helpTeaches() {
        const CliFolder folder;
        const QString program = folder.run({"--help"}).out;
        for (const char* command : {"worker", "keygen"}) {
            QVERIFY2(program.contains(QString("\n  ") + command + " "), command);
            const CliResult help = folder.run({command, "--help"});
            QCOMPARE(help.exitCode, 0);
            QVERIFY(help.out.contains("Exit codes"));
            QVERIFY(!help.out.contains("--parent-pid"));
            for (const QString& line : help.out.split('\n'))
                QVERIFY2(line.size() <= 110, qPrintable(line));
        }
        for (const char* option : {"--connect", "--name", "--keys", "--listen", "--insecure",
                                   "--rejoin", "--threads", "--quiet"})
            QVERIFY2(folder.run({"worker", "-h"}).out.contains(option), option);
    }
};

QTEST_GUILESS_MAIN(TestCliWorker)
#include "test_cli_worker.moc"
