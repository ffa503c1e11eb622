// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The dgc memory: the identity of its velocities, momentum SGD and plain SGD as its limits, top-k
// with error feedback without momentum, Nesterov by hand, the local clip.
#include "tests/support/compression_case.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

using Parameters = std::vector<std::pair<std::string, FieldValue>>;

CompressionSettings with(CompressionSettings settings, const Parameters& parameters) {
    for (const auto& [name, value] : parameters)
        settings.parameters[name] = value;
    return settings;
}

std::vector<double> gradientAt(std::uint32_t step, std::size_t n) {
    return contentOf<double>("normal", n, step);
}

double norm(const std::vector<float>& values) {
    double squares = 0.0;
    for (const float value : values)
        squares += double{value} * value;
    return std::sqrt(squares);
}

/// Momentum SGD on a quadratic-like stream of gradients that depend on the weights, one worker.
struct SgdPair {
    static constexpr std::size_t kN = 40;
    static constexpr double kLr = 0.05;
    std::vector<double> reference = contentOf<double>("normal", kN, 77);
    std::vector<double> compressed = reference;
    std::vector<double> velocity = std::vector<double>(kN, 0.0);

    [[nodiscard]] static std::vector<double> gradient(const std::vector<double>& weights,
                                                      std::uint32_t step) {
        auto g = gradientAt(step, kN);
        for (std::size_t i = 0; i < kN; ++i)
            g[i] = 0.3 * g[i] + 0.1 * weights[i];
        return g;
    }
    void referenceStep(std::uint32_t step, double momentum, double decay) {
        const auto g = gradient(reference, step);
        for (std::size_t i = 0; i < kN; ++i) {
            velocity[i] = momentum * velocity[i] + g[i] + decay * reference[i];
            reference[i] -= kLr * velocity[i];
        }
    }
    void compressedStep(CompressionWorker<double>& worker, std::uint32_t step, double decay) {
        worker.parameters = compressed;
        worker.position.weightDecay = decay;
        const auto sent = worker.step(gradient(compressed, step));
        for (std::size_t i = 0; i < kN; ++i)
            compressed[i] -= kLr * sent[i];
    }
    [[nodiscard]] double difference() const {
        double worst = 0.0;
        for (std::size_t i = 0; i < kN; ++i)
            worst = std::max(worst, std::fabs(reference[i] - compressed[i]));
        return worst;
    }
};

} // namespace

class TestDgcMemory : public QObject {
    Q_OBJECT

private slots:
    void sentPlusVIsTheSumOfTheVelocitiesUsed() {
        for (const bool masking : {true, false})
            for (const bool nesterov : {true, false}) {
                CompressionWorker<double> worker(
                    planOf({120}), with(settingsOf("dgc", "dgc", "f64"), {{"ratio", 0.1},
                                                                          {"dgc_momentum", 0.9},
                                                                          {"masking", masking},
                                                                          {"nesterov", nesterov},
                                                                          {"sample", 1.0}}));
                std::vector<double> u(120, 0.0);
                std::vector<double> used(120, 0.0);
                std::vector<double> sent(120, 0.0);
                for (std::uint32_t step = 1; step <= 100; ++step) {
                    const auto g = gradientAt(step, 120);
                    const auto received = worker.step(g);
                    for (std::size_t i = 0; i < 120; ++i) {
                        u[i] = nesterov ? 0.9 * (u[i] + g[i]) : 0.9 * u[i] + g[i];
                        used[i] += nesterov ? u[i] + g[i] : u[i];
                        sent[i] += received[i];
                        if (masking && received[i] != 0.0)
                            u[i] = 0.0;
                    }
                }
                const auto v = worker.state(1);
                QVERIFY(sameValues(worker.state(0), u));
                for (std::size_t i = 0; i < 120; ++i)
                    QVERIFY(std::fabs(sent[i] + v[i] - used[i]) < 1e-11);
            }
    }

    void dgcEqualsMomentumSgdWithoutMasking_data() {
        QTest::addColumn<double>("decay");
        QTest::newRow("no decay") << 0.0;
        QTest::newRow("decay") << 0.01;
        QTest::newRow("tiny decay") << 3e-6;
    }

    void dgcEqualsMomentumSgdWithoutMasking() {
        QFETCH(double, decay);
        SgdPair pair;
        CompressionWorker<double> worker(
            planOf({SgdPair::kN}),
            with(settingsOf("dgc", "dgc", "f64"),
                 {{"ratio", 1.0}, {"dgc_momentum", 0.9}, {"masking", false}}));
        for (std::uint32_t step = 1; step <= 100; ++step) {
            pair.referenceStep(step, 0.9, decay);
            pair.compressedStep(worker, step, decay);
            QVERIFY(pair.difference() < 1e-6);
        }
        SgdPair without;
        for (std::uint32_t step = 1; step <= 100; ++step)
            without.referenceStep(step, 0.9, 0.0);
        double effect = 0.0;
        for (std::size_t i = 0; i < SgdPair::kN; ++i)
            effect = std::max(effect, std::fabs(without.reference[i] - pair.compressed[i]));
        QVERIFY((effect > 1e-7) == (decay > 0.0)); // the coefficient survives, tiny as it may be
    }

    void dgcEqualsPlainSgdWithMasking() {
        SgdPair pair;
        CompressionWorker<double> worker(
            planOf({SgdPair::kN}),
            with(settingsOf("dgc", "dgc", "f64"), {{"ratio", 1.0}, {"dgc_momentum", 0.9}}));
        for (std::uint32_t step = 1; step <= 100; ++step) {
            pair.referenceStep(step, 0.0, 0.0);
            pair.compressedStep(worker, step, 0.0);
            QVERIFY(pair.difference() < 1e-12);
        }
    }

    void withoutMomentumDgcIsTopKWithErrorFeedback() {
        const auto dgcSettings = with(settingsOf("dgc", "dgc"),
                                      {{"ratio", 0.1}, {"dgc_momentum", 0.0}, {"sample", 1.0}});
        CompressionWorker<float> dgc(planOf({500}), dgcSettings);
        CompressionWorker<float> topk(planOf({500}),
                                      with(settingsOf("topk", "residual"), {{"ratio", 0.1}}));
        for (std::uint32_t step = 1; step <= 50; ++step) {
            const auto gradient = contentOf<float>("normal", 500, step);
            QVERIFY(sameValues(dgc.step(gradient), topk.step(gradient)));
            QVERIFY(sameValues(dgc.waiting(), topk.waiting()));
        }
    }

    void localClipBoundsTheNormOfAllTensors() {
        const auto settings = with(settingsOf("dgc", "dgc"),
                                   {{"ratio", 1.0}, {"dgc_momentum", 0.0}, {"local_clip", 0.5}});
        auto gradient = contentOf<float>("normal", 300);
        for (float& value : gradient)
            value *= 1000.0F;
        for (const std::uint32_t workers : {1U, 4U}) {
            CompressionWorker<float> worker(planOf({100, 200}), settings, {42, 0, workers});
            const auto sent = worker.step(gradient);
            QVERIFY(std::fabs(norm(sent) - 0.5 / std::sqrt(workers)) < 1e-5);
            const float scale = sent[7] / gradient[7];
            for (std::size_t i = 0; i < 300; ++i) // direction unchanged: not clipped by element
                QVERIFY(std::fabs(sent[i] - scale * gradient[i]) <= 1e-6F * std::fabs(sent[i]));
        }
        CompressionWorker<float> small(planOf({300}), settings);
        std::vector<float> tiny(300, 1e-3F);
        QVERIFY(sameValues(small.step(tiny), tiny));
    }

    void nesterovAgainstAHandTrace() {
        CompressionWorker<double> worker(
            planOf({2}),
            with(settingsOf("dgc", "dgc", "f64"),
                 {{"ratio", 0.5}, {"dgc_momentum", 0.5}, {"nesterov", true}, {"sample", 1.0}}));
        // u = 0.5·g = (2, 1); v = u + g = (6, 3); the first is sent and masked.
        QCOMPARE(worker.step({4.0, 2.0}), (std::vector<double>{6.0, 0.0}));
        QCOMPARE(worker.state(0), (std::vector<double>{0.0, 1.0}));
        QCOMPARE(worker.state(1), (std::vector<double>{0.0, 3.0}));
        // u = 0.5·((0, 1) + (1, 1)) = (0.5, 1); v = (0, 3) + u + (1, 1) = (1.5, 5).
        QCOMPARE(worker.step({1.0, 1.0}), (std::vector<double>{0.0, 5.0}));
        QCOMPARE(worker.state(1), (std::vector<double>{1.5, 0.0}));
    }

    void whatWaitsIsWholeWheneverItIsRead_data() {
        QTest::addColumn<bool>("masking");
        QTest::addColumn<bool>("nesterov");
        for (const bool masking : {true, false})
            for (const bool nesterov : {true, false})
                QTest::addRow("masking %d, nesterov %d", masking, nesterov) << masking << nesterov;
    }
    void whatWaitsIsWholeWheneverItIsRead() {
        // A step may leave the sum v + u to the next one. Whoever looks, begins a step and drops
        // it, or sets parameters in between finds and changes nothing of that.
        QFETCH(bool, masking);
        QFETCH(bool, nesterov);
        const MessagePlan plan = planOf({66000, 66000, 70000});
        QCOMPARE(plan.parts().size(), std::size_t{3});
        const auto settings =
            with(settingsOf("dgc", "dgc"), {{"masking", masking}, {"nesterov", nesterov}});
        CompressionWorker<float> quiet(plan, settings);
        CompressionWorker<float> watched(plan, settings);
        for (std::uint32_t step = 1; step <= 6; ++step) {
            const auto gradient = contentOf<float>("normal", plan.size(), step);
            watched.load(contentOf<float>("heavy", plan.size(), step));
            ++watched.position.step;
            for (std::size_t i = 0; i < step % 3; ++i) // in an order of its own
                watched.compressor.encodePart((step + i) % 3, watched.gradient.span(),
                                              watched.parameters, watched.position, kHeaderRoom,
                                              watched.bodies[(step + i) % 3]);
            if (step == 4)
                QVERIFY(watched.state(1).size() == plan.size()); // looked at in the middle
            watched.compressor.discard();
            --watched.position.step;
            if (step % 2 == 0)
                QVERIFY(watched.state(0).size() == plan.size());
            if (step == 5)
                watched.compressor.reconfigure(settings, MemoryChange::Keep);
            QVERIFY(sameValues(watched.step(gradient), quiet.step(gradient)));
        }
        QVERIFY(sameValues(watched.state(0), quiet.state(0)));
        QVERIFY(sameValues(watched.state(1), quiet.state(1)));
    }

    void velocityAndAccumulationAreApart() {
        CompressionWorker<float> worker(planOf({50}), settingsOf("dgc"));
        const auto pieces = worker.compressor.state();
        QCOMPARE(pieces.size(), std::size_t{2});
        QCOMPARE(pieces[0].name, std::string("dgc.u"));
        QCOMPARE(pieces[1].name, std::string("dgc.v"));
        QVERIFY(pieces[0].values.data() + 50 <= pieces[1].values.data() ||
                pieces[1].values.data() + 50 <= pieces[0].values.data());
    }
};

QTEST_GUILESS_MAIN(TestDgcMemory)
#include "test_dgc_memory.moc"
