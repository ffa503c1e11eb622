// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli train --seeds: a run a seed, what they say together, stopping and going on.
#include "app/cli/seed_report.h"
#include "engine/metrics/run_log.h"
#include "tests/support/cli_process.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>

using namespace gradlab;
using namespace gradlab::tests;
using nlohmann::json;

namespace {

const QByteArray kRace = R"({"schema": 1, "race": [
    {"name": "Dense", "model": {"hidden": 8, "layers": 1},
     "training": {"batch": 8, "bptt": 7, "steps": 12, "eval_every": 5},
     "cluster": {"workers": 2}},
    {"name": "Few", "compression": {"method": "topk", "ratio": 0.01}}]})";

json jsonOf(const CliFolder& folder, const QString& name) {
    return json::parse(folder.read(name).toStdString());
}

std::vector<double> lossesOf(const std::string& log) {
    std::vector<double> losses;
    for (const engine::Record& record : engine::readRunLog(log))
        if (const auto* step = std::get_if<engine::StepRecord>(&record))
            losses.push_back(step->loss);
    return losses;
}

} // namespace

class TestCliSeeds : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void spreads() {
        using app::spreadOf;
        QCOMPARE(spreadOf({}).count, std::size_t{0});
        QCOMPARE(spreadOf({3.0}).mean, 3.0);
        QCOMPARE(spreadOf({3.0}).deviation, 0.0);
        const app::Spread three = spreadOf({2.0, std::nullopt, 4.0, 9.0});
        QCOMPARE(three.count, std::size_t{3});
        QCOMPARE(three.mean, 5.0);
        QCOMPARE(three.deviation, std::sqrt(13.0)); // (9 + 1 + 16) / 2
    }

    void aRunFromEachSeed() {
        const CliFolder folder;
        folder.write("race.json", kRace);
        const CliResult result =
            folder.run({"train", "race.json", "--seeds", "7,3", "--out", "two"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QCOMPARE(folder.entries("two"),
                 QStringList({"experiment.json", "seed-3", "seed-7", "seeds.json"}));
        QVERIFY2(result.out.contains("2 seeds"), qPrintable(result.out));
        QVERIFY2(result.out.contains("test, less that of Dense with the same seed"),
                 qPrintable(result.out));
        // A seed's run is the run that --seed makes.
        QCOMPARE(
            folder.run({"train", "race.json", "--seed", "3", "--out", "one", "--quiet"}).exitCode,
            0);
        for (const QString& member : {QString("1-dense"), QString("2-few")})
            QCOMPARE(lossesOf(folder.file("two/seed-3/" + member + "/metrics.jsonl")),
                     lossesOf(folder.file("one/" + member + "/metrics.jsonl")));
        const json all = jsonOf(folder, "two/seeds.json");
        QCOMPARE(all.at("seeds").get<std::vector<int>>(), (std::vector<int>{7, 3}));
        const json few = all.at("members").at(1);
        const auto test = [&](const QString& run) {
            return jsonOf(folder, run + "/summary.json").at("test_perplexity").get<double>();
        };
        const double at7 = test("two/seed-7/2-few");
        const double at3 = test("two/seed-3/2-few");
        QVERIFY(few.at("name") == "Few");
        QCOMPARE(few.at("test_perplexity").at("values").get<std::vector<double>>(),
                 (std::vector<double>{at7, at3}));
        QCOMPARE(few.at("test_perplexity").at("mean").get<double>(), (at7 + at3) / 2);
        QCOMPARE(few.at("test_perplexity").at("deviation").get<double>(),
                 std::abs(at7 - at3) / std::sqrt(2.0));
        QCOMPARE(few.at("test_difference").at("values").at(0).get<double>(),
                 at7 - test("two/seed-7/1-dense"));
        // All of them have ended: nothing is run again.
        const CliResult again = folder.run({"train", "--resume", "two"});
        QCOMPARE(again.exitCode, 0);
        QVERIFY(!again.out.contains("valid perplexity"));
        QVERIFY(jsonOf(folder, "two/seeds.json") == all);
    }

    void stoppedAndResumed() {
        const CliFolder folder;
        QByteArray race = kRace;
        race.replace("\"steps\": 12", "\"steps\": 400");
        folder.write("race.json", race);
        const QStringList three{"train", "race.json", "--seeds", "1,2,3", "--out"};
        QCOMPARE(folder.run(three + QStringList{"whole", "--quiet"}).exitCode, 0);
        QProcess process;
        folder.start(process, three + QStringList{"parts"});
        QByteArray seen;
        while (!seen.contains("seed 2\n") || !seen.split('\n').last(2).join().contains("valid")) {
            QVERIFY2(process.waitForReadyRead(60000), seen.constData());
            seen += process.readAllStandardOutput();
        }
        QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
        const CliResult stopped = CliFolder::finish(process);
        QVERIFY2(stopped.exitCode == 130, qPrintable(stopped.error));
        QVERIFY2(stopped.error.contains("--resume parts\n"), qPrintable(stopped.error));
        QVERIFY2(isErrorLine(stopped.error), qPrintable(stopped.error));
        QVERIFY(!folder.has("parts/seed-3"));
        const CliResult resumed = folder.run({"train", "--resume", "parts"});
        QVERIFY2(resumed.exitCode == 0, qPrintable(resumed.error));
        QVERIFY(!resumed.out.contains("seed 1\n"));
        QVERIFY(jsonOf(folder, "parts/seeds.json") == jsonOf(folder, "whole/seeds.json"));
    }

    void aSeedThatDivergesIsPassedOver() {
        const CliFolder folder;
        QByteArray race = kRace;
        race.replace("\"steps\": 12", "\"steps\": 40, \"lr\": 1000000, \"clip\": 0");
        folder.write("race.json", race);
        const CliResult result =
            folder.run({"train", "race.json", "--seeds", "1,2", "--out", "two"});
        QVERIFY2(result.exitCode == 5, qPrintable(result.error));
        QCOMPARE(result.error.count('\n'), 2);
        QVERIFY(folder.has("two/seed-2"));
        const json values =
            jsonOf(folder, "two/seeds.json").at("members").at(0).at("test_perplexity");
        QCOMPARE(folder.run({"train", "--resume", "two"}).exitCode, 0); // nothing is left to do
        QCOMPARE(values.dump(),
                 std::string(R"({"deviation":null,"mean":null,"values":[null,null]})"));
    }

    void refused_data() {
        QTest::addColumn<QString>("options");
        QTest::addColumn<int>("exitCode");
        QTest::addColumn<QString>("part");
        QTest::newRow("twice") << "--seeds 1,2,1" << 2 << "seed 1 is given twice: --seeds";
        QTest::newRow("both") << "--seeds 1,2 --seed 3" << 2 << "--seed beside --seeds";
        QTest::newRow("words") << "--seeds 1,a" << 2 << "seeds is 'a': --seeds; give a whole";
        QTest::newRow("one log") << "--seeds 1,2 --log l" << 2
                                 << "one file for several seeds: --log";
        QTest::newRow("no text") << "--seeds 1,2 --out o --corpus missing.txt" << 3
                                 << "missing.txt";
        QTest::newRow("no experiment") << "missing.json --seeds 1,2 --out o" << 3 << "missing.json";
    }
    void refused() {
        QFETCH(QString, options);
        QFETCH(int, exitCode);
        QFETCH(QString, part);
        const CliFolder folder;
        const CliResult result = folder.run(QStringList{"train"} + options.split(' '));
        QCOMPARE(result.exitCode, exitCode);
        QVERIFY2(isErrorLine(result.error) && result.error.contains(part),
                 qPrintable(result.error));
        QVERIFY2(folder.entries().isEmpty(), qPrintable(folder.entries().join(' ')));
    }
};

QTEST_GUILESS_MAIN(TestCliSeeds)
#include "test_cli_seeds.moc"
