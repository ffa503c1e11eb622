// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What waits when method or memory change, from every pair of the registry to every other: keep and
// flush lose nothing, drop loses what waits and nothing else, and after flush or drop the new pair
// begins as if it were the run's first.
#include "engine/core/errors.h"
#include "tests/support/compression_rows.h"

#include <QTest>

#include <functional>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

constexpr std::size_t kElements = 300;
constexpr std::uint32_t kChangeAfter = 30;
constexpr std::uint32_t kLast = 60;
using Values = std::vector<double>;

CompressionSettings pairOf(const std::string& method, const std::string& memory) {
    CompressionSettings settings = settingsOf(method, memory, "f64");
    settings.parameters["ratio"] = 0.05;
    settings.parameters["dgc_momentum"] = 0.0; // then gradients are what is conserved
    return settings;
}

CompressionWorker<double> workerOf(const CompressionSettings& settings) {
    return {planOf({100, 3, 197}), settings, {42, 1, 2}};
}

Values gradientAt(std::uint32_t step) {
    return contentOf<double>("normal", kElements, step);
}

void addTo(Values& sum, const Values& more) {
    for (std::size_t i = 0; i < more.size(); ++i)
        sum[i] += more[i];
}

/// Σ of what came in and of what was sent.
struct Account {
    Values in = Values(kElements, 0.0);
    Values out = Values(kElements, 0.0);

    void run(CompressionWorker<double>& worker, std::uint32_t last) {
        while (worker.position.step < last) {
            const Values gradient = gradientAt(static_cast<std::uint32_t>(worker.position.step));
            addTo(in, gradient);
            addTo(out, worker.step(gradient));
        }
    }
    /// Largest |in − out − missing|.
    [[nodiscard]] double gap(const Values& missing) const {
        double most = 0.0;
        for (std::size_t i = 0; i < kElements; ++i)
            most = std::max(most, std::fabs(in[i] - out[i] - missing[i]));
        return most;
    }
};

std::uint64_t bytesOf(const CompressionWorker<double>& worker) {
    std::uint64_t bytes = 0;
    for (std::size_t part = 0; part < worker.bodies.size(); ++part)
        bytes += worker.body(part).size();
    return bytes;
}

void eachChange(const std::function<void(const MethodInfo&, const std::string&, const MethodInfo&,
                                         const std::string&)>& visit) {
    eachPair([&](const MethodInfo& from, const std::string& fromMemory) {
        eachPair([&](const MethodInfo& to, const std::string& toMemory) {
            visit(from, fromMemory, to, toMemory);
        });
    });
}

} // namespace

class TestMemoryChange : public QObject {
    Q_OBJECT

private slots:
    void changes_data() {
        QTest::addColumn<QStringList>("pairs");
        eachChange([](const MethodInfo& from, const std::string& fromMemory, const MethodInfo& to,
                      const std::string& toMemory) {
            QTest::addRow("%s+%s to %s+%s", from.name.c_str(), fromMemory.c_str(), to.name.c_str(),
                          toMemory.c_str())
                << QStringList{QString::fromStdString(from.name),
                               QString::fromStdString(fromMemory), QString::fromStdString(to.name),
                               QString::fromStdString(toMemory)};
        });
    }
    void changes() {
        QFETCH(QStringList, pairs);
        const auto before = pairOf(pairs[0].toStdString(), pairs[1].toStdString());
        const auto after = pairOf(pairs[2].toStdString(), pairs[3].toStdString());
        flushSendsEverything(before, after);
        keepLosesNothing(before, after);
        dropLosesWhatWaits(before, after);
    }

    // 8 bytes an element and a descriptor a tensor: the flush costs what a dense step costs.
    void aFlushedStepIsDenseAndCounted() {
        CompressionWorker<double> worker = workerOf(pairOf("topk", "residual"));
        Account account;
        account.run(worker, kChangeAfter);
        QVERIFY(bytesOf(worker) < kElements * sizeof(double) / 2);
        worker.compressor.reconfigure(pairOf("randomk", "residual"), MemoryChange::Flush);
        account.run(worker, kChangeAfter + 1);
        QCOMPARE(bytesOf(worker), kElements * sizeof(double) + 3 * kDescriptorBytes);
        QCOMPARE(worker.compressor.stats().selected, std::uint64_t{kElements});
        QCOMPARE(worker.compressor.stats().squaredResidual, 0.0);
        QCOMPARE(worker.compressor.effectiveRatio(0), 1.0);
        account.run(worker, kChangeAfter + 2);
        QVERIFY(bytesOf(worker) < kElements * sizeof(double) / 2);
        QCOMPARE(worker.compressor.effectiveRatio(0), 0.05);
    }

    // One change of method and one of memory at the same boundary are one flush; a drop ends it.
    void twoChangesAtOnce() {
        for (const MemoryChange second :
             {MemoryChange::Flush, MemoryChange::Keep, MemoryChange::Drop}) {
            CompressionWorker<double> worker = workerOf(pairOf("topk", "residual"));
            Account account;
            account.run(worker, kChangeAfter);
            const Values waiting = worker.waiting();
            worker.compressor.reconfigure(pairOf("qsgd", "residual"), MemoryChange::Flush);
            worker.compressor.reconfigure(pairOf("qsgd", "none"), second);
            const Values gradient = gradientAt(1000);
            const Values received = worker.step(gradient);
            if (second == MemoryChange::Drop) {
                CompressionWorker<double> fresh = workerOf(pairOf("qsgd", "none"));
                fresh.position = worker.position;
                --fresh.position.step;
                QVERIFY(sameValues(received, fresh.step(gradient)));
                continue;
            }
            for (std::size_t i = 0; i < kElements; ++i)
                QVERIFY(std::fabs(received[i] - gradient[i] - waiting[i]) < 1e-12);
        }
    }

    // Given up and redone, or saved and loaded between the change and its step: the same bits.
    void aFlushSurvivesWhatAStepSurvives() {
        for (const char* method : {"topk", "dgc", "none"}) {
            const auto after = pairOf(method, "auto");
            CompressionWorker<double> worker = workerOf(pairOf("topk", "residual"));
            Account account;
            account.run(worker, kChangeAfter);
            worker.compressor.reconfigure(after, MemoryChange::Flush);

            CompressionWorker<double> loaded = workerOf(after);
            loaded.compressor.setScalarState(worker.compressor.scalarState());
            const auto from = worker.compressor.state();
            const auto to = loaded.compressor.state();
            QCOMPARE(to.size(), from.size());
            for (std::size_t i = 0; i < from.size(); ++i) {
                QCOMPARE(to[i].name, from[i].name);
                std::copy(from[i].values.begin(), from[i].values.end(), to[i].values.begin());
            }
            loaded.position = worker.position;

            worker.encode(gradientAt(999));
            worker.compressor.discard();
            --worker.position.step;
            for (std::uint32_t step = 0; step < 5; ++step)
                QVERIFY(sameValues(worker.step(gradientAt(step)), loaded.step(gradientAt(step))));
            QVERIFY(worker.compressor.scalarState().empty());
        }
    }

    // Updates wait as lr·g: sent as a gradient they are divided by the rate of the step that sends.
    void unitsAreTurned() {
        CompressionSettings before = pairOf("topk", "residual");
        before.parameters["memory_units"] = std::string("update");
        CompressionSettings after = pairOf("topk", "none");
        after.parameters["memory_units"] = std::string("update");
        CompressionWorker<double> worker = workerOf(before);
        worker.position.lr = 0.5;
        Account account;
        account.run(worker, 5);
        const Values waiting = worker.waiting();
        worker.compressor.reconfigure(after, MemoryChange::Flush);
        worker.position.lr = 0.25;
        const Values gradient = gradientAt(7);
        const Values received = worker.step(gradient);
        for (std::size_t i = 0; i < kElements; ++i)
            QVERIFY(std::fabs(received[i] - gradient[i] - waiting[i] / 0.25) < 1e-12);
    }

    void names() {
        for (const MemoryChange change :
             {MemoryChange::Keep, MemoryChange::Flush, MemoryChange::Drop})
            QVERIFY(memoryChangeOf(toString(change)) == change);
        QVERIFY(!memoryChangeOf("lose"));
    }

private:
    static void flushSendsEverything(const CompressionSettings& before,
                                     const CompressionSettings& after) {
        CompressionWorker<double> worker = workerOf(before);
        Account account;
        account.run(worker, kChangeAfter);
        const Values waiting = worker.waiting();
        worker.compressor.reconfigure(after, MemoryChange::Flush);
        CompressionWorker<double> fresh = workerOf(after);
        fresh.position = worker.position;
        if (!waiting.empty()) {
            const Values gradient = gradientAt(kChangeAfter);
            const Values received = worker.step(gradient);
            for (std::size_t i = 0; i < kElements; ++i)
                QVERIFY(std::fabs(received[i] - gradient[i] - waiting[i]) < 1e-12);
            for (const double left : worker.waiting())
                QCOMPARE(left, 0.0);
            ++fresh.position.step;
        }
        sameFromHereOn(worker, fresh);
    }

    static void keepLosesNothing(const CompressionSettings& before,
                                 const CompressionSettings& after) {
        if (before.memory == "none")
            return; // it loses what it does not send, before any change
        CompressionWorker<double> worker = workerOf(before);
        Account account;
        account.run(worker, kChangeAfter);
        const Values waiting = worker.waiting();
        worker.compressor.reconfigure(after, MemoryChange::Keep);
        if (after.memory == "none") { // rests: still there
            QVERIFY(sameValues(worker.waiting(), waiting));
            return;
        }
        account.run(worker, kLast);
        QVERIFY(account.gap(worker.waiting()) < 1e-11);
    }

    static void dropLosesWhatWaits(const CompressionSettings& before,
                                   const CompressionSettings& after) {
        CompressionWorker<double> worker = workerOf(before);
        Account account;
        account.run(worker, kChangeAfter);
        Values missing = worker.waiting();
        worker.compressor.reconfigure(after, MemoryChange::Drop);
        CompressionWorker<double> fresh = workerOf(after);
        fresh.position = worker.position;
        sameFromHereOn(worker, fresh);
        if (QTest::currentTestFailed() || before.memory == "none" || after.memory == "none")
            return;
        CompressionWorker<double> again = workerOf(before);
        Account whole;
        whole.run(again, kChangeAfter);
        again.compressor.reconfigure(after, MemoryChange::Drop);
        whole.run(again, kLast);
        addTo(missing, again.waiting());
        QVERIFY(whole.gap(missing) < 1e-11);
    }

    static void sameFromHereOn(CompressionWorker<double>& worker,
                               CompressionWorker<double>& fresh) {
        for (std::uint32_t step = 0; step < 5; ++step)
            QVERIFY(sameValues(worker.step(gradientAt(step)), fresh.step(gradientAt(step))));
    }
};

QTEST_GUILESS_MAIN(TestMemoryChange)
#include "test_memory_change.moc"
