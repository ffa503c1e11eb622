// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The terminal's texts: quantities for people, progress that fits the width, the table at the end.
#include "app/cli/help_text.h"
#include "app/cli/quantity_format.h"
#include "app/cli/run_report.h"
#include "tests/support/sample_records.h"

#include <QTest>

#include <limits>

using namespace gradlab;
using namespace gradlab::app;
using namespace gradlab::tests;

class TestRunReport : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void quantities() {
        const auto text = [](const std::string& value) { return QString::fromStdString(value); };
        QCOMPARE(text(shortNumber(12.345)), QString("12.3"));
        QCOMPARE(text(shortNumber(4.6666)), QString("4.67"));
        QCOMPARE(text(shortNumber(121.4)), QString("121"));
        QCOMPARE(text(shortNumber(1.5e9)), QString("1.50e+09"));
        QCOMPARE(text(shortNumber(std::numeric_limits<double>::infinity())), QString("inf"));
        QCOMPARE(text(shortBytes(812)), QString("812 B"));
        QCOMPARE(text(shortBytes(6871)), QString("6.71 KiB"));
        QCOMPARE(text(shortBytes(1023.9)), QString("1.00 KiB"));
        QCOMPARE(text(shortBytes(17.8e6)), QString("17.0 MiB"));
        QCOMPARE(text(shortBytes(300.0 * 1024 * 1024)), QString("300 MiB"));
        QCOMPARE(text(shortDuration(0.123)), QString("0.12 s"));
        QCOMPARE(text(shortDuration(59.7)), QString("1 min 0 s"));
        QCOMPARE(text(shortDuration(200)), QString("3 min 20 s"));
        QCOMPARE(text(shortDuration(7500)), QString("2 h 5 min"));
        QCOMPARE(text(shortDuration(-1)), QString("?"));
        QCOMPARE(text(fewerBytes(68, 1)), QString("68× fewer bytes"));
        QCOMPARE(text(fewerBytes(1.4, 1)), QString("1.4× fewer bytes"));
        QCOMPARE(text(fewerBytes(1, 1.01)), QString("as many bytes"));
        QCOMPARE(text(fewerBytes(1, 0)), QString("no bytes"));
    }

    void wrapping() {
        QCOMPARE(QString::fromStdString(wrapped("one two  three", 2, 10)),
                 QString("  one two\n  three\n"));
        QCOMPARE(QString::fromStdString(wrapped("ünïcödé ab", 0, 10)), QString("ünïcödé ab\n"));
        QVERIFY(wrapped("", 2, 10).empty());
    }

    void progressFitsTheTerminal() {
        RunReport report({"Top-k 1 %"});
        (void)report.take(0, sampleStart());
        (void)report.take(0, sampleStep(30));
        (void)report.take(0, sampleEval(30));
        engine::RunProgress progress;
        progress.state = engine::RunState::Running;
        progress.members = {{30, 120, 4.0}};
        progress.secondsLeft = 75.0;
        const std::string wide = report.progressLine(progress, 200);
        for (const char* part : {"step 30/120 25 %", "1 min 15 s left", "loss 3.33",
                                 "perplexity 12.3", "68× fewer bytes", "simulated 2.33 s"})
            QVERIFY2(QString::fromStdString(wide).contains(part), wide.c_str());
        for (std::size_t columns = 0; columns < 130; ++columns) {
            const std::string line = report.progressLine(progress, columns);
            QVERIFY(columnsOf(line) <= columns);
            QVERIFY(wide.starts_with(line));
        }
    }

    // One worker in a ring has nobody to send its message to.
    void nothingSentSavesNothing() {
        RunReport report({"Alone"});
        (void)report.take(0, sampleStart());
        engine::EndRecord end = sampleEnd(60);
        end.bytesUp = 0.0;
        (void)report.take(0, end);
        const QString table = QString::fromStdString(report.table());
        QVERIFY2(table.contains("0 B  nothing sent"), qPrintable(table));
        QVERIFY(!table.contains("fewer"));
    }

    void raceNamesItsMembers() {
        RunReport report({"Dense", "Top-k 1 %"});
        QVERIFY(!report.take(0, sampleStart()).empty());
        QVERIFY(report.take(1, sampleStart()).empty()); // told once
        QVERIFY(report.take(0, sampleStep(5)).empty());
        const std::string line = report.take(1, sampleEval(5));
        QVERIFY2(line.starts_with("Top-k 1 %  step"), line.c_str());
        QVERIFY(report.take(1, sampleEvent(5)).find("lr 20 to 5") != std::string::npos);
        QVERIFY(report.table().empty());
        (void)report.take(1, sampleEnd(60));
        QVERIFY(!report.wasStopped());
        engine::EndRecord stopped = sampleEnd(60);
        stopped.reason = "stopped";
        stopped.bestValidPerplexity.reset();
        (void)report.take(0, stopped);
        QVERIFY(report.wasStopped());
        const QStringList rows =
            QString::fromStdString(report.table()).split('\n', Qt::SkipEmptyParts);
        QCOMPARE(rows.size(), 3);
        QVERIFY(rows[1].startsWith("Dense") && rows[1].endsWith("stopped"));
        QVERIFY(rows[2].contains("68× fewer bytes"));
        QVERIFY(rows[1].contains("–"));
    }
};

QTEST_GUILESS_MAIN(TestRunReport)
#include "test_run_report.moc"
