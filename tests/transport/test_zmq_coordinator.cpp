// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator among workers that behave: joining, places, steps in both topologies, requests
// between steps, leaving. Leaves out: losses (test_zmq_coordinator_loss.cpp), bad manners
// (test_zmq_coordinator_hostile.cpp).
#include "tests/support/coordinator_case.h"

#include <QTest>

using namespace gradlab;
using namespace gradlab::test;
using Ranks = std::vector<std::uint32_t>;

class TestZmqCoordinator : public QObject {
    Q_OBJECT

private slots:
    void theServersMeanIsTheThreads() {
        CoordinatorCase one(clusterSetup(3));
        gather(one, 3);
        ExchangeCase threads(exchangeSetup(threeParts(), 3, "server"));
        for (std::uint64_t step = 1; step <= 3; ++step) {
            const engine::ExchangeOutcome outcome = one.step(step);
            QCOMPARE(outcome.contributors, Ranks({0, 1, 2}));
            QCOMPARE(outcome.membershipEpoch, one.coordinator->view().epoch);
            for (std::uint32_t rank = 0; rank < 3; ++rank)
                threads.contents[rank] = one.contentOf(step, rank);
            (void)threads.run(step);
            QCOMPARE(one.replica->mean().size(), threads.replica->mean().size());
            QVERIFY(std::memcmp(one.replica->mean().data(), threads.replica->mean().data(),
                                one.replica->mean().size()) == 0);
            const auto reports = one.reports();
            QCOMPARE(reports.size(), std::size_t{3});
            for (std::uint32_t rank = 0; rank < 3; ++rank) {
                QCOMPARE(reports[rank].rank, rank);
                QCOMPARE(reports[rank].account, std::string("{}"));
                QCOMPARE(reports[rank].traffic.bytesUp, threads.messageBytes(rank));
                QVERIFY(one.workerIsRight(*one.workers[rank], step, {0, 1, 2}));
                QCOMPARE(one.workers[rank]->commits.back(), step);
            }
            one.boundary();
        }
        QCOMPARE(one.events("worker_joined").size(), std::size_t{3});
    }
};

QTEST_GUILESS_MAIN(TestZmqCoordinator)
#include "test_zmq_coordinator.moc"
