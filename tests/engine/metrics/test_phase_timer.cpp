// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Phases are counted where they belong, by both clocks; no test depends on how long anything takes.
#include "engine/metrics/phase_timer.h"

#include <QTest>

#include <thread>

using namespace gradlab::engine;

namespace {

/// Burns CPU until this thread's clock has moved.
void work() {
    const double start = threadCpuSeconds();
    while (threadCpuSeconds() <= start) {
    }
}

double sum(const StepTimes& times) {
    return times.compute() + times.compression() + times.communication() + times.turn +
           times.transferHidden;
}

} // namespace

class TestPhaseTimer : public QObject {
    Q_OBJECT

private slots:
    void everyPhaseHasItsOwnField() {
        StepTimes times;
        for (int i = 0; i < 10; ++i)
            phaseSeconds(times, static_cast<Phase>(i)) = 1 << i;
        QCOMPARE(times.forward, 1.0);
        QCOMPARE(times.backward, 2.0);
        QCOMPARE(times.compress, 4.0);
        QCOMPARE(times.encode, 8.0);
        QCOMPARE(times.transfer, 16.0);
        QCOMPARE(times.wait, 32.0);
        QCOMPARE(times.turn, 64.0);
        QCOMPARE(times.decode, 128.0);
        QCOMPARE(times.update, 256.0);
        QCOMPARE(times.transferHidden, 512.0);
        StepTimes twice = times;
        addTimes(twice, times);
        scaleTimes(twice, 0.5);
        QCOMPARE(sum(twice), 1023.0);
    }

    void scopesAccumulate() {
        PhaseTimer timer;
        {
            ScopedPhase phase(timer, Phase::Forward);
            work();
            phase.next(Phase::Backward);
            work();
            phase.stop();
            work(); // nobody's
            phase.next(Phase::Update);
            work();
        }
        QVERIFY(timer.cpu().forward > 0.0);
        QVERIFY(timer.cpu().backward > 0.0);
        QVERIFY(timer.cpu().update > 0.0);
        QVERIFY(timer.wall().forward > 0.0);
        QVERIFY(sum(timer.cpu()) ==
                timer.cpu().forward + timer.cpu().backward + timer.cpu().update);
        const double first = timer.cpu().forward;
        {
            ScopedPhase phase(timer, Phase::Forward);
            work();
        }
        QVERIFY(timer.cpu().forward > first);
        timer.reset();
        QCOMPARE(sum(timer.cpu()) + sum(timer.wall()), 0.0);
    }

    void stoppedPhaseCountsNothingMore() {
        PhaseTimer timer;
        ScopedPhase phase(timer, Phase::Decode);
        work();
        phase.stop();
        const double cpu = timer.cpu().decode;
        const double wall = timer.wall().decode;
        work();
        phase.stop();
        QVERIFY(timer.cpu().decode == cpu);
        QVERIFY(timer.wall().decode == wall);
    }

    void cpuTimeIsThisThreadsAlone() {
        PhaseTimer timer;
        double others = 0.0;
        {
            ScopedPhase phase(timer, Phase::Wait);
            std::thread helper([&] {
                const double start = threadCpuSeconds();
                while (threadCpuSeconds() < start + 0.02) {
                }
                others = threadCpuSeconds() - start;
            });
            helper.join();
        }
        QVERIFY(timer.wall().wait >= others * 0.5);
        QVERIFY(timer.cpu().wait < others); // waiting burns nothing
        timer.addCpu(Phase::Wait, others);  // what the owner was told
        QVERIFY(timer.cpu().wait >= others);
    }
};

QTEST_GUILESS_MAIN(TestPhaseTimer)
#include "test_phase_timer.moc"
