// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// metrics.jsonl: the contract's names, every bit of every number, and what crashes leave behind.
#include "engine/core/errors.h"
#include "engine/metrics/record_json.h"
#include "engine/metrics/run_log.h"
#include "tests/support/sample_records.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

using namespace gradlab::engine;
using namespace gradlab::tests;

namespace {

std::string readText(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The line without its break.
std::string lineOf(const Record& record) {
    std::string line = toJsonLine(record);
    line.pop_back();
    return line;
}

std::vector<Record> sampleRecords() {
    return {sampleStart(),  sampleStep(1), sampleWorker(1), sampleEval(1),
            sampleEvent(1), sampleStep(2), sampleEnd(2)};
}

/// The samples, and each optional field the other way: there or left out.
std::vector<Record> everyForm() {
    StartRecord floors = sampleStart();
    floors.entropyFloorValid = awkward(9);
    WorkerRecord infinite = sampleWorker(2);
    infinite.parts.clear();
    infinite.loss = std::numeric_limits<double>::infinity();
    infinite.cpu.turn = -infinite.loss;
    EvalRecord plainEval = sampleEval(2);
    plainEval.split = "test";
    plainEval.sample.clear();
    EventRecord plainEvent = sampleEvent(3);
    plainEvent.event = "checkpoint";
    plainEvent.field = plainEvent.from = plainEvent.to = "";
    EventRecord fromNothing = sampleEvent(4);
    fromNothing.from = "";
    EndRecord diverged = sampleEnd(2);
    diverged.reason = "diverged";
    diverged.message = "the loss is nan";
    diverged.testPerplexityAtBest = awkward(19);
    EndRecord noTarget = sampleEnd(2);
    noTarget.targetSteps.reset();
    noTarget.testPerplexity.reset();
    return {sampleStart(), floors,    sampleStep(1),  sampleWorker(1), infinite,
            sampleEval(1), plainEval, sampleEvent(1), plainEvent,      fromNothing,
            sampleEnd(2),  diverged,  noTarget};
}

void writeLog(const std::string& path, const std::vector<Record>& records) {
    RunLog log(path);
    for (const Record& record : records)
        log.record(record);
}

} // namespace

class TestRunLog : public QObject {
    Q_OBJECT

private slots:
    void contractsNames() {
        const auto step = nlohmann::json::parse(lineOf(sampleStep(1)));
        for (const char* key : {"kind",          "step",        "epoch",         "tokens",
                                "wall_s",        "simulated_s", "loss",          "lr",
                                "ratio",         "selected",    "nonzero",       "density",
                                "bytes_message", "bytes_up",    "bytes_down",    "bytes_dense",
                                "bytes_paper",   "grad_norm",   "residual_norm", "error",
                                "energy_kept"})
            QVERIFY2(step.contains(key), key);
        for (const char* clock : {"t", "cpu"}) {
            for (const char* key : {"forward", "backward", "compress", "encode", "transfer", "wait",
                                    "turn", "decode", "update", "transfer_hidden"})
                QVERIFY2(step.at(clock).contains(key), key);
        }
        const auto start = nlohmann::json::parse(lineOf(sampleStart()));
        for (const char* key :
             {"experiment", "version", "host", "cpu", "parameters", "tensors", "vocabulary",
              "train_tokens", "corpus_hash", "entropy_floor", "unigram_perplexity"})
            QVERIFY2(start.contains(key), key);
        QVERIFY(start.at("experiment").is_object());
        QCOMPARE(start.at("tensors").at(0).at("shape").at(1).get<int>(), 100);
        const auto eval = nlohmann::json::parse(lineOf(sampleEval(1)));
        for (const char* key : {"kind", "step", "epoch", "split", "nll", "tokens", "perplexity"})
            QVERIFY2(eval.contains(key), key);
        const auto event = nlohmann::json::parse(lineOf(sampleEvent(1)));
        for (const char* key : {"kind", "step", "event", "details"})
            QVERIFY2(event.contains(key), key);
        const auto end = nlohmann::json::parse(lineOf(sampleEnd(2)));
        for (const char* key :
             {"kind", "reason", "steps", "best_valid_perplexity", "test_perplexity", "totals"})
            QVERIFY2(end.contains(key), key);
    }

    // Tools of others read these lines: the same bytes for the same values.
    void linesAreThese() {
        std::string lines;
        for (const Record& record : everyForm())
            lines += toJsonLine(record);
        QCOMPARE(QString::fromStdString(lines),
                 QString::fromStdString(readText(GRADLAB_TEST_DATA "/records.jsonl")));
    }

    void everyRecordRoundTrips() {
        for (const Record& record : everyForm()) {
            const std::string line = toJsonLine(record);
            QVERIFY(line.ends_with("}\n"));
            QCOMPARE(std::count(line.begin(), line.end(), '\n'), std::ptrdiff_t{1});
            const auto back = parseJsonLine(std::string_view(line).substr(0, line.size() - 1));
            QVERIFY(back.has_value());
            QCOMPARE(back->index(), record.index());
            // Shortest numbers: equal text means equal bits.
            QCOMPARE(QString::fromStdString(toJsonLine(*back)), QString::fromStdString(line));
        }
        const auto step = parseJsonLine(lineOf(sampleStep(9)));
        QVERIFY(std::get<StepRecord>(*step).cpu.transferHidden == awkward(209));
        QVERIFY(std::get<StepRecord>(*step).density == 1e-300);
        const auto worker = parseJsonLine(lineOf(sampleWorker(9)));
        QVERIFY(std::get<WorkerRecord>(*worker).bytesUp == (std::uint64_t{1} << 53U) + 1);
    }

    void countersBeyondDoublesAreTexts() {
        const auto json = nlohmann::json::parse(lineOf(sampleWorker(1)));
        QVERIFY(json.at("bytes_up").is_string());
        QVERIFY(json.at("bytes_message").is_number_unsigned());
    }

    void nonFiniteNumbersAreNamed() {
        StepRecord step = sampleStep(5);
        step.loss = std::nan("");
        step.gradNorm = std::numeric_limits<double>::infinity();
        step.t.forward = -std::numeric_limits<double>::infinity();
        const auto json = nlohmann::json::parse(lineOf(step));
        QVERIFY(json.at("loss").is_null());
        QCOMPARE(QString::fromStdString(json.at("nonfinite").at("loss").get<std::string>()),
                 QString("nan"));
        QCOMPARE(QString::fromStdString(json.at("nonfinite").at("grad_norm").get<std::string>()),
                 QString("inf"));
        QCOMPARE(QString::fromStdString(json.at("nonfinite").at("t.forward").get<std::string>()),
                 QString("-inf"));
        QVERIFY(!nlohmann::json::parse(lineOf(sampleStep(5))).contains("nonfinite"));
        const StepRecord back = std::get<StepRecord>(*parseJsonLine(lineOf(step)));
        QVERIFY(std::isnan(back.loss));
        QVERIFY(std::isinf(back.gradNorm) && back.gradNorm > 0.0);
        QVERIFY(std::isinf(back.t.forward) && back.t.forward < 0.0);
        QVERIFY(std::isfinite(back.t.backward));
    }

    void readableWhileItIsWritten() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("metrics.jsonl").toStdString();
        RunLog log(path);
        QVERIFY(!QFile::exists(folder.filePath("metrics.jsonl"))); // nothing before the start
        std::size_t written = 0;
        for (const Record& record : sampleRecords()) {
            log.record(record);
            QCOMPARE(readRunLog(path).size(), ++written);
        }
    }

    void cutLastLineIsIgnored() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("metrics.jsonl").toStdString();
        writeLog(path, sampleRecords());
        const std::string whole = readText(path);
        const std::size_t lastLine = whole.rfind('\n', whole.size() - 2) + 1;
        for (const std::size_t size : {lastLine + 1, lastLine + 20, whole.size() - 1}) {
            std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
            QCOMPARE(readRunLog(path).size(), std::size_t{6});
        }
        // Whoever goes on writing begins a line of their own.
        RunLog log(path);
        log.record(sampleStep(3));
        QVERIFY(readText(path).ends_with("\n" + toJsonLine(sampleStep(3))));
    }

    void hostileLinesAreErrorsWithTheirNumber() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("metrics.jsonl").toStdString();
        const std::string deep =
            R"({"kind":"start","experiment":)" + std::string(100000, '[') + "}";
        for (const std::string& line :
             {std::string("{"), std::string("[]"), std::string("{}"), std::string("\xff"),
              std::string(R"({"kind":7})"), std::string(R"({"kind":"step","step":-1})"),
              std::string(R"({"kind":"step","step":"x1"})"),
              std::string(R"({"kind":"step","t":3})"), std::string(R"({"kind":"step","loss":"1"})"),
              std::string(R"({"kind":"start","tensors":[{"name":1}]})"),
              std::string(R"({"kind":"worker","rank":4294967296})"), deep}) {
            std::ofstream(path, std::ios::binary | std::ios::trunc)
                << toJsonLine(sampleStart()) << line << "\n"
                << toJsonLine(sampleStep(1));
            try {
                (void)readRunLog(path);
                QFAIL(line.substr(0, 50).c_str());
            } catch (const DataError& error) {
                QVERIFY2(QString(error.what()).contains("metrics.jsonl, line 2"), error.what());
            }
        }
        QVERIFY_EXCEPTION_THROWN((void)readRunLog(path + ".missing"), DataError);
    }

    void unknownKindsAndFieldsAreSkipped() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("metrics.jsonl").toStdString();
        std::ofstream(path) << "{\"kind\":\"weather\",\"rain\":1}\n"
                            << "{\"kind\":\"step\",\"step\":4,\"colour\":\"red\"}\n\n";
        const auto records = readRunLog(path);
        QCOMPARE(records.size(), std::size_t{1});
        QCOMPARE(std::get<StepRecord>(records.front()).step, std::uint64_t{4});
    }

    void resumeCutsWhatIsPastTheCheckpoint() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("metrics.jsonl").toStdString();
        std::vector<Record> records{sampleStart()};
        for (std::uint64_t i = 1; i <= 20; ++i) {
            records.emplace_back(sampleStep(i));
            if (i % 5 == 0)
                records.emplace_back(sampleEval(i));
        }
        records.emplace_back(sampleEnd(20));
        writeLog(path, records);
        std::ofstream(path, std::ios::app) << "{\"kind\":\"st";
        cutRunLogAfter(path, 10);
        const auto left = readRunLog(path);
        QCOMPARE(left.size(), std::size_t{1 + 10 + 2});
        QCOMPARE(std::get<EvalRecord>(left.back()).step, std::uint64_t{10});
        QVERIFY(readText(path).ends_with("\n"));
        // Even at the end itself, the end record goes: the run goes on.
        writeLog(path, {sampleEnd(10)});
        cutRunLogAfter(path, 10);
        QCOMPARE(readRunLog(path).size(), std::size_t{13});
        cutRunLogAfter(path + ".missing", 3);
        QVERIFY(!QFile::exists(QString::fromStdString(path + ".missing")));
    }

    void commaLocaleChangesNothing() {
        const std::string plain = toJsonLine(sampleStep(1000000));
        const CommaLocale comma;
        QCOMPARE(QString::fromStdString(toJsonLine(sampleStep(1000000))),
                 QString::fromStdString(plain));
        const auto back = parseJsonLine(std::string_view(plain).substr(0, plain.size() - 1));
        QVERIFY(std::get<StepRecord>(*back).loss == awkward(3));
    }

    void fullDiskIsAnError() {
        if (!QFile::exists("/dev/full"))
            QSKIP("no /dev/full here");
        RunLog log("/dev/full");
        QVERIFY_EXCEPTION_THROWN(log.record(sampleStart()), DataError);
        RunLog nowhere("/nonexistent/folder/metrics.jsonl");
        QVERIFY_EXCEPTION_THROWN(nowhere.record(sampleStart()), DataError);
    }
};

QTEST_GUILESS_MAIN(TestRunLog)
#include "test_run_log.moc"
