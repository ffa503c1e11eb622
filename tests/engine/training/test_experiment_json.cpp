// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Experiment documents: round trips, races, and everything that must be refused with a precise
// message.
#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/training/experiment_schema.h"
#include "tests/support/sample_records.h"

#include <QTest>

#include <fstream>
#include <limits>
#include <optional>

using namespace gradlab::engine;
using gradlab::tests::CommaLocale;

namespace {

/// The message with which a text is refused, or "accepted".
QString refusal(const std::string& text) {
    try {
        (void)parseExperiments(text, "x.json");
        return "accepted";
    } catch (const Error& error) {
        return error.what();
    }
}

} // namespace

class TestExperimentJson : public QObject {
    Q_OBJECT

private slots:
    void roundTrip() {
        Experiment experiment = defaultExperiment();
        experiment.name = "größer \"quoted\" \\ tab\t";
        experiment.name.pop_back(); // control characters are refused in names
        experiment.training.lr = 1.0 / 3.0;
        experiment.training.seed = 4294967295;
        experiment.compression.method = "randomk";
        setField(experiment, "compression.ratio", 0.29);
        experiment.cluster.link.serverBandwidth = std::numeric_limits<double>::infinity();
        experiment.cluster.link.latency = 20e-6;
        experiment.corpus.source = "/tmp/a b/ü.txt";
        const std::string text = toJson(experiment);
        QVERIFY(text.ends_with("}\n"));
        const auto back = parseExperiments(text, "x.json");
        QCOMPARE(back.size(), std::size_t{1});
        QCOMPARE(QString::fromStdString(toJson(back.front())), QString::fromStdString(text));
        for (const FieldSpec& field : experimentSchema())
            QVERIFY2(getField(back.front(), field.path) == getField(experiment, field.path),
                     field.path.c_str());
        QCOMPARE(QString::fromStdString(back.front().name),
                 QString::fromStdString(experiment.name));
    }

    void numbersOrTextsForRates() {
        const auto parsed = parseExperiments(
            R"({"schema":1,"cluster":{"link":{"bandwidth":10000000,"latency":"20us",)"
            R"("server_bandwidth":"unlimited"}},"training":{"steps":1e3}})",
            "x.json");
        QVERIFY(parsed.front().cluster.link.bandwidth == 1e7);
        QVERIFY(parsed.front().cluster.link.latency == 20e-6);
        QVERIFY(std::isinf(parsed.front().cluster.link.serverBandwidth));
        QCOMPARE(parsed.front().training.steps, std::int64_t{1000});
    }

    void raceInheritsTheFirst() {
        const auto race = parseExperiments(
            R"({"schema":1,"race":[{"name":"a","training":{"lr":3},"compression":{"ratio":0.5}},)"
            R"({"compression":{"method":"topk"}},{"training":{"lr":4}}]})",
            "x.json");
        QCOMPARE(race.size(), std::size_t{3});
        QVERIFY(race[1].training.lr == 3.0);
        QVERIFY(std::get<double>(getField(race[1], "compression.ratio")) == 0.5);
        QVERIFY(race[1].name.empty());
        QCOMPARE(QString::fromStdString(race[2].compression.method), QString("none"));
        QVERIFY(race[2].training.lr == 4.0);
        const auto back = parseExperiments(raceToJson(race), "x.json");
        QCOMPARE(QString::fromStdString(raceToJson(back)),
                 QString::fromStdString(raceToJson(race)));
    }

    void refused_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("part");
        const auto row = [](const char* name, const char* text, const char* part) {
            QTest::newRow(name) << text << part;
        };
        row("empty", "", "line 1, column 1");
        row("cut", "{\"schema\":1,\n \"training\": {", "line 2");
        row("comma", "{\"schema\":1,\n\"name\" \"x\"}", "line 2, column 10");
        row("list", "[1]", "not an experiment");
        row("no schema", "{}", "schema is missing");
        row("schema 2", R"({"schema":2})", "schema is 2: x.json; gradlab");
        row("schema text", R"({"schema":"1"})", "schema is '1'");
        row("unknown", R"({"schema":1,"colour":1})", "unknown field 'colour'");
        row("unknown nested", R"({"schema":1,"training":{"lrr":1}})",
            "unknown field 'training.lrr'");
        row("dotted key", R"({"schema":1,"training.lr":1})", "unknown field 'training.lr'");
        row("group", R"({"schema":1,"training":7})", "'training' is 7");
        row("null", R"({"schema":1,"training":{"lr":null}})", "lr is null");
        row("type", R"({"schema":1,"training":{"lr":"fast"}})",
            "lr is 'fast': x.json, field training.lr; give a number in [0, 1000000]");
        row("boolean", R"({"schema":1,"model":{"tied":1}})", "tied is 1");
        row("fraction", R"({"schema":1,"training":{"steps":1.5}})", "steps is 1.5");
        row("overflow", R"({"schema":1,"training":{"steps":99999999999999999999}})",
            "steps is 1e+20");
        row("unsigned", R"({"schema":1,"training":{"seed":18446744073709551615}})",
            "seed is 18446744073709551615");
        row("huge", R"({"schema":1,"training":{"lr":1e999}})", "x.json");
        row("range", R"({"schema":1,"compression":{"ratio":0}})", "ratio is 0");
        row("nan", R"({"schema":1,"training":{"lr":NaN}})", "not valid JSON");
        row("twice", R"({"schema":1,"training":{"lr":1,"lr":2}})", "'lr' stands twice");
        row("group twice", R"({"schema":1,"model":{},"model":{}})", "'model' stands twice");
        row("choice", R"({"schema":1,"compression":{"method":"zip"}})", "method is 'zip'");
        row("race empty", R"({"schema":1,"race":[]})", "race is a list");
        row("race type", R"({"schema":1,"race":{}})", "race is an object");
        row("race entry", R"({"schema":1,"race":[{},3]})", "experiment 2 of the race");
        row("race in race", R"({"schema":1,"race":[{"race":[]}]})", "a race within a race");
        row("beside race", R"({"schema":1,"race":[{}],"training":{}})", "beside race");
        row("race field", R"({"schema":1,"race":[{},{"model":{"hidden":0}}]})",
            "hidden is 0: x.json, experiment 2 of the race, field model.hidden");
        row("name", R"({"schema":1,"name":"a\nb"})", "name is 'a?b'");
    }
    void refused() {
        QFETCH(QString, text);
        QFETCH(QString, part);
        const QString message = refusal(text.toLatin1().toStdString());
        QVERIFY2(message.contains(part), qPrintable(message));
        QVERIFY2(message.contains("x.json") && message.contains("; "), qPrintable(message));
        QVERIFY2(!message.contains('\n'), qPrintable(message));
    }

    void bytesThatAreNotUtf8AreRefused() {
        QVERIFY(refusal("{\"schema\":1,\"name\":\"\xff\"}").contains("not valid JSON"));
    }

    void unknownFieldNamesTheVersion() {
        QVERIFY(refusal(R"({"schema":1,"x":1})")
                    .contains("gradlab " + QString::fromUtf8(version().data())));
    }

    void deepNestingIsSafe() {
        const std::string deep = "{\"schema\":1,\"model\":" + std::string(200000, '[');
        QVERIFY2(refusal(deep).contains("nested too deeply"), qPrintable(refusal(deep)));
    }

    void enormousDocumentIsRefused() {
        const std::string text = "{\"schema\":1,\"name\":\"" + std::string(5 << 20, 'x') + "\"}";
        QVERIFY(refusal(text).contains("too large"));
    }

    void files() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("e.json").toStdString();
        std::ofstream(path) << toJson(defaultExperiment());
        QCOMPARE(readExperiments(path).size(), std::size_t{1});
        QVERIFY_EXCEPTION_THROWN((void)readExperiments(path + ".missing"), DataError);
        QVERIFY_EXCEPTION_THROWN((void)readExperiments(folder.path().toStdString()), DataError);
    }

    void commaLocaleChangesNothing() {
        Experiment experiment = defaultExperiment();
        experiment.training.lr = 1234.5;
        const std::string plain = toJson(experiment);
        std::optional<CommaLocale> comma(std::in_place);
        const std::string text = toJson(experiment);
        const auto back = parseExperiments(text, "x.json");
        comma.reset();
        QCOMPARE(QString::fromStdString(text), QString::fromStdString(plain));
        QVERIFY(back.front().training.lr == 1234.5);
    }
};

QTEST_GUILESS_MAIN(TestExperimentJson)
#include "test_experiment_json.moc"
