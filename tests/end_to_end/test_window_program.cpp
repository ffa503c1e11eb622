// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The built window program, driven from its command line on the offscreen platform: pictures, logs,
// exit codes.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QImage>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <set>

namespace {

const QString kProgram = QStringLiteral(GRADLAB_BINARY_DIR "/bin/gradlab");
constexpr int kDeadlineMs = 120000;

struct Outcome {
    int exitCode = -1;
    QByteArray out;
    QByteArray err;
};

Outcome run(const QStringList& arguments) {
    QProcess process;
    process.start(kProgram, arguments);
    Outcome outcome;
    if (!process.waitForFinished(kDeadlineMs)) {
        process.kill();
        process.waitForFinished();
        outcome.err = "deadline";
        return outcome;
    }
    outcome.out = process.readAllStandardOutput();
    outcome.err = process.readAllStandardError();
    outcome.exitCode = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -2;
    return outcome;
}

QString writeFile(const QTemporaryDir& folder, const QString& name, const QByteArray& text) {
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
        return {};
    return file.fileName();
}

/// Every line of a log parsed; invalid lines become empty objects.
QList<QJsonObject> readLog(const QString& path) {
    QFile file(path);
    QList<QJsonObject> records;
    if (!file.open(QIODevice::ReadOnly))
        return records;
    const QList<QByteArray> lines = file.readAll().split('\n');
    for (const QByteArray& line : lines)
        if (!line.isEmpty())
            records.append(QJsonDocument::fromJson(line).object());
    return records;
}

int countOf(const QList<QJsonObject>& records, const QString& kind) {
    int count = 0;
    for (const QJsonObject& record : records)
        count += record.value(QStringLiteral("kind")).toString() == kind ? 1 : 0;
    return count;
}

const QByteArray kSmallRace = R"({"schema": 1, "race": [
  {"name": "Dense", "model": {"hidden": 8, "layers": 1},
   "training": {"batch": 8, "bptt": 8, "eval_every": 10, "steps": 100},
   "cluster": {"workers": 2}},
  {"name": "Top-k", "compression": {"method": "topk", "memory": "none"}}]})";

} // namespace

class TestWindowProgram : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void makesAPictureAndALog() {
        const QTemporaryDir folder;
        const QString race = writeFile(folder, QStringLiteral("race.json"), kSmallRace);
        const QString picture = folder.filePath(QStringLiteral("race.png"));
        const QString out = folder.filePath(QStringLiteral("out"));
        const Outcome outcome =
            run({race, QStringLiteral("--start"), QStringLiteral("--steps"), QStringLiteral("20"),
                 QStringLiteral("--screenshot"), picture, QStringLiteral("--quit"),
                 QStringLiteral("--out"), out, QStringLiteral("--size"), QStringLiteral("1280x800"),
                 QStringLiteral("--theme"), QStringLiteral("light"), QStringLiteral("--change"),
                 QStringLiteral("10:Top:compression.memory=residual")});
        QVERIFY2(outcome.exitCode == 0, outcome.err.constData());
        const QImage image(picture);
        QCOMPARE(image.size(), QSize(1280, 800));
        std::set<QRgb> colours;
        for (int y = 0; y < image.height(); y += 2)
            for (int x = 0; x < image.width(); x += 2)
                colours.insert(image.pixel(x, y));
        QVERIFY2(colours.size() > 50, QByteArray::number(qulonglong(colours.size())).constData());

        int logs = 0;
        QDirIterator files(out, {QStringLiteral("metrics.jsonl")}, QDir::Files,
                           QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const QList<QJsonObject> records = readLog(files.next());
            for (const QJsonObject& record : records)
                QVERIFY(!record.isEmpty());
            QCOMPARE(records.first().value(QStringLiteral("kind")).toString(),
                     QStringLiteral("start"));
            QCOMPARE(records.last().value(QStringLiteral("kind")).toString(),
                     QStringLiteral("end"));
            QCOMPARE(countOf(records, QStringLiteral("step")), 20);
            ++logs;
        }
        QCOMPARE(logs, 2);

        // The same folder again is refused, and nothing in it is touched.
        const Outcome again = run({race, QStringLiteral("--start"), QStringLiteral("--quit"),
                                   QStringLiteral("--out"), out});
        QCOMPARE(again.exitCode, 2);
        QVERIFY(again.err.startsWith("gradlab: "));

        // What was kept can be looked at.
        const QString second = folder.filePath(QStringLiteral("kept.png"));
        const Outcome shown =
            run({out, QStringLiteral("--screenshot"), second, QStringLiteral("--quit")});
        QVERIFY2(shown.exitCode == 0, shown.err.constData());
        QVERIFY(!QImage(second).isNull());

        // With a baseline the table has more columns; a run that is not there cannot be one.
        const QString third = folder.filePath(QStringLiteral("compared.png"));
        const auto compare = [&](const char* name) {
            return run({out, QStringLiteral("--baseline"), QString::fromUtf8(name),
                        QStringLiteral("--screenshot"), third, QStringLiteral("--quit")});
        };
        const Outcome compared = compare("Dens");
        QVERIFY2(compared.exitCode == 0, compared.err.constData());
        QVERIFY(QImage(third) != QImage(second));
        const Outcome unknown = compare("Nobody");
        QCOMPARE(unknown.exitCode, 2);
        QVERIFY2(unknown.err.contains("--baseline Nobody"), unknown.err.constData());

        // And told of: a page of its own, in any layout that there is.
        const QString page = folder.filePath(QStringLiteral("report.html"));
        const Outcome told = run({out, QStringLiteral("--report"), page, QStringLiteral("--layout"),
                                  QStringLiteral("Network"), QStringLiteral("--quit")});
        QVERIFY2(told.exitCode == 0, told.err.constData());
        QFile report(page);
        QVERIFY(report.open(QIODevice::ReadOnly));
        const QByteArray html = report.readAll();
        QVERIFY(html.contains("<svg") && html.contains("memory none → residual"));
        QCOMPARE(run({out, QStringLiteral("--layout"), QStringLiteral("no such"),
                      QStringLiteral("--quit")})
                     .exitCode,
                 2);
        QCOMPARE(run({out, QStringLiteral("--report"), QStringLiteral("/no/such/r.html"),
                      QStringLiteral("--quit")})
                     .exitCode,
                 2);
    }

    void badInputEndsWithOneLine_data() {
        QTest::addColumn<QByteArray>("experiment");
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("exitCode");
        const QByteArray tiny = R"({"schema": 1, "model": {"hidden": 8, "layers": 1},
            "training": {"batch": 8, "steps": 3}, "cluster": {"workers": 2}%1})";
        const auto with = [&](const char* more) { return QByteArray(tiny).replace("%1", more); };
        const QStringList start = {QStringLiteral("--start"), QStringLiteral("--quit")};
        QTest::newRow("option") << with("") << QStringList{QStringLiteral("--sideways")} << 2;
        QTest::newRow("json") << QByteArray("{\"schema\": 1,") << start << 3;
        QTest::newRow("unknown field") << with(", \"colour\": 1") << start << 2;
        QTest::newRow("range") << with(R"(, "compression": {"method": "topk", "ratio": 2})")
                               << start << 2;
        QTest::newRow("corpus") << with(R"(, "corpus": {"source": "/no/such/text.txt"})") << start
                                << 3;
        QTest::newRow("unwritable folder")
            << with("")
            << QStringList{QStringLiteral("--start"), QStringLiteral("--quit"),
                           QStringLiteral("--out"), QStringLiteral("/proc/no/run")}
            << 2;
    }
    void badInputEndsWithOneLine() {
        QFETCH(QByteArray, experiment);
        QFETCH(QStringList, arguments);
        QFETCH(int, exitCode);
        const QTemporaryDir folder;
        arguments.prepend(writeFile(folder, QStringLiteral("experiment.json"), experiment));
        const Outcome outcome = run(arguments);
        QVERIFY2(outcome.exitCode == exitCode,
                 outcome.err + QByteArray(", exit ") + QByteArray::number(outcome.exitCode));
        QVERIFY2(outcome.err.startsWith("gradlab: "), outcome.err.constData());
        QCOMPARE(outcome.err.count('\n'), 1);
    }

    void runsThatCannotBeShownEndWithOneLine_data() {
        QTest::addColumn<QByteArray>("log");
        QTest::addColumn<bool>("picture");
        QTest::newRow("no run") << QByteArray() << false;
        QTest::newRow("no run, a picture is wanted") << QByteArray() << true;
        QTest::newRow("damaged log") << QByteArray("{\"kind\": \nnot JSON\n{}\n") << false;
        QTest::newRow("damaged log, a picture is wanted")
            << QByteArray("{\"kind\": \nnot JSON\n{}\n") << true;
    }
    void runsThatCannotBeShownEndWithOneLine() {
        QFETCH(QByteArray, log);
        QFETCH(bool, picture);
        const QTemporaryDir folder;
        if (!log.isEmpty())
            QVERIFY(!writeFile(folder, QStringLiteral("metrics.jsonl"), log).isEmpty());
        const QString path = folder.filePath(QStringLiteral("picture.png"));
        const Outcome outcome =
            run(picture ? QStringList{folder.path(), QStringLiteral("--screenshot"), path}
                        : QStringList{folder.path(), QStringLiteral("--quit")});
        QVERIFY2(outcome.exitCode == 3,
                 outcome.err + QByteArray(", exit ") + QByteArray::number(outcome.exitCode));
        QVERIFY2(outcome.err.startsWith("gradlab: "), outcome.err.constData());
        QVERIFY2(outcome.err.contains(folder.path().toUtf8()), outcome.err.constData());
        QCOMPARE(outcome.err.count('\n'), 1);
        QVERIFY(!QFile::exists(path));
    }

    void interruptStopsAndSays130() {
        const QTemporaryDir folder;
        const QString race = writeFile(folder, QStringLiteral("race.json"), kSmallRace);
        const QString out = folder.filePath(QStringLiteral("out"));
        QProcess process;
        process.start(kProgram, {race, QStringLiteral("--start"), QStringLiteral("--steps"),
                                 QStringLiteral("100000000"), QStringLiteral("--out"), out});
        QVERIFY(process.waitForStarted());
        QTRY_VERIFY_WITH_TIMEOUT(!QDir(out).isEmpty(), 60000);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(kDeadlineMs));
        QCOMPARE(process.exitStatus(), QProcess::NormalExit);
        QCOMPARE(process.exitCode(), 130);
    }

    void helpNeedsNoDisplay() {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (const char* name : {"QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"})
            environment.remove(QString::fromLatin1(name));
        process.setProcessEnvironment(environment);
        process.start(kProgram, {QStringLiteral("--help")});
        QVERIFY(process.waitForFinished(kDeadlineMs));
        QCOMPARE(process.exitCode(), 0);
        QVERIFY(process.readAllStandardOutput().contains("--screenshot"));
        process.start(kProgram, {QStringLiteral("--start")});
        QVERIFY(process.waitForFinished(kDeadlineMs));
        QCOMPARE(process.exitCode(), 2);
        QVERIFY(process.readAllStandardError().contains("no display"));
    }
};

QTEST_GUILESS_MAIN(TestWindowProgram)
#include "test_window_program.moc"
