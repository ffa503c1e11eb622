// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli bench: its lines hold what the contract names, and what they say agrees with what the
// commands that they stand for say. No time is judged here.
#include "engine/compression/compressor_registry.h"
#include "engine/core/precision.h"
#include "tests/support/cli_process.h"

#include <QTest>

#include <nlohmann/json.hpp>

using namespace gradlab;
using namespace gradlab::tests;
using Json = nlohmann::json;

namespace {

/// Sanitizers bring their own operator new, and then nothing is counted.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCounted = false;
#else
constexpr bool kCounted = true;
#endif

Json lineOf(const CliResult& result) {
    if (result.exitCode != 0 || result.out.count('\n') != 1)
        return {};
    return Json::parse(result.out.toStdString());
}

bool allPositive(const Json& line, const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (!line.contains(name) || !line[name].is_number() || !(line[name].get<double>() > 0)) {
            qWarning("%s is not a positive number", name.c_str());
            return false;
        }
    return true;
}

/// What a method's messages save beside 32-bit numbers, up and down.
double savedBytes(const Json& cells, const Json& like) {
    double dense = 0.0;
    double own = 0.0;
    for (const Json& cell : cells) {
        if (cell["workers"] != like["workers"])
            continue;
        const double bytes = cell["bytes_up"].get<double>() + cell["bytes_down"].get<double>();
        if (cell["method"] == "none" && cell["values"] == "f32")
            dense = bytes;
        if (cell["method"] == like["method"])
            own = bytes;
    }
    return dense - own;
}

} // namespace

class TestCliBench : public QObject {
    Q_OBJECT

private slots:
    void compressLine_data() {
        QTest::addColumn<QStringList>("options");
        QTest::addColumn<double>("selected");
        QTest::newRow("topk") << QStringList{"--method", "topk", "--ratio", "0.01"} << 1000.0;
        QTest::newRow("randomk") << QStringList{"--method", "randomk", "--ratio", "0.001"} << 100.0;
        QTest::newRow("dgc") << QStringList{"--method", "dgc",          "--ratio",
                                            "0.01",     "--dgc-sample", "1"}
                             << 1000.0;
        QTest::newRow("qsgd") << QStringList{"--method", "qsgd", "--levels", "64"} << 100000.0;
        QTest::newRow("none") << QStringList{"--method", "none"} << 100000.0;
    }
    void compressLine() {
        QFETCH(QStringList, options);
        QFETCH(double, selected);
        const CliFolder folder;
        const CliResult result = folder.run(
            QStringList{"bench", "compress", "--elements", "100000", "--rounds", "3"} + options);
        const Json line = lineOf(result);
        QVERIFY2(!line.is_null(), qPrintable(result.error + result.out));
        QVERIFY(allPositive(line, {"copy_ms", "encode_ms", "decode_ms", "bytes", "bytes_paper",
                                   "bound_bytes", "copies", "threads"}));
        QCOMPARE(line["elements"].get<double>(), 100000.0);
        QCOMPARE(line["selected"].get<double>(), selected);
        QCOMPARE(line["method"].get<std::string>(), options[1].toStdString());
        QVERIFY(line["bytes"].get<double>() <= 4.0 * 100000);
        QVERIFY(line["allocations"].is_number() == kCounted);
    }

    void gradientFileIsMeasured() {
        const CliFolder folder;
        const QString file = QStringLiteral(GRADLAB_TEST_DATA "/init.safetensors");
        const QStringList method{"--method", "topk", "--ratio", "0.05", "--indices", "gap"};
        const CliResult result = folder.run(
            QStringList{"bench", "compress", "--gradient", file, "--rounds", "1"} + method);
        const Json line = lineOf(result);
        QVERIFY2(!line.is_null(), qPrintable(result.error));
        // The tool that compresses files once says the same of each tensor.
        const CliResult tool = folder.run(QStringList{"compress", "--in", file} + method);
        double elements = 0.0;
        double selected = 0.0;
        for (const QString& text : tool.out.split('\n', Qt::SkipEmptyParts)) {
            const Json tensor = Json::parse(text.toStdString());
            elements += tensor["n"].get<double>();
            selected += tensor["selected"].get<double>();
        }
        QVERIFY(elements > 0);
        QCOMPARE(line["elements"].get<double>(), elements);
        QCOMPARE(line["selected"].get<double>(), selected);
    }

    void trainLine() {
        const CliFolder folder;
        const CliResult result =
            folder.run({"bench", "train", "--hidden", "32", "--vocabulary", "500", "--batch", "8",
                        "--bptt", "5", "--workers", "2", "--threads", "1", "--steps", "3"});
        const Json line = lineOf(result);
        QVERIFY2(!line.is_null(), qPrintable(result.error));
        QVERIFY(allPositive(line,
                            {"tokens_per_second", "seconds_per_step", "compression_share",
                             "peak_rss_mib", "product_gflops", "share_of_limit", "bytes_message"}));
        const double tokens = line["tokens_per_second"].get<double>();
        const double seconds = line["seconds_per_step"].get<double>();
        QVERIFY(std::abs(tokens * seconds - 8 * 5) < 1e-6);
        const double flops = 6.0 * (500.0 * 32 + 8.0 * 2 * 32 * 32);
        const double share = flops * tokens / (1e9 * line["product_gflops"].get<double>());
        QVERIFY(std::abs(share / line["share_of_limit"].get<double>() - 1.0) < 1e-9);
        QVERIFY(line["allocations_per_step"].is_number() == kCounted);
    }

    void nothingAsksForMemory_data() {
        QTest::addColumn<QStringList>("options");
        for (const engine::MethodInfo& method : engine::compressionMethods())
            for (const std::string& memory : method.memories) {
                QStringList codes{"auto"};
                if (method.sparse)
                    codes << "gap"
                          << "entropy";
                else if (method.name != "none")
                    codes << "fixed"
                          << "entropy";
                for (const QString& code : codes) {
                    const QString name = QString::fromStdString(method.name);
                    const QString kept = QString::fromStdString(memory);
                    QTest::addRow("%s, %s, %s", qPrintable(name), qPrintable(kept),
                                  qPrintable(code))
                        << QStringList{"--method",
                                       name,
                                       "--memory",
                                       kept,
                                       method.sparse ? "--indices" : "--level-code",
                                       code};
                }
            }
    }
    void nothingAsksForMemory() {
        // Nothing of a step does once buffers have grown, however much it sends. (On several
        // threads TBB may, for itself, whenever its own begin to help.)
        if (!kCounted)
            QSKIP("allocations are not counted here");
        QFETCH(QStringList, options);
        const CliFolder folder;
        const Json train = lineOf(folder.run(
            QStringList{"bench", "train", "--hidden", "32", "--vocabulary", "500", "--batch", "8",
                        "--bptt", "5", "--workers", "2", "--threads", "1", "--steps", "20"} +
            options));
        QVERIFY(!train.is_null());
        QCOMPARE(train["allocations_per_step"].get<double>(), 0.0);
        const Json compress = lineOf(folder.run(
            QStringList{"bench", "compress", "--elements", "100000", "--rounds", "20"} + options));
        QVERIFY(!compress.is_null());
        QCOMPARE(compress["allocations"].get<double>(), 0.0);
    }

    // What a step in bf16 is measured with is the rate of such products.
    void trainLineInBf16() {
        if (engine::bf16Ability() != engine::Bf16Ability::Ready)
            QSKIP(whyNotBf16(engine::bf16Ability()).data());
        const CliFolder folder;
        const CliResult result = folder.run(
            {"bench", "train", "--hidden", "32", "--vocabulary", "500", "--batch", "8", "--bptt",
             "5", "--workers", "2", "--threads", "1", "--steps", "3", "--precision", "bf16"});
        const Json line = lineOf(result);
        QVERIFY2(!line.is_null(), qPrintable(result.error));
        QCOMPARE(line["precision"].get<std::string>(), std::string("bf16"));
        QVERIFY(allPositive(line, {"tokens_per_second", "product_gflops", "share_of_limit"}));
        QCOMPARE(line["values"].get<std::string>(), std::string("f32"));
    }

    void wholeDocument() {
        const CliFolder folder;
        const CliResult result = folder.run(
            {"bench", "--models", "small", "--worker-counts", "1,2", "--batch", "4", "--bptt", "3",
             "--vocabulary", "200", "--steps", "1", "--elements", "5000", "--rounds", "1"});
        QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        const Json document = Json::parse(result.out.toStdString());
        const Json& products = document["limits"]["product_gflops"];
        QVERIFY(allPositive(products["f32"], {"1"}));
        const bool bf16 = engine::bf16Ability() == engine::Bf16Ability::Ready;
        QCOMPARE(products.contains("bf16"), bf16);
        QVERIFY(!bf16 || allPositive(products["bf16"], {"1"}));
        QVERIFY(allPositive(document["limits"]["copy_bytes_per_second"], {"1"}));
        QVERIFY(!document["kernels"].empty() && !document["compress"].empty());
        for (const Json& kernel : document["kernels"])
            QVERIFY(allPositive(kernel, {"seconds", "gflops", "share_of_limit"}));
        // Of each number of workers: none in two widths, and four methods.
        QCOMPARE(document["train"].size(), std::size_t{2 * 6});
        QCOMPARE(document["overhead"].size(), std::size_t{2 * 4});
        QCOMPARE(document["pays"].size(), std::size_t{2 * 4});
        for (const Json& pays : document["pays"]) {
            // Where a method takes longer and saves bytes, the rate is what makes both equal.
            const Json& rate = pays["bits_per_second_below_f32"];
            if (!rate.is_number())
                continue;
            const double saved = savedBytes(document["train"], pays);
            const double workers = pays["workers"].get<double>();
            const double extra = pays["extra_seconds"].get<double>();
            const double expected = saved <= 0 ? 0.0 : 8.0 * workers * saved / extra;
            QVERIFY2(std::abs(rate.get<double>() - expected) <= 1e-9 * expected,
                     qPrintable(QString::number(expected)));
        }
    }

    void badOptionsAreRefused() {
        const CliFolder folder;
        for (const QStringList& options :
             {QStringList{"bench", "compress", "--elements", "0"},
              QStringList{"bench", "compress", "--ratio", "2"},
              QStringList{"bench", "compress", "--hidden", "3"},
              QStringList{"bench", "train", "--hidden", "0"},
              QStringList{"bench", "--models", "huge"},
              QStringList{"bench", "--worker-counts", "3x"},
              QStringList{"bench", "--worker-counts", "3", "--batch", "256"},
              QStringList{"bench", "nothing"}}) {
            const CliResult result = folder.run(options);
            QVERIFY2(result.exitCode == 2, qPrintable(options.join(' ')));
            QVERIFY2(isErrorLine(result.error), qPrintable(result.error));
        }
        const CliResult missing = folder.run({"bench", "compress", "--gradient", "missing"});
        QCOMPARE(missing.exitCode, 3);
        QVERIFY2(isErrorLine(missing.error), qPrintable(missing.error));
        for (const QStringList& options :
             {QStringList{"bench", "--help"}, QStringList{"bench", "compress", "--help"},
              QStringList{"bench", "train", "-h"}}) {
            const CliResult help = folder.run(options);
            QCOMPARE(help.exitCode, 0);
            QVERIFY(help.out.contains("gradlab-cli bench"));
        }
    }
};

QTEST_GUILESS_MAIN(TestCliBench)
#include "test_cli_bench.moc"
