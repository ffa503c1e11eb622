// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli compress: costs a tensor, what a receiver decodes, and memory that lives in files.
#include "engine/compression/compressor_registry.h"
#include "engine/core/random.h"
#include "engine/core/safetensors.h"
#include "tests/support/cli_process.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

using namespace gradlab;
using namespace gradlab::tests;
using nlohmann::json;

namespace {

using Tensors = std::map<std::string, std::vector<float>>;

std::vector<float> normals(std::size_t size, std::uint32_t lane) {
    engine::RandomStream random(7, engine::RandomPurpose::Test, 0, lane, 0);
    std::vector<float> values(size);
    for (float& value : values)
        value = static_cast<float>(random.normal());
    return values;
}

Tensors gradient(std::uint32_t lane) {
    return {{"a.weight", normals(300, lane)}, {"b", normals(40, lane + 100)}};
}

void writeTensors(const std::string& path, const Tensors& tensors) {
    engine::SafetensorsWriter writer;
    for (const auto& [name, values] : tensors)
        writer.add(name, {values.size()}, std::span<const float>(values));
    writer.write(path);
}

Tensors readTensors(const std::string& path) {
    const auto file = engine::SafetensorsFile::read(path);
    Tensors tensors;
    for (const engine::TensorView& tensor : file.tensors()) {
        auto& values = tensors[tensor.name];
        values.resize(tensor.elements());
        file.copyTo(tensor.name, std::span(values));
    }
    return tensors;
}

std::vector<json> lines(const CliResult& result) {
    std::vector<json> parsed;
    for (const QString& line : result.out.split('\n', Qt::SkipEmptyParts))
        parsed.push_back(json::parse(line.toStdString()));
    return parsed;
}

} // namespace

class TestCliCompress : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyMethodAndMemory_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("memory");
        for (const engine::MethodInfo& method : engine::compressionMethods()) {
            for (const std::string& memory : method.memories)
                QTest::addRow("%s %s", method.name.c_str(), memory.c_str())
                    << QString::fromStdString(method.name) << QString::fromStdString(memory);
        }
    }
    void everyMethodAndMemory() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        const CliFolder folder;
        writeTensors(folder.file("g"), gradient(1));
        const CliResult result =
            folder.run({"compress", "--in", "g", "--method", method, "--memory", memory, "--ratio",
                        "0.1", "--out", "d", "--state-out", "s"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const auto costs = lines(result);
        QCOMPARE(costs.size(), std::size_t{2});
        const Tensors input = gradient(1);
        const Tensors decoded = readTensors(folder.file("d"));
        for (const json& cost : costs) {
            const auto name = cost.at("tensor").get<std::string>();
            QCOMPARE(cost.at("n").get<std::size_t>(), input.at(name).size());
            for (const char* key : {"selected", "bytes_message", "bytes_paper", "bound_bytes",
                                    "error", "energy_kept", "encode_ms", "decode_ms"})
                QVERIFY2(cost.contains(key), key);
            // From zero memory p = g, so the errors can be checked from the files.
            double norm = 0.0;
            double difference = 0.0;
            double kept = 0.0;
            for (std::size_t i = 0; i < input.at(name).size(); ++i) {
                const auto g = static_cast<double>(input.at(name)[i]);
                const auto d = static_cast<double>(decoded.at(name)[i]);
                norm += g * g;
                difference += (g - d) * (g - d);
                kept += d * d;
            }
            QVERIFY(std::abs(cost.at("error").get<double>() - std::sqrt(difference / norm)) < 1e-5);
            QVERIFY(std::abs(cost.at("energy_kept").get<double>() - kept / norm) < 1e-5);
        }
    }

    void memoryInFilesTelescopes() {
        const CliFolder folder;
        Tensors sum;
        Tensors sent;
        QStringList state;
        for (std::uint32_t step = 1; step <= 6; ++step) {
            const Tensors now = gradient(step);
            writeTensors(folder.file("g"), now);
            const CliResult result =
                folder.run(QStringList{"compress", "--in", "g", "--method", "topk", "--ratio",
                                       "0.05", "--out", "d", "--state-out", "s"} +
                           state);
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
            state = {"--state", "s"};
            const Tensors decoded = readTensors(folder.file("d"));
            for (const auto& [name, values] : now) {
                sum[name].resize(values.size());
                sent[name].resize(values.size());
                for (std::size_t i = 0; i < values.size(); ++i) {
                    sum[name][i] += values[i];
                    sent[name][i] += decoded.at(name)[i];
                }
            }
        }
        const Tensors residual = readTensors(folder.file("s"));
        for (const auto& [name, values] : sum) {
            const auto& waits = residual.at("residual/" + name);
            for (std::size_t i = 0; i < values.size(); ++i)
                QVERIFY(std::abs(sent[name][i] + waits[i] - values[i]) < 1e-5F);
        }
    }

    void scopeModelIsOneUnit() {
        const CliFolder folder;
        Tensors loud = gradient(1);
        for (float& value : loud["b"])
            value *= 1000.0F;
        writeTensors(folder.file("g"), loud);
        const CliResult result = folder.run({"compress", "--in", "g", "--method", "topk", "--scope",
                                             "model", "--ratio", "0.1", "--out", "d"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        QCOMPARE(lines(result).size(), std::size_t{1});
        QCOMPARE(lines(result).front().at("n").get<int>(), 340);
        const Tensors decoded = readTensors(folder.file("d"));
        for (const float value : decoded.at("a.weight"))
            QVERIFY(value == 0.0F); // the loud tensor took it all
    }

    void stepDecidesRandomNumbers() {
        const CliFolder folder;
        writeTensors(folder.file("g"), gradient(1));
        const auto decoded = [&](const char* step, const char* seed) {
            const CliResult result =
                folder.run({"compress", "--in", "g", "--method", "randomk", "--ratio", "0.1",
                            "--step", step, "--seed", seed, "--out", "d"});
            return result.exitCode == 0 ? readTensors(folder.file("d")) : Tensors{};
        };
        const Tensors first = decoded("1", "42");
        QVERIFY(!first.empty());
        QVERIFY(decoded("1", "42") == first);
        QVERIFY(decoded("2", "42") != first);
        QVERIFY(decoded("1", "43") != first);
    }

    void aFullDiskIsSaid() {
        const CliFolder folder;
        writeTensors(folder.file("g"), gradient(1));
        QProcess process;
        process.setStandardOutputFile("/dev/full");
        folder.start(process, {"compress", "--in", "g", "--method", "topk"});
        const CliResult result = CliFolder::finish(process);
        QCOMPARE(result.exitCode, 3);
        QVERIFY2(result.error.startsWith("gradlab-cli: the result cannot be written: standard "
                                         "output; "),
                 qPrintable(result.error));
        QCOMPARE(result.error.count('\n'), 1);
    }

    void memoryMayStayInItsFile() {
        const CliFolder folder;
        writeTensors(folder.file("g"), gradient(1));
        QCOMPARE(
            folder.run({"compress", "--in", "g", "--method", "topk", "--state-out", "s"}).exitCode,
            0);
        const CliResult result = folder.run({"compress", "--in", "g", "--method", "topk", "--state",
                                             "s", "--state-out", "s", "--out", "d"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
    }

    void messagesNameTensorAndFile() {
        const CliFolder folder;
        engine::SafetensorsWriter writer;
        const std::vector<std::int64_t> whole = {1, 2, 3};
        writer.add("a", {3}, std::span<const std::int64_t>(whole));
        writer.write(folder.file("whole"));
        writeTensors(folder.file("g"), gradient(1));
        writeTensors(folder.file("other"), {{"b", normals(40, 1)}});
        writeTensors(folder.file("short"), {{"a.weight", normals(7, 1)}, {"b", normals(40, 1)}});
        const auto error = [&](const QStringList& more) {
            return folder.run(QStringList{"compress", "--method", "qsgd"} + more).error;
        };
        QCOMPARE(error({"--in", "whole"}),
                 QString("gradlab-cli: tensor 'a' holds I64: whole; give floating-point numbers "
                         "(F64, F32, F16 or BF16)\n"));
        QCOMPARE(error({"--in", "g", "--uniforms", "other"}),
                 QString("gradlab-cli: tensor 'a.weight' is missing: other; give a file that holds "
                         "it\n"));
        QCOMPARE(error({"--in", "g", "--uniforms", "short"}),
                 QString("gradlab-cli: tensor 'a.weight' has shape [7]: short; give one of 300 "
                         "elements\n"));
    }

    void badFilesWriteNothing() {
        const CliFolder folder;
        Tensors bad = gradient(1);
        bad["b"][20] = std::numeric_limits<float>::quiet_NaN();
        writeTensors(folder.file("nan"), bad);
        writeTensors(folder.file("g"), gradient(1));
        writeTensors(folder.file("small"), {{"b", normals(40, 1)}});
        Tensors uniforms = gradient(1);
        writeTensors(folder.file("negative"), uniforms);
        const QStringList before = folder.entries();
        const auto run = [&](const QStringList& more) {
            return folder.run(
                QStringList{"compress", "--method", "qsgd", "--out", "d", "--state-out", "s"} +
                more);
        };
        const CliResult nan = run({"--in", "nan"});
        QCOMPARE(nan.exitCode, 5);
        QVERIFY2(nan.error.contains("b"), qPrintable(nan.error));
        QCOMPARE(run({"--in", "g", "--uniforms", "small"}).exitCode, 3);
        QCOMPARE(run({"--in", "g", "--uniforms", "negative"}).exitCode, 3);
        QCOMPARE(run({"--in", "g", "--state", "g"}).exitCode, 3);
        QCOMPARE(run({"--in", "g", "--values", "f8"}).exitCode, 2);
        QCOMPARE(folder.entries(), before);
    }
};

QTEST_GUILESS_MAIN(TestCliCompress)
#include "test_cli_compress.moc"
