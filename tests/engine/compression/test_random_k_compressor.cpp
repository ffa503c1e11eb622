// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Random-k: k distinct indices, each equally likely; unbiased when scaled; a pattern that depends
// on seed, step, tensor and worker only; contraction with a memory.
#include "engine/compression/random_selection.h"
#include "engine/core/errors.h"
#include "tests/support/compression_case.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

CompressionSettings randomK(double ratio, const std::string& memory = "residual") {
    CompressionSettings settings = settingsOf("randomk", memory);
    settings.parameters["ratio"] = ratio;
    return settings;
}

std::vector<std::uint32_t> patternOf(const CompressionWorker<float>& worker, std::uint32_t unit) {
    UnitDecoder<float> decoder;
    std::vector<std::uint32_t> indices;
    std::vector<float> values;
    for (std::size_t part = 0; part < worker.bodies.size(); ++part)
        for (const UnitView& view : worker.units(part))
            if (view.descriptor.unit == unit)
                decoder.decodeSparse(view, worker.plan.units()[unit], indices, values);
    return indices;
}

} // namespace

class TestRandomKCompressor : public QObject {
    Q_OBJECT

private slots:
    void drawsExactlyKDistinctIndices() {
        RandomSelection selection;
        std::vector<std::uint32_t> indices;
        for (std::uint32_t n = 1; n <= 300; ++n)
            for (const std::uint32_t k : {1U, n / 3 + 1, n / 2, n / 2 + 1, n - 1, n}) {
                if (k == 0 || k > n)
                    continue;
                selection.draw({7, n, 0, 0}, n, k, indices);
                QCOMPARE(indices.size(), std::size_t{k});
                QVERIFY(indices.back() < n);
                QVERIFY(std::adjacent_find(indices.begin(), indices.end(),
                                           [](auto a, auto b) { return a >= b; }) == indices.end());
            }
    }

    void everyPositionIsEquallyLikely_data() {
        QTest::addColumn<quint32>("k");
        QTest::newRow("few") << 3U;
        QTest::newRow("half") << 32U;
        QTest::newRow("many") << 61U;
    }
    void everyPositionIsEquallyLikely() {
        QFETCH(quint32, k);
        constexpr std::uint32_t kN = 64;
        constexpr std::uint32_t kDraws = 20000;
        std::vector<double> counts(kN, 0.0);
        RandomSelection selection;
        std::vector<std::uint32_t> indices;
        for (std::uint32_t step = 0; step < kDraws; ++step) {
            selection.draw({3, step, 0, 0}, kN, k, indices);
            for (const std::uint32_t index : indices)
                counts[index] += 1.0;
        }
        const double share = static_cast<double>(k) / kN;
        const double deviation = std::sqrt(kDraws * share * (1 - share));
        for (const double count : counts)
            QVERIFY(std::fabs(count - kDraws * share) < 5.0 * deviation);
    }

    void meanOfScaledOutputIsTheGradient() {
        const auto gradient = contentOf<float>("normal", 50);
        CompressionWorker<float> worker(planOf({50}), randomK(0.2, "none"));
        constexpr int kSteps = 20000;
        std::vector<double> sum(50, 0.0);
        for (int step = 0; step < kSteps; ++step) {
            const auto received = worker.step(gradient);
            for (std::size_t i = 0; i < sum.size(); ++i)
                sum[i] += received[i];
        }
        for (std::size_t i = 0; i < sum.size(); ++i) {
            // Variance of a Bernoulli(1/5) variable that is worth 5x.
            const double deviation = std::fabs(gradient[i]) * std::sqrt(4.0 / kSteps);
            QVERIFY(std::fabs(sum[i] / kSteps - gradient[i]) < 5.0 * deviation + 1e-7);
        }
    }

    void scaleIsNOverKOnlyWithoutMemory() {
        const std::vector<float> gradient(100, 1.0F);
        const auto largest = [&](const CompressionSettings& settings) {
            CompressionWorker<float> worker(planOf({100}), settings);
            const auto received = worker.step(gradient);
            return *std::max_element(received.begin(), received.end());
        };
        CompressionSettings off = randomK(0.05, "none");
        off.parameters["scale"] = std::string("off");
        QCOMPARE(largest(randomK(0.05, "none")), 20.0F);
        QCOMPARE(largest(off), 1.0F);
        QCOMPARE(largest(randomK(0.05, "residual")), 1.0F);
        QCOMPARE(largest(randomK(1.0, "none")), 1.0F);
    }

    void scalingBeyondTheFiniteRangeIsReported() {
        CompressionWorker<float> worker(planOf({100}), randomK(0.05, "none"));
        QVERIFY_THROWS_EXCEPTION(NumericError, worker.encode(contentOf<float>("huge", 100)));
    }

    void contractsOnAverage() {
        const auto gradient = contentOf<float>("heavy", 400);
        double error = 0.0;
        double norm = 0.0;
        for (std::uint32_t seed = 0; seed < 400; ++seed) {
            CompressionWorker<float> worker(planOf({400}), randomK(0.1), {seed, 0, 1});
            worker.step(gradient);
            error += worker.compressor.stats().squaredError;
            norm += worker.compressor.stats().squaredNorm;
        }
        QVERIFY(std::fabs(error / norm - 0.9) < 0.03);
    }

    void patternDependsOnSeedStepTensorAndWorkerOnly() {
        const MessagePlan both = planOf({500, 700});
        const auto gradient = contentOf<float>("normal", 1200);
        CompressionWorker<float> worker(both, randomK(0.02), {42, 1, 4});
        worker.encode(gradient);
        const auto first = patternOf(worker, 0);
        const auto second = patternOf(worker, 1);
        worker.commit();
        // The same tensor id alone, and in another order of calls.
        CompressionWorker<float> alone(planOf({500}), randomK(0.02), {42, 1, 4});
        alone.encode(std::vector<float>(500, 2.0F));
        QCOMPARE(patternOf(alone, 0), first);
        worker.encode(gradient);
        QVERIFY(patternOf(worker, 0) != first); // another step
        CompressionWorker<float> other(both, randomK(0.02), {42, 2, 4});
        other.encode(gradient);
        QVERIFY(patternOf(other, 0) != first); // another worker
        QVERIFY(patternOf(other, 1) != second);
        CompressionWorker<float> seeded(both, randomK(0.02), {43, 1, 4});
        seeded.encode(gradient);
        QVERIFY(patternOf(seeded, 0) != first);
    }

    void sharedPatternIsTheSameOnAllWorkers() {
        CompressionSettings settings = randomK(0.02);
        settings.parameters["pattern"] = std::string("shared");
        std::vector<std::uint32_t> pattern;
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            CompressionWorker<float> worker(planOf({500}), settings, {42, rank, 4});
            worker.encode(contentOf<float>("normal", 500, rank));
            if (rank == 0)
                pattern = patternOf(worker, 0);
            QCOMPARE(patternOf(worker, 0), pattern);
        }
    }

    void seedTravelsInPlaceOfIndices() {
        const auto gradient = contentOf<float>("normal", 10000);
        CompressionWorker<float> seeded(planOf({10000}), randomK(0.01));
        CompressionSettings settings = randomK(0.01);
        settings.indices = "raw32";
        CompressionWorker<float> listed(planOf({10000}), settings);
        const auto a = seeded.step(gradient);
        const auto b = listed.step(gradient);
        QVERIFY(sameValues(a, b));
        QCOMPARE(seeded.units(0)[0].payload.size(), std::size_t{4 * 100 + 8});
        QCOMPARE(listed.units(0)[0].payload.size(), std::size_t{8 * 100});
        QCOMPARE(seeded.compressor.stats().boundBytes, 400.0);
        QCOMPARE(seeded.compressor.stats().paperBytes, 800.0);
    }

    void drawIsPinned() {
        // A change here breaks old runs and peers: raise kRandomSelectionVersion with it.
        RandomSelection selection;
        std::vector<std::uint32_t> indices;
        selection.draw({42, 1, 0, 0}, 100, 5, indices);
        RandomStream stream(42, RandomPurpose::Selection, 1, 0, 0);
        std::vector<std::uint32_t> expected;
        while (expected.size() < 5)
            if (const auto next = stream.below(100);
                std::find(expected.begin(), expected.end(), next) == expected.end())
                expected.push_back(next);
        std::sort(expected.begin(), expected.end());
        QCOMPARE(indices, expected);
    }
};

QTEST_GUILESS_MAIN(TestRandomKCompressor)
#include "test_random_k_compressor.moc"
