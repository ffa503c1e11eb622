// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// PyTorch's twelve training runs and its compressed vector, through the program and its files.
#include "engine/core/safetensors.h"
#include "engine/metrics/run_log.h"
#include "tests/support/cli_process.h"
#include "tests/support/oracle_options.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>

using namespace gradlab;
using namespace gradlab::tests;
using nlohmann::json;

namespace {

void writeTensor(const std::string& path, const std::vector<float>& values) {
    engine::SafetensorsWriter writer;
    writer.add("v", {values.size()}, std::span<const float>(values));
    writer.write(path);
}

std::vector<float> readTensor(const std::string& path, std::size_t size) {
    std::vector<float> values(size);
    engine::SafetensorsFile::read(path).copyTo("v", std::span(values));
    return values;
}

} // namespace

class TestCliOracle : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void curves_data() {
        QTest::addColumn<int>("index");
        const json runs = oracleRuns();
        for (std::size_t i = 0; i < runs.size(); ++i)
            QTest::addRow("%zu %s x%d", i, runs[i].at("method").get<std::string>().c_str(),
                          runs[i].at("workers").get<int>())
                << static_cast<int>(i);
    }
    void curves() {
        QFETCH(int, index);
        const json run = oracleRuns().at(static_cast<std::size_t>(index));
        const CliFolder folder;
        const CliResult result =
            folder.run(oracleOptions(run) + QStringList{"--log", "log.jsonl", "--quiet"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        std::size_t step = 0;
        for (const engine::Record& record : engine::readRunLog(folder.file("log.jsonl"))) {
            if (const auto* now = std::get_if<engine::StepRecord>(&record)) {
                const double expected = run.at("loss_per_step").at(step).get<double>();
                QVERIFY2(std::abs(now->loss - expected) <= 1e-7, std::to_string(step).c_str());
                QVERIFY(now->nonzero * run.at("workers").get<double>() ==
                        run.at("nonzeros_per_step").at(step).get<double>());
                ++step;
            }
            if (const auto* end = std::get_if<engine::EndRecord>(&record))
                QVERIFY(std::abs(*end->testPerplexity -
                                 run.at("valid_perplexity_B4").get<double>()) <= 1e-6);
        }
        QCOMPARE(step, std::size_t{80});
    }

    void topKSets_data() {
        QTest::addColumn<QString>("ratio");
        for (const char* ratio : {"0.5", "0.1", "0.011", "1e-06", "1.0"})
            QTest::newRow(ratio) << ratio;
    }
    void topKSets() {
        QFETCH(QString, ratio);
        const json oracle = readJsonFile("compressors.json");
        const json expected = oracle.at("topk_" + ratio.toStdString());
        const auto vector = oracle.at("vector").get<std::vector<float>>();
        const CliFolder folder;
        writeTensor(folder.file("g"), vector);
        const CliResult result = folder.run({"compress", "--in", "g", "--method", "topk",
                                             "--memory", "none", "--ratio", ratio, "--out", "d"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const json line = json::parse(result.out.toStdString());
        QCOMPARE(line.at("selected").get<int>(), expected.at("k").get<int>());
        const auto decoded = readTensor(folder.file("d"), vector.size());
        std::vector<std::size_t> indices;
        for (std::size_t i = 0; i < decoded.size(); ++i) {
            if (decoded[i] == 0.0F)
                continue;
            QVERIFY(decoded[i] == vector[i]);
            indices.push_back(i);
        }
        auto wanted = expected.at("indices").get<std::vector<std::size_t>>();
        std::sort(wanted.begin(), wanted.end());
        QVERIFY(indices == wanted);
    }

    void qsgdLevels_data() {
        QTest::addColumn<int>("levels");
        QTest::addColumn<QString>("norm");
        for (const int levels : {64, 16, 4, 1}) {
            for (const char* norm : {"l2", "max"})
                QTest::addRow("s=%d %s", levels, norm) << levels << norm;
        }
    }
    void qsgdLevels() {
        QFETCH(int, levels);
        QFETCH(QString, norm);
        const json oracle = readJsonFile("compressors.json");
        const json expected =
            oracle.at("qsgd").at("s" + std::to_string(levels) + "_" + norm.toStdString());
        const auto vector = oracle.at("vector").get<std::vector<float>>();
        const CliFolder folder;
        writeTensor(folder.file("g"), vector);
        writeTensor(folder.file("u"), oracle.at("qsgd").at("uniforms").get<std::vector<float>>());
        const CliResult result =
            folder.run({"compress", "--in", "g", "--method", "qsgd", "--levels",
                        QString::number(levels), "--norm", norm, "--uniforms", "u", "--out", "d"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const auto decoded = readTensor(folder.file("d"), vector.size());
        const double step = expected.at("norm").get<double>() / levels;
        for (std::size_t i = 0; i < decoded.size(); ++i) {
            const double level = static_cast<double>(decoded[i]) / step;
            QVERIFY(std::abs(level - std::round(level)) < 1e-4);
            QCOMPARE(static_cast<int>(std::lround(level)), expected.at("levels").at(i).get<int>());
        }
    }
};

QTEST_GUILESS_MAIN(TestCliOracle)
#include "test_cli_oracle.moc"
