// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What may go wrong with a run's files: two writers, damaged and foreign checkpoints, a full disk,
// a program started without standard streams.
#include "tests/support/cli_process.h"

#include <QTest>

#include <csignal>

using namespace gradlab::tests;

class TestCliRunFolder : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void oneWriterAtATime() {
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(20) + QStringList{"--out", "run", "--quiet"}).exitCode, 0);
        QProcess first;
        folder.start(first, {"train", "--resume", "run", "--steps", "100000000", "--epochs",
                             "1000000", "--patience", "1000000"});
        QTRY_VERIFY_WITH_TIMEOUT((first.waitForReadyRead(100), first.peek(4096).contains("step")),
                                 20000);
        const QByteArray before = folder.read("run/checkpoints/step-20.safetensors");
        const CliResult second = folder.run({"train", "--resume", "run", "--steps", "40"});
        QCOMPARE(second.exitCode, 3);
        QVERIFY2(isErrorLine(second.error), qPrintable(second.error));
        QVERIFY2(second.error.contains("another program writes this run"),
                 qPrintable(second.error));
        QVERIFY(folder.read("run/checkpoints/step-20.safetensors") == before);
        ::kill(static_cast<pid_t>(first.processId()), SIGINT);
        QCOMPARE(CliFolder::finish(first).exitCode, 130);
        // Nobody writes it any more.
        const CliResult third = folder.run({"train", "--resume", "run", "--steps", "21"});
        QVERIFY2(third.exitCode == 0, qPrintable(third.error));
    }

    void closedStreamsGetNoFiles() {
        const CliFolder folder;
        QProcess shell;
        shell.setWorkingDirectory(folder.path(""));
        shell.start("sh",
                    {"-c", QString("%1 %2 --out run >&- 2>&- <&-")
                               .arg(GRADLAB_BINARY_DIR "/bin/gradlab-cli", tinyRun(20).join(' '))});
        QCOMPARE(CliFolder::finish(shell).exitCode, 0);
        for (const QByteArray& line : folder.read("run/metrics.jsonl").split('\n'))
            QVERIFY2(line.isEmpty() || line.startsWith('{'), line.constData());
    }

    void damagedCheckpoint() {
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(20) + QStringList{"--out", "run", "--quiet"}).exitCode, 0);
        const QString name = "run/checkpoints/step-20.safetensors";
        const QByteArray good = folder.read(name);
        for (const qsizetype fromEnd : {qsizetype{1}, good.size() / 3}) {
            QByteArray bad = good;
            const qsizetype at = bad.size() - fromEnd;
            bad[at] = static_cast<char>(bad[at] ^ 0x20);
            folder.write(name, bad);
            const QByteArray log = folder.read("run/metrics.jsonl");
            const CliResult result = folder.run({"train", "--resume", "run", "--steps", "40"});
            QCOMPARE(result.exitCode, 3);
            QVERIFY2(isErrorLine(result.error) && result.error.contains("damaged"),
                     qPrintable(result.error));
            QVERIFY(folder.read("run/metrics.jsonl") == log);
        }
        folder.write(name, good);
        QCOMPARE(folder.run({"train", "--resume", "run", "--steps", "21", "--quiet"}).exitCode, 0);
    }

    void foreignCheckpoint() {
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(20) + QStringList{"--out", "run", "--quiet"}).exitCode, 0);
        QCOMPARE(folder.run(tinyRun(20) + QStringList{"--out", "other", "--seed", "7", "--quiet"})
                     .exitCode,
                 0);
        folder.write("run/checkpoints/step-600.safetensors",
                     folder.read("other/checkpoints/step-20.safetensors"));
        const CliResult result = folder.run({"train", "--resume", "run", "--steps", "700"});
        QCOMPARE(result.exitCode, 3);
        QVERIFY2(isErrorLine(result.error) && result.error.contains("training.seed 7"),
                 qPrintable(result.error));
    }

    // What changed during the run is no reason to refuse it.
    void changesMayBeResumed() {
        const CliFolder folder;
        QCOMPARE(folder.run(tinyRun(20) + QStringList{"--out", "run", "--quiet"}).exitCode, 0);
        QCOMPARE(folder.run({"train", "--resume", "run", "--steps", "30", "--lr", "1", "--quiet"})
                     .exitCode,
                 0);
        QCOMPARE(folder.run({"train", "--resume", "run", "--steps", "40", "--quiet"}).exitCode, 0);
    }

    void fullDisk() {
        const CliFolder folder;
        // By a link: not everybody may make files in /dev.
        if (!QFile::link("/dev/full", folder.path("full.jsonl")) || !folder.has("full.jsonl"))
            QSKIP("no /dev/full here");
        for (const char* transport : {"threads", "zmq"}) {
            const CliResult result =
                folder.run(tinyRun(20) +
                           QStringList{"--log", "full.jsonl", "--transport", transport, "--quiet"});
            QCOMPARE(result.exitCode, 3);
            QVERIFY2(isErrorLine(result.error) && result.error.contains("cannot write"),
                     qPrintable(result.error));
        }
    }

    void emptyNames_data() {
        QTest::addColumn<QStringList>("options");
        for (const char* option : {"--out", "--log", "--resume", "--save"})
            QTest::newRow(option) << QStringList{"train", option, ""};
        QTest::newRow("compress --out") << QStringList{"compress", "--out", ""};
        QTest::newRow("keygen --out") << QStringList{"keygen", "--out", ""};
    }
    void emptyNames() {
        QFETCH(QStringList, options);
        const CliFolder folder;
        const CliResult result = folder.run(options);
        QCOMPARE(result.exitCode, 2);
        QVERIFY2(isErrorLine(result.error) && result.error.contains("is empty"),
                 qPrintable(result.error));
        QVERIFY(folder.entries().isEmpty());
    }
};

QTEST_GUILESS_MAIN(TestCliRunFolder)
#include "test_cli_run_folder.moc"
