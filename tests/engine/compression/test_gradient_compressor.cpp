// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Every method × memory × code × value type that the registry holds: what a receiver decodes is
// what the sender's memory took off, bit for bit, and counts and norms are those of the message;
// zeros, non-finite values, order of parts, threads, identical workers.
#include "engine/core/errors.h"
#include "engine/core/parallel.h"
#include "tests/support/compression_rows.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

template <class T>
double squares(const std::vector<T>& values) {
    double sum = 0.0;
    for (const T value : values)
        sum += static_cast<double>(value) * static_cast<double>(value);
    return sum;
}

bool close(double a, double b) {
    return std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b)) || a == b;
}

/// What is to be sent in this step, from the state before it.
template <class T>
std::vector<T> toBeSent(CompressionWorker<T>& worker, const CompressionSettings& settings,
                        const std::vector<T>& gradient) {
    std::vector<T> p = gradient;
    const auto pieces = worker.compressor.state();
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (settings.memory == "residual")
            p[i] = gradient[i] + pieces[0].values[i];
        else if (settings.memory == "dgc")
            p[i] = pieces[1].values[i] + (T{0.5} * pieces[0].values[i] + gradient[i]);
    }
    return p;
}

/// One step, everything that can be known about it checked.
template <class T>
void checkStep(CompressionWorker<T>& worker, const CompressionSettings& settings,
               const std::vector<T>& gradient, const QByteArray& what) {
    const std::vector<T> p = toBeSent(worker, settings, gradient);
    worker.encode(gradient);
    const std::vector<T> received = worker.received();
    const CompressionStats stats = worker.compressor.stats();
    worker.commit();

    std::uint64_t selected = 0;
    std::size_t bytes = 0;
    for (std::size_t part = 0; part < worker.bodies.size(); ++part) {
        for (const UnitView& view : worker.units(part)) {
            selected += view.descriptor.selected;
            bytes += kDescriptorBytes + view.descriptor.payloadBytes;
        }
    }
    std::size_t handedOver = 0;
    for (const ByteBuffer& body : worker.bodies)
        handedOver += body.size() - kHeaderRoom;
    std::vector<double> error(p.size());
    std::uint64_t nonzero = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        error[i] = static_cast<double>(p[i]) - static_cast<double>(received[i]);
        nonzero += received[i] != T{0} ? 1U : 0U;
    }
    QVERIFY2(bytes == handedOver, what);
    QVERIFY2(stats.selected == selected, what);
    QVERIFY2(stats.nonzero == nonzero, what);
    QVERIFY2(close(stats.squaredNorm, squares(p)), what);
    QVERIFY2(close(stats.squaredKept, squares(received)), what);
    // Squares of the largest doubles overflow; the values themselves do not.
    QVERIFY2(!std::isfinite(squares(p)) ||
                 std::fabs(stats.squaredError - squares(error)) <= 1e-9 * squares(p),
             what);
    const double waits = settings.memory == "none" ? 0.0 : stats.squaredError;
    QVERIFY2(stats.squaredResidual == waits || std::isnan(waits), what);
    const std::vector<T> waiting = worker.waiting();
    for (std::size_t i = 0; i < waiting.size(); ++i)
        QVERIFY2(waiting[i] == p[i] - received[i], what);
}

template <class T>
void checkContents(const Combination& combination, const std::vector<std::size_t>& sizes) {
    for (const std::string& content : contentNames()) {
        const QByteArray what = combination.tag + ", " + content.c_str();
        CompressionSettings settings = combination.settings;
        if (content == "huge")
            settings.parameters["scale"] = std::string("off"); // n/k times them is not finite
        CompressionWorker<T> worker(planOf(sizes), settings);
        for (std::uint32_t step = 1; step <= 2; ++step) {
            checkStep(worker, settings, contentOf<T>(content, worker.plan.size(), step), what);
            if (QTest::currentTestFailed())
                return;
        }
    }
}

} // namespace

class TestGradientCompressor : public QObject {
    Q_OBJECT

private slots:
    void receiverDecodesWhatTheSenderTookOff_data() { addCombinations(); }
    void receiverDecodesWhatTheSenderTookOff() {
        QFETCH(int, combination);
        const Combination what = combinations()[static_cast<std::size_t>(combination)];
        checkContents<float>(what, {1, 2, 31, 32, 33, 64, 65, 257});
        checkContents<double>(what, {1, 63, 130});
    }

    void tileEdges_data() { addCombinations(); }
    void tileEdges() {
        QFETCH(int, combination);
        const Combination what = combinations()[static_cast<std::size_t>(combination)];
        for (const std::size_t n : {4095UL, 4096UL, 4097UL, 8200UL}) {
            CompressionWorker<float> worker(planOf({n}), what.settings);
            for (std::uint32_t step = 1; step <= 2; ++step)
                checkStep(worker, what.settings, contentOf<float>("few", n, step), what.tag);
        }
    }

    void zerosStayZeros_data() { addPairs(); }
    void zerosStayZeros() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        for (const std::size_t n : {1UL, 2UL, 31UL, 32UL, 33UL, 20000UL}) {
            CompressionWorker<float> worker(planOf({n}),
                                            settingsOf(method.toStdString(), memory.toStdString()));
            const std::vector<float> zeros(n, 0.0F);
            for (int step = 0; step < 2; ++step) {
                QCOMPARE(worker.step(zeros), zeros);
                QCOMPARE(worker.compressor.stats().nonzero, std::uint64_t{0});
                QCOMPARE(worker.compressor.stats().squaredError, 0.0);
                for (const auto& piece : worker.compressor.state())
                    for (const float value : piece.values)
                        QVERIFY(value == 0.0F);
            }
        }
    }

    void nonFiniteValuesNameStepAndTensor_data() { addPairs(); }
    void nonFiniteValuesNameStepAndTensor() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        const std::size_t n = 9000;
        const auto settings = settingsOf(method.toStdString(), memory.toStdString());
        CompressionWorker<float> worker(planOf({n, 100}), settings);
        worker.step(contentOf<float>("normal", n + 100));
        std::vector<std::vector<float>> before;
        for (std::size_t piece = 0; piece < worker.compressor.state().size(); ++piece)
            before.push_back(worker.state(piece));
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
              -std::numeric_limits<float>::infinity()})
            for (const std::size_t place : {0UL, 4096UL, n / 2, n - 1, n, n + 99}) {
                auto gradient = contentOf<float>("normal", n + 100);
                gradient[place] = bad;
                try {
                    worker.encode(gradient);
                    QFAIL("nothing was thrown");
                } catch (const NumericError& error) {
                    QCOMPARE(error.tensor(), std::string(place < n ? "t0" : "t1"));
                    QCOMPARE(error.step(), worker.position.step);
                }
                worker.compressor.discard();
                for (std::size_t piece = 0; piece < before.size(); ++piece)
                    QVERIFY(sameValues(worker.state(piece), before[piece]));
            }
        worker.step(contentOf<float>("normal", n + 100)); // and goes on
    }

    void nonFiniteDoublesAreFoundToo() {
        CompressionWorker<double> worker(planOf({100}), settingsOf("topk", "residual", "f64"));
        auto gradient = contentOf<double>("huge", 100); // squares overflow, values do not
        worker.step(gradient);
        gradient[99] = std::numeric_limits<double>::quiet_NaN();
        QVERIFY_THROWS_EXCEPTION(NumericError, worker.encode(gradient));
    }

    void orderOfPartsAndThreadsDoNotMatter_data() { addPairs(); }
    void orderOfPartsAndThreadsDoNotMatter() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        const auto settings = settingsOf(method.toStdString(), memory.toStdString());
        const MessagePlan plan = planOf({66000, 66000, 70000});
        QCOMPARE(plan.parts().size(), std::size_t{3});
        const auto gradient = contentOf<float>("few", plan.size());
        const auto run = [&](int threads, bool reversed) {
            CompressionWorker<float> worker(plan, settings);
            ComputeArena arena(threads);
            for (int step = 0; step < 2; ++step)
                arena.execute([&] {
                    worker.load(gradient);
                    ++worker.position.step;
                    for (std::size_t i = 0; i < 3; ++i) {
                        const std::size_t part = reversed ? 2 - i : i;
                        worker.compressor.encodePart(part, worker.gradient.span(),
                                                     worker.parameters, worker.position,
                                                     kHeaderRoom, worker.bodies[part]);
                    }
                    worker.commit();
                });
            std::vector<float> result = worker.received();
            for (const auto& piece : worker.compressor.state())
                result.insert(result.end(), piece.values.begin(), piece.values.end());
            return result;
        };
        const auto reference = run(1, false);
        QVERIFY(sameValues(run(2, false), reference));
        QVERIFY(sameValues(run(8, true), reference));
    }

    void identicalGradientsGiveOneWorkersResult_data() { addPairs(); }
    void identicalGradientsGiveOneWorkersResult() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        CompressionSettings settings = settingsOf(method.toStdString(), memory.toStdString());
        settings.parameters["pattern"] = std::string("shared");
        settings.parameters["sample"] = 1.0;
        const auto gradient = contentOf<float>("normal", 500);
        const auto receivedBy = [&](std::uint32_t rank, std::uint32_t workers) {
            CompressionWorker<float> worker(planOf({200, 300}), settings, {42, rank, workers});
            worker.compressor.setUniforms(
                {std::vector<float>(200, 0.5F), std::vector<float>(300, 0.25F)});
            return worker.step(gradient);
        };
        const auto one = receivedBy(0, 1);
        for (const std::uint32_t workers : {2U, 4U})
            for (std::uint32_t rank = 0; rank < workers; ++rank)
                QVERIFY(sameValues(receivedBy(rank, workers), one));
    }

    void oppositeGradientsFeedBackTheLocalError() {
        // Residuals are local: their sum and what was sent is the sum of what came in, here zero.
        std::vector<double> sums(100, 0.0);
        for (const double sign : {1.0, -1.0}) {
            CompressionWorker<double> worker(planOf({100}), settingsOf("topk", "residual", "f64"));
            auto gradient = contentOf<double>("normal", 100);
            for (double& value : gradient)
                value *= sign;
            const auto sent = worker.step(gradient);
            const auto waiting = worker.waiting();
            QVERIFY(squares(waiting) > 1.0);
            for (std::size_t i = 0; i < 100; ++i)
                sums[i] += sent[i] + waiting[i];
        }
        for (const double sum : sums)
            QVERIFY(sum == 0.0);
    }

    void untouchedRowsStayUntouched_data() { addPairs(); }
    void untouchedRowsStayUntouched() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        // Rows 3 to 9 of an embedding of width 8 get no gradient for 30 steps.
        CompressionWorker<float> worker(planOf({80}),
                                        settingsOf(method.toStdString(), memory.toStdString()));
        bool moved = false;
        for (std::uint32_t step = 1; step <= 30; ++step) {
            auto gradient = contentOf<float>("normal", 80, step);
            std::fill(gradient.begin() + 24, gradient.end(), 0.0F);
            const auto received = worker.step(gradient);
            for (std::size_t i = 24; i < 80; ++i)
                QVERIFY(received[i] == 0.0F);
            moved = moved || std::any_of(received.begin(), received.begin() + 24,
                                         [](float value) { return value != 0.0F; });
        }
        QVERIFY(moved);
    }

    void illegalSettingsAreRefused() {
        const MessagePlan plan = planOf({10});
        const CompressorIdentity identity;
        QVERIFY_THROWS_EXCEPTION(
            ExperimentError, GradientCompressor<float>(plan, settingsOf("qsgd", "dgc"), identity));
        QVERIFY_THROWS_EXCEPTION(
            ExperimentError,
            GradientCompressor<float>(plan, settingsOf("nothing", "none"), identity));
        CompressionSettings settings = settingsOf("topk");
        settings.indices = "huffman";
        QVERIFY_THROWS_EXCEPTION(ExperimentError,
                                 GradientCompressor<float>(plan, settings, identity));
    }
};

QTEST_GUILESS_MAIN(TestGradientCompressor)
#include "test_gradient_compressor.moc"
