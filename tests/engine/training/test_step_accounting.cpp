// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The contract's definitions in numbers: what counts as network, what as sharing the cores, and
// simulated time.
#include "engine/training/step_accounting.h"

#include <QTest>

#include <cmath>

using namespace gradlab::engine;

namespace {

SteadyTime at(double seconds) {
    return SteadyTime{} +
           std::chrono::duration_cast<SteadyTime::duration>(std::chrono::duration<double>(seconds));
}

bool near(double a, double b) {
    return std::abs(a - b) < 1e-6;
}

// Two workers: the first hands over at 1 s, the second at 3 s; everything arrives at 3.5 s.
struct TwoWorkers {
    TwoWorkers() {
        workers.resize(2);
        workers[0].bytesMessage = 1000;
        workers[1].bytesMessage = 2000;
        workers[0].cpuAtHandOver = 1.0;
        workers[1].cpuAtHandOver = 2.0;
        workers[0].parts = {{1.0, 1000.0}};
        workers[1].parts = {{2.0, 2000.0}};
        outcome.contributors = {0, 1};
        outcome.traffic.resize(2);
        outcome.traffic[0].lastHandOver = at(1.0);
        outcome.traffic[1].lastHandOver = at(3.0);
        for (RankTraffic& traffic : outcome.traffic) {
            traffic.arrived = at(3.5);
            traffic.bytesDown = 4000;
            traffic.bytesUp = 1500;
        }
        outcome.everyoneHandedOver = at(3.0);
        // While somebody still computed, while all waited, and when everything had arrived.
        outcome.aggregating = {{at(2.0), at(3.05)}, {at(3.2), at(3.35)}, {at(3.6), at(3.9)}};
        outcome.aggregateCpuS = 0.125;
        inputs.parameters = 100;
        inputs.link = {1000.0, 0.5, 1000.0, 2};
    }
    std::vector<WorkerAccount> workers;
    ExchangeOutcome outcome;
    StepInputs inputs;
};

} // namespace

class TestStepAccounting : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void waitingForAPeerIsSharingNotNetwork() {
        TwoWorkers two;
        accountExchange(two.workers, two.outcome);
        QVERIFY(near(two.workers[0].t.turn, 2.0));
        QVERIFY(near(two.workers[1].t.turn, 0.0));
        for (const WorkerAccount& worker : two.workers) {
            QVERIFY(near(worker.t.transfer, 0.0));
            QVERIFY(near(worker.t.wait, 0.3)); // 0.5 s until arrival, less the server's 0.2 s
        }
    }

    void timeOnTheLinkIsTransferAndHiddenTimeIsApart() {
        TwoWorkers two;
        two.outcome.traffic[0].transferS = 0.9;
        two.outcome.traffic[0].transferHiddenS = 0.8;
        accountExchange(two.workers, two.outcome);
        QVERIFY(near(two.workers[0].t.transferHidden, 0.8));
        QVERIFY(near(two.workers[0].t.transfer, 0.1));
        QVERIFY(near(two.workers[0].t.communication(), 0.3));
    }

    // max CPU 2 s + server 0.125 s + link: 2·0.5 + max(2000/1000, 2·2000/1000) + max(4000/1000,
    // 2·4000/1000).
    void simulatedSecondsFollowTheFormula() {
        TwoWorkers two;
        double link = 0.0;
        const double seconds = simulatedSeconds(two.workers, two.outcome, two.inputs, link);
        QVERIFY(near(link, 1.0 + 4.0 + 8.0));
        QVERIFY(near(seconds, 2.0 + 0.125 + 13.0));
    }

    void meansAndRatios() {
        TwoWorkers two;
        for (std::size_t i = 0; i < 2; ++i) {
            two.workers[i].loss = 2.0 + static_cast<double>(i);
            two.workers[i].stats.selected = 10 * (i + 1);
            two.workers[i].stats.squaredNorm = 4.0;
            two.workers[i].stats.squaredKept = 3.0;
            two.workers[i].stats.squaredError = 1.0;
            two.workers[i].stats.squaredResidual = 8.0;
        }
        const StepRecord record = makeStepRecord(two.workers, two.outcome, two.inputs);
        QCOMPARE(record.loss, 2.5);
        QCOMPARE(record.selected, 15.0);
        QCOMPARE(record.density, 0.15);
        QCOMPARE(record.bytesDense, 400.0);
        QCOMPARE(record.bytesMessage, 1500.0);
        QCOMPARE(record.error, 0.5);
        QCOMPARE(record.energyKept, 0.75);
        QCOMPARE(record.residualNorm, 4.0);
        QCOMPARE(record.contributors, std::uint64_t{2});
    }

    void nothingToSendIsNotADivisionByZero() {
        TwoWorkers two;
        const StepRecord record = makeStepRecord(two.workers, two.outcome, two.inputs);
        QCOMPARE(record.error, 0.0);
        QCOMPARE(record.energyKept, 0.0);
    }
};

QTEST_GUILESS_MAIN(TestStepAccounting)
#include "test_step_accounting.moc"
