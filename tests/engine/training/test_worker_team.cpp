// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// At most `permits` workers compute at once, everybody gets a turn, errors come back to the owner.
#include "engine/core/errors.h"
#include "engine/training/worker_team.h"

#include <QTest>

#include <atomic>
#include <stdexcept>
#include <thread>

using namespace gradlab::engine;

class TestWorkerTeam : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void neverMoreThanThePermits_data() {
        QTest::addColumn<int>("workers");
        QTest::addColumn<int>("threads");
        QTest::newRow("4 workers, 1 thread") << 4 << 1;
        QTest::newRow("4 workers, 2 threads") << 4 << 2;
        QTest::newRow("2 workers, 8 threads") << 2 << 8;
    }
    void neverMoreThanThePermits() {
        QFETCH(int, workers);
        QFETCH(int, threads);
        WorkerTeam team(static_cast<std::size_t>(workers), static_cast<std::size_t>(threads));
        std::atomic<int> inside{0};
        std::atomic<int> most{0};
        std::atomic<int> done{0};
        for (int round = 0; round < 50; ++round)
            team.run([&](std::size_t, const ComputeTurn& turn) {
                const int now = ++inside;
                int seen = most;
                while (now > seen && !most.compare_exchange_weak(seen, now)) {
                }
                std::atomic<int> sum{0};
                turn.arena.execute([&] {
                    parallelBlocks(8, [&](std::size_t) {
                        std::this_thread::yield();
                        ++sum;
                    });
                });
                done += sum == 8 && turn.waitedS >= 0.0 ? 1 : 0;
                --inside;
            });
        QVERIFY(most <= threads);
        QCOMPARE(done.load(), 50 * workers);
    }

    void anErrorReachesTheOwner() {
        WorkerTeam team(3, 2);
        std::atomic<int> told{0};
        team.start(
            [](std::size_t index, const ComputeTurn&) {
                if (index == 1)
                    throw std::runtime_error("worker one");
            },
            [&] { ++told; });
        const std::exception_ptr error = team.join();
        QVERIFY(error != nullptr);
        QCOMPARE(told.load(), 1);
        try {
            std::rethrow_exception(error);
        } catch (const std::runtime_error& failure) {
            QCOMPARE(failure.what(), "worker one");
        }
        int after = 0;
        team.run([&](std::size_t index, const ComputeTurn&) {
            if (index == 0)
                after = 1;
        });
        QCOMPARE(after, 1);
    }

    // One worker fails, the others are told to give up: the failure is what counts.
    void aFailureIsNotHiddenByThoseThatGaveUp() {
        WorkerTeam team(3, 2);
        team.start([](std::size_t index, const ComputeTurn&) {
            if (index == 2)
                throw std::runtime_error("worker two");
            throw Cancelled();
        });
        QVERIFY_EXCEPTION_THROWN(std::rethrow_exception(team.join()), std::runtime_error);
        team.start([](std::size_t, const ComputeTurn&) { throw Cancelled(); });
        QVERIFY_EXCEPTION_THROWN(std::rethrow_exception(team.join()), Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestWorkerTeam)
#include "test_worker_team.moc"
