// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Memories: what was sent plus what waits is what came in, for every pair of the registry; error
// feedback in both units against hand traces; a step's transaction; save and load; changes in
// mid-run.
#include "engine/core/errors.h"
#include "tests/support/compression_rows.h"

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

} // namespace

class TestGradientMemory : public QObject {
    Q_OBJECT

private slots:
    void sentPlusWaitingIsWhatCameIn_data() {
        QTest::addColumn<QString>("method");
        QTest::addColumn<QString>("memory");
        QTest::addColumn<QString>("values");
        eachPair([](const MethodInfo& method, const std::string& memory) {
            if (memory == "none")
                return;
            for (const std::string& values : valueNames())
                QTest::addRow("%s %s %s", method.name.c_str(), memory.c_str(), values.c_str())
                    << QString::fromStdString(method.name) << QString::fromStdString(memory)
                    << QString::fromStdString(values);
        });
    }
    void sentPlusWaitingIsWhatCameIn() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        QFETCH(QString, values);
        for (const std::uint32_t workers : {1U, 2U, 4U}) {
            double sums = 0.0; // over workers: also what a sum of local errors must give
            std::vector<double> cameIn(300, 0.0);
            std::vector<double> sent(300, 0.0);
            for (std::uint32_t rank = 0; rank < workers; ++rank) {
                CompressionSettings settings =
                    settingsOf(method.toStdString(), memory.toStdString(), "f64");
                settings.values = values.toStdString();
                settings = with(settings, {{"ratio", 0.05}, {"dgc_momentum", 0.0}});
                CompressionWorker<double> worker(planOf({100, 3, 197}), settings,
                                                 {42, rank, workers});
                for (std::uint32_t step = 1; step <= 100; ++step) {
                    const auto gradient = gradientAt(step * workers + rank, 300);
                    const auto received = worker.step(gradient);
                    for (std::size_t i = 0; i < 300; ++i) {
                        cameIn[i] += gradient[i];
                        sent[i] += received[i];
                    }
                }
                const auto waiting = worker.waiting();
                for (std::size_t i = 0; i < 300; ++i) {
                    sent[i] += waiting[i];
                    sums += std::fabs(waiting[i]);
                }
            }
            for (std::size_t i = 0; i < 300; ++i)
                QVERIFY(std::fabs(sent[i] - cameIn[i]) < 1e-11 * workers);
            const bool nothingWaits = method == "none" && (values == "f64");
            QVERIFY((sums == 0.0) == nothingWaits); // the memory is really wired in
        }
    }

    void learningRateStepAgainstAHandTrace() {
        // n = 2, k = 1, lr 1 then 0.1. Gradient units: the old 2 acts with the new rate.
        const auto settings = with(settingsOf("topk", "residual", "f64"), {{"ratio", 0.5}});
        CompressionWorker<double> plain(planOf({2}), settings);
        QCOMPARE(plain.step({3.0, 2.0}), (std::vector<double>{3.0, 0.0}));
        QCOMPARE(plain.waiting(), (std::vector<double>{0.0, 2.0}));
        plain.position.lr = 0.1;
        QCOMPARE(plain.step({1.0, 1.0}), (std::vector<double>{0.0, 3.0})); // w changes by 0.1·3
        QCOMPARE(plain.waiting(), (std::vector<double>{1.0, 0.0}));
        // Update units: the waiting 2 keeps the rate of its own step, 1.
        CompressionWorker<double> update(planOf({2}),
                                         with(settings, {{"memory_units", std::string("update")}}));
        QCOMPARE(update.step({3.0, 2.0}), (std::vector<double>{3.0, 0.0}));
        update.position.lr = 0.1;
        const auto sent = update.step({1.0, 1.0});
        QVERIFY(sent[0] == 0.0 && std::fabs(sent[1] - 2.1) < 1e-15);
        QVERIFY(std::fabs(update.waiting()[0] - 0.1) < 1e-15);
        update.position.lr = 0.0; // stays finite
        QVERIFY(std::fabs(update.step({5.0, 5.0})[0] - 0.1) < 1e-15);
    }

    void betaAndGammaWeighResidualAndGradient() {
        CompressionWorker<double> worker(planOf({2}),
                                         with(settingsOf("topk", "residual", "f64"),
                                              {{"ratio", 0.5}, {"beta", 0.5}, {"gamma", 0.25}}));
        QCOMPARE(worker.step({8.0, 4.0}), (std::vector<double>{2.0, 0.0}));
        QCOMPARE(worker.waiting(), (std::vector<double>{0.0, 1.0}));
        QCOMPARE(worker.step({0.4, 4.0}), (std::vector<double>{0.0, 1.5}));
        QVERIFY(std::fabs(worker.waiting()[0] - 0.1) < 1e-15);
    }

    void zeroGradientStillSendsWhatWaits() {
        for (const char* memory : {"residual", "dgc"}) {
            CompressionWorker<float> worker(planOf({2}),
                                            with(settingsOf("topk", memory), {{"ratio", 0.5}}));
            worker.step({3.0F, 2.0F});
            QVERIFY(worker.step({0.0F, 0.0F})[1] >= 2.0F);
        }
    }

    void oneElementLeavesNothing() {
        CompressionWorker<float> worker(planOf({1}), settingsOf("topk", "residual"));
        QCOMPARE(worker.step({0.7F}), (std::vector<float>{0.7F}));
        QCOMPARE(worker.waiting(), (std::vector<float>{0.0F}));
    }

    void roundingErrorOfHalfValuesWaits() {
        CompressionSettings settings = settingsOf("topk", "residual");
        settings.values = "f16";
        settings = with(settings, {{"ratio", 1.0}});
        CompressionWorker<float> worker(planOf({4}), settings);
        const std::vector<float> gradient = {0.1F, 70000.0F, 1e-9F, 1.0F};
        const auto received = worker.step(gradient);
        const auto waiting = worker.waiting();
        QCOMPARE(received[1], 65504.0F);
        QCOMPARE(received[2], 0.0F);
        for (std::size_t i = 0; i < 4; ++i)
            QVERIFY(waiting[i] == gradient[i] - received[i]);
        QVERIFY(waiting[0] != 0.0F && waiting[3] == 0.0F);
    }

    void discardLeavesTheStateAsItWas_data() { addPairs(); }
    void discardLeavesTheStateAsItWas() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        for (const bool nesterov : {false, true}) {
            if (nesterov && memory != "dgc")
                continue;
            const auto settings = with(settingsOf(method.toStdString(), memory.toStdString()),
                                       {{"ratio", 0.1}, {"nesterov", nesterov}});
            const MessagePlan plan = planOf({66000, 66000, 120});
            CompressionWorker<float> disturbed(plan, settings);
            CompressionWorker<float> straight(plan, settings);
            QCOMPARE(plan.parts().size(), std::size_t{2});
            for (std::uint32_t step = 1; step <= 2; ++step) {
                const auto gradient = contentOf<float>("normal", plan.size(), step);
                // A step that fails in its last part, after others were encoded.
                auto broken = std::vector<float>(gradient.rbegin(), gradient.rend());
                broken[5] = std::numeric_limits<float>::infinity();
                QVERIFY_THROWS_EXCEPTION(NumericError, disturbed.encode(broken));
                disturbed.compressor.discard();
                --disturbed.position.step;
                QVERIFY(sameValues(disturbed.step(gradient), straight.step(gradient)));
                const auto a = disturbed.compressor.state();
                const auto b = straight.compressor.state();
                for (std::size_t piece = 0; piece < a.size(); ++piece)
                    QVERIFY(sameValues(disturbed.state(piece), straight.state(piece)));
                QCOMPARE(a.size(), b.size());
            }
        }
    }

    void stateSurvivesSaveAndLoad_data() { discardLeavesTheStateAsItWas_data(); }
    void stateSurvivesSaveAndLoad() {
        QFETCH(QString, method);
        QFETCH(QString, memory);
        const auto settings = with(settingsOf(method.toStdString(), memory.toStdString()),
                                   {{"ratio", 0.1}, {"warmup_epochs", std::int64_t{2}}});
        const MessagePlan plan = planOf({300, 40});
        CompressionWorker<float> through(plan, settings);
        CompressionWorker<float> saved(plan, settings);
        const auto stepOf = [&](CompressionWorker<float>& worker, std::uint32_t step) {
            worker.position.step = step - 1;
            worker.position.epoch = step / 8;
            return worker.step(contentOf<float>("normal", 340, step));
        };
        for (std::uint32_t step = 1; step <= 10; ++step) {
            stepOf(through, step);
            stepOf(saved, step);
        }
        CompressionWorker<float> loaded(plan, settings);
        loaded.compressor.setScalarState(saved.compressor.scalarState());
        const auto from = saved.compressor.state();
        const auto to = loaded.compressor.state();
        QCOMPARE(to.size(), from.size());
        for (std::size_t piece = 0; piece < from.size(); ++piece) {
            QCOMPARE(to[piece].name, from[piece].name);
            std::copy(from[piece].values.begin(), from[piece].values.end(),
                      to[piece].values.begin());
        }
        for (std::uint32_t step = 11; step <= 20; ++step)
            QVERIFY(sameValues(stepOf(loaded, step), stepOf(through, step)));
    }

    void memoryChangesKeepOrDropWhatWaits() {
        const MessagePlan plan = planOf({200});
        const auto residual = settingsOf("topk", "residual");
        CompressionWorker<float> worker(plan, residual);
        worker.step(contentOf<float>("normal", 200));
        const auto waiting = worker.waiting();
        worker.compressor.reconfigure(settingsOf("dgc", "dgc"), MemoryChange::Keep);
        QVERIFY(sameValues(worker.state(1), waiting));
        QVERIFY(sameValues(worker.state(0), std::vector<float>(200, 0.0F)));
        worker.compressor.reconfigure(residual, MemoryChange::Keep);
        QVERIFY(sameValues(worker.waiting(), waiting));
        worker.compressor.reconfigure(residual, MemoryChange::Drop);
        QVERIFY(sameValues(worker.waiting(), std::vector<float>(200, 0.0F)));
    }

    void whatIsKeptWhileTheMemoryIsOffComesBack() {
        const MessagePlan plan = planOf({200});
        const auto residual = settingsOf("topk", "residual");
        const auto off = settingsOf("topk", "none");
        CompressionWorker<float> worker(plan, residual);
        worker.step(contentOf<float>("normal", 200));
        const auto waiting = worker.waiting();
        worker.compressor.reconfigure(off, MemoryChange::Keep);
        const auto gradient = contentOf<float>("normal", 200, 2);
        CompressionWorker<float> plain(plan, off);
        QVERIFY(sameValues(worker.step(gradient), plain.step(gradient))); // really off
        // A checkpoint in between keeps it too.
        CompressionWorker<float> loaded(plan, off);
        loaded.compressor.setScalarState(worker.compressor.scalarState());
        const auto to = loaded.compressor.state();
        QCOMPARE(to.size(), std::size_t{1});
        std::copy(waiting.begin(), waiting.end(), to[0].values.begin());
        for (CompressionWorker<float>* each : {&worker, &loaded}) {
            each->compressor.reconfigure(off, MemoryChange::Keep);
            each->compressor.reconfigure(residual, MemoryChange::Keep);
            QVERIFY(sameValues(each->waiting(), waiting));
            QVERIFY(each->compressor.scalarState().empty());
        }
        worker.compressor.reconfigure(off, MemoryChange::Drop);
        worker.compressor.reconfigure(residual, MemoryChange::Keep);
        QVERIFY(sameValues(worker.waiting(), std::vector<float>(200, 0.0F)));
        QVERIFY_THROWS_EXCEPTION(DataError, worker.compressor.setScalarState("parked what"));
    }

    void ratioMayChangeWhileTheMemoryStays() {
        CompressionWorker<float> worker(planOf({200}), settingsOf("topk", "residual"));
        worker.step(contentOf<float>("normal", 200));
        const auto waiting = worker.waiting();
        worker.compressor.reconfigure(with(settingsOf("topk", "residual"), {{"ratio", 0.1}}),
                                      MemoryChange::Keep);
        QVERIFY(sameValues(worker.waiting(), waiting));
        worker.step(contentOf<float>("normal", 200));
        QCOMPARE(worker.compressor.stats().selected, std::uint64_t{20});
        QVERIFY_THROWS_EXCEPTION(
            ExperimentError,
            worker.compressor.reconfigure(
                with(settingsOf("topk", "residual"), {{"memory_units", std::string("update")}}),
                MemoryChange::Keep));
    }
};

QTEST_GUILESS_MAIN(TestGradientMemory)
#include "test_gradient_memory.moc"
