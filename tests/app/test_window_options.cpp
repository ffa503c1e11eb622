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
                  "--gradient", "map", "--layout", "tune", "--zoom", "10:2.5e3", "--report",
                  "r.html", "--change", "4:training.lr=5", "--change", "9:training.lr=2"});
        QVERIFY(!command.exitCode);
        QCOMPARE(command.options.width, 1280);
        QCOMPARE(command.options.height, 720);
        QCOMPARE(command.options.theme, std::string("dark"));
        QVERIFY(command.options.present);
        QCOMPARE(command.options.xAxis, std::string("bytes"));
        QCOMPARE(command.options.gradient, std::string("map"));
        QCOMPARE(command.options.script.size(), std::size_t{2});
        QCOMPARE(command.options.layout, std::string("tune"));
        QCOMPARE(command.options.zoomFrom, 10.0);
        QCOMPARE(command.options.zoomTo, 2500.0);
        QCOMPARE(command.options.report.string(), std::string("r.html"));
        QVERIFY(command.options.isScripted());
    }

    void toolkitOptionsAreQts() { QVERIFY(!read({"-platform", "offscreen", "--start"}).exitCode); }

    void helpAndVersionEndWithZero() {
        const app::WindowCommand help = read({"--help"});
        QCOMPARE(help.exitCode.value_or(-1), 0);
        for (const char* option :
             {"--start", "--steps", "--screenshot", "--quit", "--out", "--size", "--theme",
              "--present", "--x-axis", "--change", "--gradient", "--layout", "--report"})
            QVERIFY2(help.text.find(option) != std::string::npos, option);
        QCOMPARE(read({"--version"}).exitCode.value_or(-1), 0);
    }

    void refuses_data() {
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("part");
        const auto row = [](const char* name, const QStringList& words, int exitCode,
                            const char* part) { QTest::newRow(name) << words << exitCode << part; };
        for (const char* zoom : {"10", "10:", "20:10", "a:b", "1:inf", "nan:nan"})
            row(zoom, QStringList{"--zoom", zoom}, 2, "--zoom");
        row("unknown option", QStringList{"--fast"}, 2, "--fast");
        row("size", QStringList{"--size", "wide"}, 2,
            "not a size: --size wide; write WIDTHxHEIGHT");
        row("size without height", QStringList{"--size", "1280"}, 2, "not a size: --size 1280; ");
        row("size too small", QStringList{"--size", "10x10"}, 2, "not a size: --size 10x10; ");
        row("size with rest", QStringList{"--size", "1280x800x3"}, 2,
            "not a size: --size 1280x800x3; ");
        row("theme", QStringList{"--theme", "green"}, 2, "--theme");
        row("axis", QStringList{"--x-axis", "pages"}, 2, "--x-axis");
        row("steps", QStringList{"--steps", "-3"}, 2,
            "steps is '-3': --steps; give a whole number in [1, 4000000000]");
        row("no steps", QStringList{"--steps", "0"}, 2,
            "steps is '0': --steps; give a whole number");
        row("worker of a run of threads", QStringList{"--worker", "5:1=kill"}, 2,
            "no run has worker processes: --worker 5:1=kill; give");
        row("worker not understood", QStringList{"--worker", "5=kill"}, 2,
            "not understood: --worker 5=kill; write");
        row("steps not a number", QStringList{"--steps", "many"}, 2, "steps is 'many': --steps; ");
        row("change", QStringList{"--change", "nonsense"}, 2, "no step: --change nonsense; write");
        row("change of an unknown run", QStringList{"--change", "4:Nobody:training.lr=5"}, 2,
            "no run has that name: --change");
        row("picture nowhere", QStringList{"--screenshot", "/no/where/a.png"}, 2,
            "the folder does not exist: --screenshot /no/where/a.png; create /no/where");
        row("missing file", QStringList{"/no/such/race.json"}, 3, "/no/such/race.json; ");
    }
    void refuses() {
        QFETCH(QStringList, words);
        QFETCH(int, exitCode);
        QFETCH(QString, part);
        std::vector<std::string> plain;
        for (const QString& word : words)
            plain.push_back(word.toStdString());
        const app::WindowCommand command = read(plain);
        QVERIFY(command.exitCode.has_value());
        QCOMPARE(*command.exitCode, exitCode);
        QVERIFY(command.text.starts_with("gradlab: "));
        QCOMPARE(command.text.find('\n'), command.text.size() - 1);
        QVERIFY2(QString::fromStdString(command.text).contains(part), command.text.c_str());
    }

    void workersOfProcessesAreKnownByRank() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("cluster.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"schema": 1, "cluster": {"transport": "zmq", "workers": 4}})");
        file.close();
        QVERIFY(!read({path.toStdString(), "--worker", "5:3=kill"}).exitCode);
        const app::WindowCommand command = read({path.toStdString(), "--worker", "5:4=kill"});
        QCOMPARE(command.exitCode.value_or(-1), 2);
        QCOMPARE(command.text, std::string("gradlab: no run has a worker 4: --worker 5:4=kill; "
                                           "give a rank from 0 to 3\n"));
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
