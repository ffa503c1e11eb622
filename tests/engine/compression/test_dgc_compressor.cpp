// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// DGC's selection: never more than k, 0.7k where the sampled threshold allows, exact where it
// cannot tell; the warm-up schedule.
#include "engine/compression/compression_parameters.h"
#include "engine/compression/dgc_compressor.h"
#include "tests/support/compression_case.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

CompressionSettings dgc(double ratio, double sample, const std::string& memory = "dgc") {
    CompressionSettings settings = settingsOf("dgc", memory);
    settings.parameters["ratio"] = ratio;
    settings.parameters["sample"] = sample;
    return settings;
}

} // namespace

class TestDgcCompressor : public QObject {
    Q_OBJECT

private slots:
    void selectedCountStaysInItsBand_data() {
        QTest::addColumn<QString>("content");
        for (const std::string& name : contentNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void selectedCountStaysInItsBand() {
        QFETCH(QString, content);
        for (const std::size_t n : {1UL, 50UL, 199UL, 201UL, 5000UL, 30000UL})
            for (const double ratio : {0.001, 0.01, 0.05, 0.3}) {
                CompressionWorker<float> worker(planOf({n}), dgc(ratio, 0.02, "none"));
                const std::size_t k = keptCount(ratio, n);
                for (std::uint32_t seed = 1; seed <= 2; ++seed) {
                    worker.step(contentOf<float>(content.toStdString(), n, seed));
                    const auto selected = worker.compressor.stats().selected;
                    QVERIFY(selected <= k);
                    QVERIFY(static_cast<double>(selected) >= 0.7 * static_cast<double>(k));
                    QVERIFY(worker.compressor.stats().adjustPasses <= 10);
                }
            }
    }

    void surplusIsCutToTheLargest() {
        // Whatever was selected are the largest: no element left out beats one that was sent.
        for (std::uint32_t seed = 1; seed <= 5; ++seed) {
            const auto gradient = contentOf<float>("normal", 50000, seed);
            CompressionWorker<float> worker(planOf({50000}), dgc(0.01, 0.02, "none"));
            const auto received = worker.step(gradient);
            float leastSent = 1e9F;
            float mostLeft = 0.0F;
            for (std::size_t i = 0; i < gradient.size(); ++i)
                if (received[i] != 0.0F)
                    leastSent = std::min(leastSent, std::fabs(gradient[i]));
                else
                    mostLeft = std::max(mostLeft, std::fabs(gradient[i]));
            QVERIFY(leastSent >= mostLeft);
        }
    }

    void sampleOneSelectsAsTopK() {
        for (const std::string& content : contentNames()) {
            const auto gradient = contentOf<float>(content, 5000);
            CompressionWorker<float> exact(planOf({5000}), dgc(0.01, 1.0, "none"));
            CompressionSettings topk = settingsOf("topk", "none");
            CompressionWorker<float> reference(planOf({5000}), topk);
            QVERIFY(sameValues(exact.step(gradient), reference.step(gradient)));
            QCOMPARE(exact.compressor.stats().adjustPasses, 0U);
        }
    }

    void warmupFollowsItsSchedule() {
        const std::vector<double> expected = {0.251, 0.063, 0.016, 0.004, 0.001, 0.001};
        for (std::size_t epoch = 0; epoch < expected.size(); ++epoch)
            QVERIFY(std::fabs(warmupRatio(0.001, 4, epoch) - expected[epoch]) < 5e-4);
        QVERIFY(warmupRatio(0.001, 4, 4) == 0.001);
        QVERIFY(warmupRatio(0.001, 0, 0) == 0.001);
        CompressionSettings settings = dgc(0.001, 1.0);
        settings.parameters["warmup_epochs"] = std::int64_t{4};
        const std::size_t n = 20000;
        CompressionWorker<float> worker(planOf({n}), settings);
        for (std::uint64_t epoch = 0; epoch < 6; ++epoch) {
            worker.position.epoch = epoch;
            worker.step(contentOf<float>("normal", n));
            const double ratio = worker.compressor.effectiveRatio(epoch);
            QVERIFY(ratio == warmupRatio(0.001, 4, epoch));
            QCOMPARE(worker.compressor.stats().selected,
                     static_cast<std::uint64_t>(std::floor(ratio * static_cast<double>(n))));
        }
    }

    void sampleIsDrawnPerWorkerAndStep() {
        // Different workers estimate from different elements; the same worker repeats itself.
        const auto gradient = contentOf<float>("normal", 50000);
        const auto counts = [&](std::uint32_t rank) {
            CompressionWorker<float> worker(planOf({50000}), dgc(0.01, 0.005, "none"),
                                            {42, rank, 4});
            std::vector<std::uint64_t> selected;
            for (int step = 0; step < 6; ++step) {
                worker.step(gradient);
                selected.push_back(worker.compressor.stats().selected);
            }
            return selected;
        };
        QCOMPARE(counts(0), counts(0));
        QVERIFY(counts(0) != counts(1));
    }
};

QTEST_GUILESS_MAIN(TestDgcCompressor)
#include "test_dgc_compressor.moc"
