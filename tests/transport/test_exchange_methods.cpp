// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Every registered method through memory, compressor, frames and exchange: the mean is that of the
// decoded messages, bit for bit, whoever is first; and the identities that need several workers.
#include "engine/compression/compressor_registry.h"
#include "engine/compression/gradient_compressor.h"
#include "engine/compression/unit_decoder.h"
#include "tests/support/exchange_case.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

using namespace gradlab;
using namespace gradlab::test;
using engine::kFrameHeaderBytes;

namespace {

engine::CompressionSettings settingsOf(const std::string& method, const std::string& memory) {
    engine::CompressionSettings settings;
    settings.method = method;
    settings.memory = memory;
    settings.parameters["ratio"] = 0.05;
    return engine::resolvedCompression(settings, "f32");
}

/// Workers with compressors and gradients of their own, and one exchange.
class Cluster {
public:
    Cluster(const engine::ExchangeSetup& setup, const engine::CompressionSettings& compression)
        : setup_(setup), exchange_(transport::makeInProcessExchange(setup)),
          replica_(engine::Aggregator::create(setup.plan, setup.aggregator)) {
        for (std::uint32_t rank = 0; rank < setup.workers; ++rank) {
            compressors.emplace_back(setup.plan, compression,
                                     engine::CompressorIdentity{42, rank, setup.workers});
            gradients_.emplace_back(setup.plan.size());
            inputs.emplace_back(setup.plan.size(), 0.0F);
        }
        bodies_.resize(setup.workers);
    }

    void drawGradients(std::uint32_t step) {
        for (std::uint32_t rank = 0; rank < setup_.workers; ++rank) {
            engine::RandomStream random(7, engine::RandomPurpose::Test, step, rank, 0);
            std::uint64_t state = random.word();
            for (float& value : inputs[rank])
                value = nextValue<float>(state);
        }
    }

    /// Encodes and sends in threads, finishes, commits.
    engine::ExchangeOutcome step(std::uint64_t number) {
        exchange_->beginStep(number, *replica_);
        std::vector<std::jthread> threads;
        for (std::uint32_t rank = 0; rank < setup_.workers; ++rank)
            threads.emplace_back([this, rank, number] { compute(rank, number); });
        engine::ExchangeOutcome outcome = exchange_->finish({}, {});
        threads.clear();
        for (std::uint32_t rank = 0; rank < setup_.workers; ++rank)
            compressors[rank].commit(gradients_[rank]);
        return outcome;
    }

    /// What each worker's messages of the last step decode to.
    [[nodiscard]] std::vector<std::vector<float>> decoded() const {
        std::vector<std::vector<float>> all;
        engine::UnitDecoder<float> decoder;
        for (const auto& bodies : bodies_) {
            std::vector<float>& dense = all.emplace_back(setup_.plan.size(), 0.0F);
            for (std::size_t part = 0; part < bodies.size(); ++part)
                for (const engine::UnitView& view : engine::splitBody(
                         bodies[part],
                         static_cast<std::uint32_t>(setup_.plan.parts()[part].size()))) {
                    const auto& unit = setup_.plan.units()[view.descriptor.unit];
                    decoder.decode(view, unit, std::span(dense).subspan(unit.offset, unit.size));
                }
        }
        return all;
    }
    [[nodiscard]] std::span<const std::byte> mean() const { return replica_->mean(); }
    [[nodiscard]] std::span<const float> meanValues() const {
        return {reinterpret_cast<const float*>(replica_->mean().data()), setup_.plan.size()};
    }

    std::vector<std::vector<float>> inputs; ///< [rank], whole model
    std::vector<engine::GradientCompressor<float>> compressors;

private:
    void compute(std::uint32_t rank, std::uint64_t number) {
        std::copy(inputs[rank].begin(), inputs[rank].end(), gradients_[rank].begin());
        engine::StepPosition position;
        position.step = number;
        position.lr = 1.0;
        const std::vector<float> parameters(setup_.plan.size(), 0.0F);
        bodies_[rank].clear();
        for (std::size_t part = 0; part < setup_.plan.parts().size(); ++part) {
            engine::ByteBuffer message = exchange_->takeBuffer(rank, part);
            compressors[rank].encodePart(part, gradients_[rank].span(), parameters, position,
                                         kFrameHeaderBytes, message);
            bodies_[rank].emplace_back(message.begin() + kFrameHeaderBytes, message.end());
            exchange_->send(rank, part, std::move(message));
        }
    }

    engine::ExchangeSetup setup_;
    std::unique_ptr<engine::GradientExchange> exchange_;
    std::unique_ptr<engine::Aggregator> replica_;
    std::vector<engine::AlignedBuffer<float>> gradients_;
    std::vector<std::vector<engine::ByteBuffer>> bodies_; ///< [rank][part], copies
};

engine::MessagePlan twoParts() {
    return planOf({5, 66000, 700, 65600, 33});
}

} // namespace

class TestExchangeMethods : public QObject {
    Q_OBJECT

private slots:
    void meansAreThoseOfTheDecodedMessages_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("memory");
        QTest::addColumn<QString>("topology");
        for (const engine::MethodInfo& method : engine::compressionMethods())
            for (const std::string& memory : method.memories)
                for (const char* topology : {"server", "ring"})
                    QTest::addRow("%s %s %s", method.name.c_str(), memory.c_str(), topology)
                        << QString::fromStdString(method.name) << QString::fromStdString(memory)
                        << QString::fromLatin1(topology);
    }
    void meansAreThoseOfTheDecodedMessages() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        QFETCH(QString, topology);
        Cluster cluster(exchangeSetup(twoParts(), 3, topology.toStdString()),
                        settingsOf(method.toStdString(), memory.toStdString()));
        for (std::uint32_t step = 1; step <= 2; ++step) {
            cluster.drawGradients(step);
            (void)cluster.step(step);
            QVERIFY(sameBits<float>(cluster.mean(), meanOf<float>(cluster.decoded())));
        }
    }

    void theDenseRingSumsDenseMessages() {
        Cluster cluster(exchangeSetup(twoParts(), 4, "ring", true), settingsOf("none", "none"));
        cluster.drawGradients(1);
        (void)cluster.step(1);
        QVERIFY(sameBits<float>(cluster.mean(), ringMeanOf<float>(twoParts(), cluster.inputs)));
    }

    // Field-faults A8: two workers, opposite gradients: what was sent and what is kept is what
    // came in.
    void sentAndKeptAddUpOverWorkers() {
        Cluster cluster(exchangeSetup(planOf({2000}), 2, "server"), settingsOf("topk", "residual"));
        std::vector<double> balance(2000, 0.0);
        for (std::uint32_t step = 1; step <= 10; ++step) {
            cluster.drawGradients(step);
            for (std::size_t i = 0; i < 2000; ++i) {
                cluster.inputs[1][i] = -cluster.inputs[0][i] + 0.25F;
                balance[i] += double{cluster.inputs[0][i]} + double{cluster.inputs[1][i]};
            }
            (void)cluster.step(step);
            for (std::size_t i = 0; i < 2000; ++i)
                balance[i] -= 2.0 * double{cluster.meanValues()[i]};
        }
        for (auto& compressor : cluster.compressors)
            for (const auto& state : compressor.state())
                for (std::size_t i = 0; i < 2000; ++i)
                    balance[i] -= double{state.values[i]};
        for (const double rest : balance)
            QVERIFY2(std::abs(rest) < 1e-5, qPrintable(QString::number(rest)));
    }

    // Field-faults A11: the exchange never encodes by the method; workers' counters say so.
    void theWayDownIsNotCompressedAgain() {
        Cluster cluster(exchangeSetup(planOf({1000}), 2, "server"), settingsOf("qsgd", "none"));
        cluster.drawGradients(1);
        (void)cluster.step(1);
        QVERIFY(sameBits<float>(cluster.mean(), meanOf<float>(cluster.decoded())));
        // Its own gradient went through once; nothing else of the step did.
        for (auto& compressor : cluster.compressors)
            QCOMPARE(compressor.stats().selected, std::uint64_t{1000});
    }

    // The mean compressed once more: its own k largest, and only these, reach the replica.
    void recompressKeepsTheMeansLargest() {
        auto setup = exchangeSetup(planOf({1000}), 3, "server");
        setup.aggregator.downlink = "recompress";
        setup.aggregator.compression = settingsOf("topk", "residual");
        Cluster cluster(setup, setup.aggregator.compression);
        for (std::uint32_t step = 1; step <= 3; ++step) {
            cluster.drawGradients(step);
            const auto outcome = cluster.step(step);
            std::vector<float> expected = meanOf<float>(cluster.decoded());
            std::vector<std::size_t> order(expected.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return std::abs(expected[a]) > std::abs(expected[b]);
            });
            for (std::size_t i = 50; i < order.size(); ++i)
                expected[order[i]] = 0.0F;
            QVERIFY(sameBits<float>(cluster.mean(), expected));
            QVERIFY(outcome.traffic[0].bytesDown <= outcome.traffic[0].bytesUp + 8);
        }
    }

    // Field-faults B17: eight gradients of 60 000 in 16 bits.
    void largeHalvesHaveAFiniteMean() {
        for (const char* topology : {"server", "ring"}) {
            engine::CompressionSettings settings = settingsOf("none", "none");
            settings.values = "f16";
            Cluster cluster(exchangeSetup(planOf({300}), 8, topology), settings);
            for (auto& input : cluster.inputs)
                std::fill(input.begin(), input.end(), 60000.0F);
            (void)cluster.step(1);
            QVERIFY(sameBits<float>(cluster.mean(), std::vector<float>(300, 60000.0F)));
        }
    }

    // Field-faults B16: many steps with four threads, every frame's checksum verified.
    void twoHundredStepsStayRight_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("topology");
        QTest::newRow("dgc server") << "dgc"
                                    << "server";
        QTest::newRow("topk ring") << "topk"
                                   << "ring";
        QTest::newRow("none dense ring") << "none"
                                         << "dense";
    }
    void twoHundredStepsStayRight() {
        QFETCH(QString, method);
        QFETCH(QString, topology);
        const bool dense = topology == "dense";
        const auto plan = planOf({3, 500, 64});
        Cluster cluster(exchangeSetup(plan, 4, dense ? "ring" : topology.toStdString(), dense),
                        settingsOf(method.toStdString(), "auto"));
        for (std::uint32_t step = 1; step <= 200; ++step) {
            cluster.drawGradients(step);
            (void)cluster.step(step);
            const auto expected =
                dense ? ringMeanOf<float>(plan, cluster.inputs) : meanOf<float>(cluster.decoded());
            QVERIFY2(sameBits<float>(cluster.mean(), expected), qPrintable(QString::number(step)));
        }
    }
};

QTEST_GUILESS_MAIN(TestExchangeMethods)
#include "test_exchange_methods.moc"
