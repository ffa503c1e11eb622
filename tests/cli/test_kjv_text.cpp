// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// builtin:kjv: how verses become tokens, the cache, and what is said when the text is not
// installed.
#include "app/cli/kjv_text.h"
#include "engine/metrics/run_log.h"
#include "tests/support/cli_process.h"

#include <QStandardPaths>
#include <QTest>

using namespace gradlab;
using namespace gradlab::tests;

class TestKjvText : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void verses_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("text");
        QTest::newRow("plain") << "Ge1:1 In the beginning God created the heaven."
                               << "in the beginning god created the heaven .";
        QTest::newRow("number first") << "1Sa12:3 Behold, here I am:"
                                      << "behold , here i am :";
        QTest::newRow("possessive") << "Ps1:2 the LORD's law; and fathers' house"
                                    << "the lord's law ; and fathers ' house";
        QTest::newRow("hyphen") << "Ge12:8 east of Beth-el (and Hai)!"
                                << "east of beth-el ( and hai ) !";
        QTest::newRow("no mark") << "a line without a mark"
                                 << "";
        QTest::newRow("half a mark") << "Ge1: In the beginning"
                                     << "";
        QTest::newRow("empty") << ""
                               << "";
    }
    void verses() {
        QFETCH(QString, line);
        QFETCH(QString, text);
        QCOMPARE(QString::fromStdString(app::normaliseVerse(line.toStdString())), text);
    }

    void missingProgramIsExit3() {
        CliFolder folder;
        folder.setVariable("XDG_CACHE_HOME", folder.path("cache"));
        folder.setVariable("PATH", folder.path("nothing"));
        const CliResult result = folder.run({"train", "--corpus", "builtin:kjv", "--out", "run"});
        QVERIFY2(result.exitCode == 3, qPrintable(result.error));
        QVERIFY2(result.error.contains("apt-get install bible-kjv"), qPrintable(result.error));
        QCOMPARE(result.error.count('\n'), 1);
        QVERIFY(folder.entries().isEmpty());
    }

    void cachedTextNeedsNoProgram() {
        CliFolder folder;
        folder.setVariable("XDG_CACHE_HOME", folder.path("cache"));
        folder.setVariable("PATH", folder.path("nothing"));
        QDir(folder.path("")).mkpath("cache/gradlab");
        QByteArray text;
        for (int verse = 0; verse < 400; ++verse)
            text += "in the beginning was word" + QByteArray::number(verse % 7) + " .\n";
        folder.write("cache/gradlab/kjv.txt", text);
        const CliResult result =
            folder.run(tinyRun(2) + QStringList{"--eval-batch", "2", "--corpus", "builtin:kjv",
                                                "--log", "log.jsonl"});
        QVERIFY2(result.exitCode == 2, qPrintable(result.error)); // --eval-batch stands twice
        QStringList arguments = tinyRun(2);
        arguments.last() = "2";
        const CliResult run =
            folder.run(arguments + QStringList{"--corpus", "builtin:kjv", "--log", "log.jsonl"});
        QVERIFY2(run.exitCode == 0, qPrintable(run.error));
        // Records keep the name that works everywhere, not this machine's path.
        const auto records = engine::readRunLog(folder.file("log.jsonl"));
        QVERIFY(
            QString::fromStdString(std::get<engine::StartRecord>(records.front()).experimentJson)
                .contains("builtin:kjv"));
    }

    void wholeText() {
        if (QStandardPaths::findExecutable("bible").isEmpty())
            QSKIP("bible-kjv is not installed");
        const QTemporaryDir cache;
        qputenv("XDG_CACHE_HOME", cache.path().toUtf8());
        const auto file = app::kjvTextFile();
        QVERIFY(file == std::filesystem::path(cache.filePath("gradlab/kjv.txt").toStdString()));
        QFile text(QString::fromStdString(file.string()));
        QVERIFY(text.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = text.readAll().split('\n');
        QCOMPARE(lines.size(), 31103); // and nothing behind the last line break
        QCOMPARE(lines.first(),
                 QByteArray("in the beginning god created the heaven and the earth ."));
        QCOMPARE(lines[31101],
                 QByteArray("the grace of our lord jesus christ be with you all . amen ."));
        QVERIFY(app::kjvTextFile() == file);
    }
};

QTEST_GUILESS_MAIN(TestKjvText)
#include "test_kjv_text.moc"
