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
        QVERIFY(one.events("worker_lost").empty());
    }

    // What a worker waits for after its last hand-over is the network, not another's computing.
    void framesThatTravelAreHandedOver() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        for (const auto& worker : one.workers)
            worker->manners.partsSent = 0;
        auto call = one.startStep(1);
        one.until([&] { return one.workers[0]->step == 1 && one.workers[1]->step == 1; });
        const auto handedOver = std::chrono::steady_clock::now();
        for (const auto& worker : one.workers)
            for (std::size_t part = 0; part < worker->plan.parts().size(); ++part)
                worker->sendPart(part);
        QVERIFY(one.finish(call).everyoneHandedOver < handedOver);
    }

    void aJoinerIsToldWhatItNeeds() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        const ScriptedWorker& second = *one.workers[1];
        QCOMPARE(second.rank, 1U);
        QCOMPARE(second.welcome.workers, 2U);
        QCOMPARE(second.welcome.threads, 3U); // of another machine: what it has
        QVERIFY(second.welcome.mostDataBytes >= engine::kFrameHeaderBytes + 1000);
        QCOMPARE(second.snapshot.size(), CoordinatorCase::snapshotFor(1).size());
        QVERIFY(second.snapshot == CoordinatorCase::snapshotFor(1));
        QVERIFY(second.session != 0);
        QCOMPARE(one.coordinator->activeRanks(), Ranks({0, 1}));
        one.until([&] { return second.answer.has_value(); });
        QVERIFY(second.answer->echoNs > 0 && second.answer->coordinatorNs >= second.answer->echoNs);
    }

    void theViewShowsWhoIsThere() {
        CoordinatorCase one(clusterSetup(2));
        one.join("ada");
        auto call = one.startBoundary();
        one.until([&] { return one.coordinator->view().active == 1; });
        engine::ClusterView view = one.coordinator->view();
        QVERIFY(view.waiting);
        QCOMPARE(view.wanted, std::size_t{2});
        one.join("bob");
        one.finish(call);
        one.join("eve");
        one.until([&] { return one.coordinator->view().members.size() == 3; });
        view = one.coordinator->view();
        QVERIFY(!view.waiting && !view.secure);
        QCOMPARE(view.active, std::size_t{2});
        QCOMPARE(view.members[0].name, std::string("ada"));
        QCOMPARE(view.members[1].host, std::string("atlas"));
        QCOMPARE(view.members[1].pid, std::int64_t{77});
        QVERIFY(view.members[2].state == engine::MemberState::Spare);
        QVERIFY(!view.members[0].local);
        one.until([&] { return one.workers[2]->heard("wait") == 1; });
        (void)one.step(1);
        (void)one.reports();
        one.until([&] { return one.coordinator->view().members[0].bytesUp > 0; });
        QVERIFY(one.coordinator->view().members[0].stepS > 0);
    }

    void anotherVersionOrInstructionSetIsRefused() {
        CoordinatorCase one(clusterSetup(1));
        ScriptedWorker& older = one.add("older");
        older.hello.version = "0.0.9";
        older.introduce();
        ScriptedWorker& other = one.add("other");
        other.hello.isa = "quantum";
        other.introduce();
        one.until([&] { return older.refused && other.refused; });
        QVERIFY(older.refused->final && other.refused->final);
        QVERIFY(older.refused->reason.find("0.0.9") != std::string::npos);
        QVERIFY(other.refused->reason.find("quantum") != std::string::npos);
        QCOMPARE(older.session, std::uint64_t{0});
        QCOMPARE(one.events("warning").size(), std::size_t{2});
        QVERIFY(one.coordinator->view().members.empty());
    }

    void aRingIsOrderedFromNeighbourToNeighbour() {
        CoordinatorCase one(clusterSetup(3, "ring"));
        gather(one, 3);
        for (const auto& worker : one.workers) {
            worker->manners.partsSent = 0;
            worker->manners.votesWithoutMean = true;
        }
        one.check = [] { throw std::logic_error("a ring's workers check"); };
        const engine::ExchangeOutcome outcome = one.step(1);
        QCOMPARE(outcome.contributors, Ranks({0, 1, 2}));
        QCOMPARE(one.reports().size(), std::size_t{3});
        for (std::uint32_t rank = 0; rank < 3; ++rank) {
            const transport::StepOrder& order = one.workers[rank]->order;
            QCOMPARE(order.contributors, Ranks({0, 1, 2}));
            QCOMPARE(order.nextEndpoint, one.workers[(rank + 1) % 3]->ringEndpoint());
        }
        QVERIFY(one.replica->mean().empty());
    }

    void theCoordinatorChecksTheMeanBeforeTheCommit() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        one.check = [] { throw engine::NumericError(1, "embedding", "not finite"); };
        auto call = one.startStep(1);
        QVERIFY_EXCEPTION_THROWN((void)one.finish(call), engine::NumericError);
        one.until([&] { return one.workers[1]->heard("abandon") == 1; });
        QVERIFY(one.workers[0]->commits.empty());
        one.check = {};
        QCOMPARE(one.wholeStep(1).contributors, Ranks({0, 1})); // the same step, once more
        QVERIFY(one.isRight(1, {0, 1}));
    }

    void aWorkersNumbersEndTheStep() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& bad = *one.workers[1];
        bad.manners.partsSent = 1;
        auto call = one.startStep(1);
        one.until([&] { return bad.heard("begin") == 1; });
        bad.say(transport::Failed{"numeric", "decoder.bias", "the gradient is not finite"});
        try {
            (void)one.finish(call);
            QFAIL("committed");
        } catch (const engine::NumericError& error) {
            QCOMPARE(error.step(), std::uint64_t{1});
            QCOMPARE(error.tensor(), std::string("decoder.bias"));
        }
        one.until([&] { return one.workers[0]->heard("abandon") == 1; });
        QVERIFY(one.events("worker_lost").empty());
    }

    void aStopGivesTheStepUpAndItMayBeginAgain() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& slow = *one.workers[1];
        slow.manners.partsSent = 2;
        auto call = one.startStep(1);
        one.until([&] { return slow.heard("begin") == 1; });
        const std::uint64_t oldEpoch = slow.epoch;
        one.stop.request_stop();
        QVERIFY_EXCEPTION_THROWN((void)one.finish(call), engine::Cancelled);
        one.until(
            [&] { return slow.heard("abandon") == 1 && one.workers[0]->heard("abandon") == 1; });
        one.stop = {};
        slow.manners.partsSent = 0;
        auto again = one.startStep(1);
        one.until([&] { return slow.heard("begin") == 2; });
        QVERIFY(slow.epoch > oldEpoch);
        // Late frames of the first try count for nothing.
        const std::uint64_t epoch = std::exchange(slow.epoch, oldEpoch);
        slow.content = one.contentOf(9, 1);
        for (std::size_t part = 0; part < 3; ++part)
            slow.sendPart(part);
        slow.epoch = epoch;
        slow.content = one.contentOf(1, 1);
        for (std::size_t part = 0; part < 3; ++part)
            slow.sendPart(part);
        (void)one.finish(again);
        QVERIFY(one.isRight(1, {0, 1}));
    }

    void snapshotsAreFetchedAndLoaded() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        auto fetch = one.start([&] { return one.coordinator->fetch(1, false, {}); });
        QVERIFY(one.finish(fetch) == engine::ByteBuffer(3, std::byte{0x42}));
        const engine::ByteBuffer given(500, std::byte{7});
        auto load = one.start([&] { return one.coordinator->load(0, given, {}); });
        QVERIFY(one.finish(load));
        QVERIFY(one.workers[0]->snapshot == given);
        // Lost before it answers.
        one.workers[1]->manners.reports = false;
        auto lost = one.start([&] { return one.coordinator->fetch(1, true, {}); });
        one.until([&] { return one.workers[1]->heard("fetch") == 2; });
        one.workers[1]->say(transport::Bye{"done here"});
        QVERIFY(one.finish(lost).empty());
        QVERIFY(!one.coordinator->load(1, given, {}));
    }

    void parametersAndPlanMayChange() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        (void)one.wholeStep(1);
        engine::ExchangeSetup changed = one.setup.exchange;
        changed.plan = planOf({500, 3});
        engine::Experiment experiment = one.setup.experiment;
        experiment.training.lr = 0.125;
        one.coordinator->configure(experiment, engine::MemoryChange::Drop, changed);
        one.setup.exchange = changed;
        one.replica = engine::Aggregator::create(changed.plan, changed.aggregator);
        one.until([&] { return one.workers[0]->configured && one.workers[1]->configured; });
        QVERIFY(one.workers[0]->configured->memory == engine::MemoryChange::Drop);
        QVERIFY(one.workers[0]->configured->experiment.find("0.125") != std::string::npos);
        for (const auto& worker : one.workers)
            worker->plan = changed.plan;
        (void)one.wholeStep(2);
        QVERIFY(one.isRight(2, {0, 1}));
    }

    void theEndIsToldToEverybody() {
        CoordinatorCase one(clusterSetup(1));
        gather(one, 1);
        ScriptedWorker& spare = one.join("spare");
        one.until([&] { return spare.heard("wait") == 1; });
        auto call = one.start([&] { one.coordinator->end("completed"); });
        one.finish(call);
        one.until(
            [&] { return one.workers[0]->heard("finish") == 1 && spare.heard("finish") == 1; });
    }

    void onlyLoopbackIsBoundWithoutKeys() {
        engine::ClusterSetup setup = clusterSetup(1);
        setup.experiment.cluster.bind = "tcp://*:*";
        try {
            (void)transport::makeZmqCoordinator(setup, {});
            QFAIL("bound");
        } catch (const engine::ExperimentError& error) {
            QCOMPARE(error.field(), std::string("cluster.bind"));
            QVERIFY(std::string(error.what()).find("--keys") != std::string::npos);
        }
        transport::CoordinatorOptions options;
        options.insecure = true;
        const auto open = transport::makeZmqCoordinator(setup, options);
        QVERIFY(open->view().endpoint.find("tcp://") == 0);
        CoordinatorCase first(clusterSetup(1));
        setup.experiment.cluster.bind = first.coordinator->view().endpoint;
        QVERIFY_EXCEPTION_THROWN((void)transport::makeZmqCoordinator(setup, {}),
                                 engine::ExperimentError);
    }

    // A frame is held back until the modelled link lets it arrive, and the link's times are told.
    void anEmulatedUplinkHoldsFramesBack() {
        engine::ClusterSetup setup = clusterSetup(2);
        setup.exchange.plan = planOf({1000});
        setup.exchange.link.emulate = true;
        setup.exchange.link.bandwidth = 16e6;
        setup.exchange.link.latency = 0.02;
        CoordinatorCase one(setup);
        gather(one, 2);
        const auto begun = std::chrono::steady_clock::now();
        (void)one.step(1);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        QVERIFY(one.isRight(1, {0, 1}));
        QVERIFY(took.count() >= 0.02);
        const auto reports = one.reports();
        // Up and down take the latency each, and no less than the bytes at 2 MB/s.
        QVERIFY(reports[0].traffic.transferS >= 0.04);
    }
};

QTEST_GUILESS_MAIN(TestZmqCoordinator)
#include "test_zmq_coordinator.moc"
