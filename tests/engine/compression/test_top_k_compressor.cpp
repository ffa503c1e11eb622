// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Top-k: the oracle's index sets, a full sort beside the selection for every content and many
// sizes, guesses that fail, k by its formula, scope, and the fill with zeros.
#include "engine/compression/compression_parameters.h"
#include "engine/compression/magnitude_selector.h"
#include "engine/compression/no_memory.h"
#include "tests/support/compression_case.h"
#include "tests/support/json_file.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

template <class T>
std::vector<std::uint32_t> selected(MagnitudeSelector<T>& selector, std::vector<T> values,
                                    std::size_t k) {
    NoMemory<T> memory;
    const CompressionUnit unit{0, "t", 0, values.size()};
    std::vector<T> scratch(kTileElements);
    TileSource<T> source(memory, unit, values, scratch, 1);
    selector.selectLargest(source, k);
    const auto indices = selector.indices();
    for (std::size_t i = 0; i < indices.size(); ++i)
        if (selector.values()[i] != values[indices[i]])
            return {};
    return {indices.begin(), indices.end()};
}

template <class T>
void compareWithSort(MagnitudeSelector<T>& selector, const std::string& content, std::size_t n) {
    const auto values = contentOf<T>(content, n);
    for (const double ratio : {1e-9, 0.001, 0.01, 0.3, 1.0}) {
        const std::size_t k = keptCount(ratio, n);
        if (selected(selector, values, k) != sortedTopK(values, k))
            QFAIL(qPrintable(
                QString("%1, n %2, k %3").arg(QString::fromStdString(content)).arg(n).arg(k)));
    }
}

/// Candidates beside a plain loop, for the vectors that the processor may compact by itself.
template <class T>
void compareWithLoop(const std::string& content) {
    for (const std::size_t n : {1UL, 7UL, 8UL, 15UL, 16UL, 17UL, 255UL, 1023UL, 1024UL, 5003UL}) {
        auto values = contentOf<T>(content, n);
        NoMemory<T> memory;
        const CompressionUnit unit{0, "t", 0, n};
        std::vector<T> scratch(kTileElements);
        MagnitudeSelector<T> selector;
        std::vector<MagnitudeKey<T>> thresholds = {1, ~MagnitudeKey<T>{0} >> 1U};
        for (std::size_t i = 0; i < n; i += 1 + n / 5)
            thresholds.push_back(std::max<MagnitudeKey<T>>(1, magnitudeKey(values[i])));
        for (const MagnitudeKey<T> threshold : thresholds) {
            TileSource<T> source(memory, unit, values, scratch, 1);
            selector.collect(source, threshold);
            std::vector<std::uint32_t> indices;
            std::vector<T> kept;
            for (std::size_t i = 0; i < n; ++i)
                if (magnitudeKey(values[i]) >= threshold) {
                    indices.push_back(static_cast<std::uint32_t>(i));
                    kept.push_back(values[i]);
                }
            QVERIFY(std::equal(selector.indices().begin(), selector.indices().end(),
                               indices.begin(), indices.end()));
            QVERIFY(sameValues(std::vector<T>(selector.values().begin(), selector.values().end()),
                               kept));
        }
    }
}

std::vector<std::uint32_t> sentIndices(const UnitView& view, const CompressionUnit& unit) {
    UnitDecoder<float> decoder;
    std::vector<std::uint32_t> indices;
    std::vector<float> values;
    decoder.decodeSparse(view, unit, indices, values);
    return indices;
}

} // namespace

class TestTopKCompressor : public QObject {
    Q_OBJECT

private slots:
    void candidatesAreThoseAtOrAboveTheThreshold_data() {
        QTest::addColumn<QString>("content");
        for (const std::string& name : contentNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void candidatesAreThoseAtOrAboveTheThreshold() {
        QFETCH(QString, content);
        compareWithLoop<float>(content.toStdString());
        compareWithLoop<double>(content.toStdString());
    }

    void oracleIndexSets_data() {
        QTest::addColumn<QString>("key");
        QTest::addColumn<double>("ratio");
        for (const auto& [key, ratio] : {std::pair{"topk_0.5", 0.5},
                                         {"topk_0.1", 0.1},
                                         {"topk_0.011", 0.011},
                                         {"topk_1e-06", 1e-6},
                                         {"topk_1.0", 1.0}})
            QTest::newRow(key) << QString(key) << ratio;
    }
    void oracleIndexSets() {
        QFETCH(QString, key);
        QFETCH(double, ratio);
        const auto oracle = gradlab::tests::readJsonFile("compressors.json");
        const auto& expected = oracle.at(key.toStdString());
        const auto vector = oracle.at("vector").get<std::vector<double>>();
        const auto indices = expected.at("indices").get<std::vector<std::uint32_t>>();
        CompressionSettings settings = settingsOf("topk", "none", "f64");
        settings.parameters["ratio"] = ratio;
        CompressionWorker<double> worker(planOf({vector.size()}), settings);
        const auto received = worker.step(vector);
        QCOMPARE(worker.compressor.stats().selected, expected.at("k").get<std::uint64_t>());
        QCOMPARE(indices.size(), expected.at("k").get<std::size_t>());
        std::vector<double> wanted(vector.size(), 0.0);
        for (const std::uint32_t index : indices)
            wanted[index] = vector[index];
        QVERIFY(sameValues(received, wanted));
    }

    void equalsAFullSort_data() {
        QTest::addColumn<QString>("content");
        for (const std::string& name : contentNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void equalsAFullSort() {
        QFETCH(QString, content);
        MagnitudeSelector<float> floats;
        MagnitudeSelector<double> doubles;
        const std::string name = content.toStdString();
        for (const std::size_t n :
             {1UL, 2UL, 3UL, 8UL, 33UL, 99UL, 255UL, 257UL, 4096UL, 4097UL, 16384UL, 20001UL}) {
            compareWithSort(floats, name, n);
            compareWithSort(doubles, name, n);
        }
    }

    void theStudysWaySendsTheSameBytes_data() {
        QTest::addColumn<QString>("content");
        for (const std::string& name : contentNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void theStudysWaySendsTheSameBytes() {
        QFETCH(QString, content);
        for (const std::string memory : {"none", "residual", "dgc"}) {
            CompressionWorker<float> fast(planOf({1, 700, 5000}), settingsOf("topk", memory));
            CompressionWorker<float> sorted(planOf({1, 700, 5000}),
                                            settingsOf("topk-sort", memory));
            for (std::uint32_t step = 1; step <= 2; ++step) { // a third sum of "huge" is not finite
                const auto values = contentOf<float>(content.toStdString(), 5701, step);
                const auto received = fast.step(values);
                QVERIFY(sameValues(received, sorted.step(values)));
                for (std::size_t part = 0; part < fast.bodies.size(); ++part)
                    QVERIFY(std::ranges::equal(fast.body(part), sorted.body(part)));
            }
        }
    }

    void aGuessThatFailsStillSelectsExactly() {
        // All that is large sits where the sample looks least: a run of a few elements.
        MagnitudeSelector<float> selector;
        for (const std::size_t k : {50UL, 300UL, 5000UL}) {
            auto values = contentOf<float>("normal", 100000);
            for (std::size_t i = 0; i < 200; ++i)
                values[70000 + i] *= 1000.0F;
            QCOMPARE(selected(selector, values, k), sortedTopK(values, k));
        }
        // A sample that sees only large values: stretches of equal length begin with them.
        std::vector<float> spiked(1 << 16, 1e-3F);
        for (std::size_t i = 0; i < spiked.size(); ++i)
            spiked[i] *= static_cast<float>(i % 16 == 0 ? 1000 + i % 7 : 1 + i % 5);
        for (const std::size_t k : {100UL, 4096UL, 4097UL, 20000UL})
            QCOMPARE(selected(selector, spiked, k), sortedTopK(spiked, k));
    }

    void fewerNonZerosThanKTakesTheFirstZeros() {
        MagnitudeSelector<float> selector;
        for (const std::size_t n : {10UL, 300UL, 20000UL})
            for (const std::size_t k : {1UL, 2UL, 5UL, 9UL, n})
                for (const std::vector<std::size_t>& places : {std::vector<std::size_t>{},
                                                               {0},
                                                               {1},
                                                               {n - 1},
                                                               {0, 1, 2},
                                                               {1, 4, n - 1},
                                                               {0, 3, 4, 5, n - 2}}) {
                    std::vector<float> values(n, 0.0F);
                    for (const std::size_t place : places)
                        values[place] = -1.0F - static_cast<float>(place);
                    QCOMPARE(selected(selector, values, k), sortedTopK(values, k));
                }
    }

    void keptCountFollowsItsFormula_data() {
        QTest::addColumn<double>("ratio");
        QTest::addColumn<quint64>("n");
        QTest::addColumn<quint64>("k");
        const auto row = [](double ratio, quint64 n, quint64 k) {
            QTest::addRow("%g of %llu", ratio, n) << ratio << n << k;
        };
        row(0.01, 1, 1);
        row(0.01, 2, 1);
        row(0.01, 99, 1);
        row(0.01, 100, 1);
        row(0.01, 101, 1);
        row(0.29, 100, 28); // the product lies just under 29
        row(0.3, 10, 3);
        row(0.7, 10, 7);
        row(0.57, 100, 56);
        row(1.0, 4097, 4097);
        row(1e-9, 4097, 1);
        row(0.5, 101, 50);
        row(0.999, 1, 1);
    }
    void keptCountFollowsItsFormula() {
        QFETCH(double, ratio);
        QFETCH(quint64, n);
        QFETCH(quint64, k);
        QCOMPARE(keptCount(ratio, n), std::size_t{k});
        for (const MethodInfo& method : compressionMethods()) {
            if (!method.sparse)
                continue;
            CompressionSettings settings = settingsOf(method.name, "none");
            settings.parameters["ratio"] = ratio;
            settings.parameters["sample"] = 1.0;
            CompressionWorker<float> worker(planOf({n}), settings);
            worker.step(contentOf<float>("normal", n));
            QCOMPARE(worker.compressor.stats().selected, std::uint64_t{k});
        }
    }

    void scopeTensorSendsFromBothScopeModelFromOne() {
        std::vector<float> gradient = contentOf<float>("normal", 2000);
        for (std::size_t i = 0; i < 1000; ++i)
            gradient[i] *= 1000.0F;
        CompressionSettings settings = settingsOf("topk", "residual");
        settings.parameters["ratio"] = 0.01;
        const auto sentFrom = [&](CompressionScope scope) {
            CompressionWorker<float> worker(planOf({1000, 1000}, scope), settings);
            const auto received = worker.step(gradient);
            const auto nonzero = [&](std::size_t first) {
                return std::count_if(received.begin() + static_cast<std::ptrdiff_t>(first),
                                     received.begin() + static_cast<std::ptrdiff_t>(first + 1000),
                                     [](float value) { return value != 0.0F; });
            };
            return std::pair{nonzero(0), nonzero(1000)};
        };
        QCOMPARE(sentFrom(CompressionScope::Tensor),
                 (std::pair<std::ptrdiff_t, std::ptrdiff_t>{10, 10}));
        QCOMPARE(sentFrom(CompressionScope::Model),
                 (std::pair<std::ptrdiff_t, std::ptrdiff_t>{20, 0}));
    }

    void indicesRiseAndMessageIsNearTheBound() {
        const std::size_t n = 100000;
        CompressionWorker<float> worker(planOf({n}), settingsOf("topk", "none"));
        worker.step(contentOf<float>("normal", n));
        const auto view = worker.units(0).front();
        const auto indices = sentIndices(view, worker.plan.units()[0]);
        QCOMPARE(indices.size(), std::size_t{1000});
        QVERIFY(std::is_sorted(indices.begin(), indices.end()));
        const double bound = worker.compressor.stats().boundBytes;
        QVERIFY(std::fabs(bound - 1000 * (32 + 8.07) / 8) < 10.0); // 8.07 bits an index at 1 %
        QVERIFY(static_cast<double>(worker.body(0).size()) < 1.15 * bound);
        QCOMPARE(worker.compressor.stats().paperBytes, 8000.0);
    }
};

QTEST_GUILESS_MAIN(TestTopKCompressor)
#include "test_top_k_compressor.moc"
