// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/window_options.h"
#include "engine/training/experiment_schema.h"

#include <QTemporaryDir>
#include <QTest>

using namespace gradlab;

class TestWindowOptions : public QObject {
    Q_OBJECT

    static app::WindowCommand read(std::vector<std::string> words) {
        words.insert(words.begin(), "gradlab");
        std::vector<const char*> argv;
        for (const std::string& word : words)
            argv.push_back(word.c_str());
        return app::readCommandLine(static_cast<int>(argv.size()), argv.data());
    }

private Q_SLOTS:
    void firstLookIsTheDefault() {
        const app::WindowCommand command = read({});
        QVERIFY(!command.exitCode);
        const auto& race = command.options.experiments;
        QCOMPARE(race.size(), std::size_t{3});
        QCOMPARE(race[0].compression.method, std::string("none"));
        QCOMPARE(race[1].compression.method, std::string("topk"));
        QCOMPARE(race[2].compression.method, std::string("randomk"));
        for (const engine::Experiment& experiment : race) {
            QCOMPARE(experiment.corpus.source, std::string("builtin:markov"));
            QCOMPARE(experiment.model.hidden, std::int64_t{64});
            QCOMPARE(experiment.training.lr, 20.0);
            QCOMPARE(experiment.training.evalEvery, std::int64_t{50});
            QVERIFY(engine::requireValid(experiment).empty());
        }
    }

    void stepsLimitEveryRun() {
        const app::WindowCommand command = read({"--start", "--steps", "20", "--quit"});
        QVERIFY(!command.exitCode);
        for (const engine::Experiment& experiment : command.options.experiments)
            QCOMPARE(experiment.training.steps, std::int64_t{20});
        QVERIFY(command.options.isScripted());
    }

    void readsPresentation() {
        const app::WindowCommand command =
            read({"--size", "1280x720", "--theme", "dark", "--present", "--x-axis", "bytes",
                  "--change", "4:training.lr=5", "--change", "9:training.lr=2"});
        QVERIFY(!command.exitCode);
        QCOMPARE(command.options.width, 1280);
        QCOMPARE(command.options.height, 720);
        QCOMPARE(command.options.theme, std::string("dark"));
        QVERIFY(command.options.present);
        QCOMPARE(command.options.xAxis, std::string("bytes"));
        QCOMPARE(command.options.script.size(), std::size_t{2});
    }

    void toolkitOptionsAreQts() { QVERIFY(!read({"-platform", "offscreen", "--start"}).exitCode); }

    void helpAndVersionEndWithZero() {
        const app::WindowCommand help = read({"--help"});
        QCOMPARE(help.exitCode.value_or(-1), 0);
        for (const char* option : {"--start", "--steps", "--screenshot", "--quit", "--out",
                                   "--size", "--theme", "--present", "--x-axis", "--change"})
            QVERIFY2(help.text.find(option) != std::string::npos, option);
        QCOMPARE(read({"--version"}).exitCode.value_or(-1), 0);
    }

    void refuses_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exitCode");
        QTest::newRow("unknown option") << QStringList{"--fast"} << 2;
        QTest::newRow("size") << QStringList{"--size", "wide"} << 2;
        QTest::newRow("size without height") << QStringList{"--size", "1280"} << 2;
        QTest::newRow("size too small") << QStringList{"--size", "10x10"} << 2;
        QTest::newRow("size with rest") << QStringList{"--size", "1280x800x3"} << 2;
        QTest::newRow("theme") << QStringList{"--theme", "green"} << 2;
        QTest::newRow("axis") << QStringList{"--x-axis", "pages"} << 2;
        QTest::newRow("steps") << QStringList{"--steps", "-3"} << 2;
        QTest::newRow("steps not a number") << QStringList{"--steps", "many"} << 2;
        QTest::newRow("change") << QStringList{"--change", "nonsense"} << 2;
        QTest::newRow("change of an unknown run")
            << QStringList{"--change", "4:Nobody:training.lr=5"} << 2;
        QTest::newRow("picture nowhere") << QStringList{"--screenshot", "/no/where/a.png"} << 2;
        QTest::newRow("missing file") << QStringList{"/no/such/race.json"} << 3;
    }
    void refuses() {
        QFETCH(QStringList, words);
        QFETCH(int, exitCode);
        std::vector<std::string> plain;
        for (const QString& word : words)
            plain.push_back(word.toStdString());
        const app::WindowCommand command = read(plain);
        QVERIFY(command.exitCode.has_value());
        QCOMPARE(*command.exitCode, exitCode);
        QVERIFY(command.text.starts_with("gradlab: "));
        QCOMPARE(command.text.find('\n'), command.text.size() - 1);
    }

    void invalidExperimentEndsOnlyAStart() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("bad.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"schema": 1, "training": {"batch": 7}})");
        file.close();
        QCOMPARE(read({path.toStdString(), "--start"}).exitCode.value_or(-1), 2);
        QVERIFY(!read({path.toStdString()}).exitCode); // the form shows what is wrong
    }
};

QTEST_GUILESS_MAIN(TestWindowOptions)
#include "test_window_options.moc"
