// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Workers that are lost, at every phase of a step: the survivors' mean, no step counted twice, the
// words for it; and those who come back.
#include "tests/support/coordinator_case.h"

#include <QTest>

#include <algorithm>

using namespace gradlab;
using namespace gradlab::test;
using Ranks = std::vector<std::uint32_t>;

namespace {

transport::CoordinatorOptions quick() {
    transport::CoordinatorOptions options;
    options.stalledAfter = std::chrono::milliseconds(300);
    options.lostAfter = std::chrono::milliseconds(800);
    return options;
}

/// Where in a step the third worker leaves.
enum class Moment { BeforeBegin, HalfTheParts, AllParts, AfterSomeHold, AfterCommit };

bool contains(const std::string& text, const char* piece) {
    return text.find(piece) != std::string::npos;
}

} // namespace

class TestZmqCoordinatorLoss : public QObject {
    Q_OBJECT

private slots:
    void aLossAtEveryPhase_data() {
        QTest::addColumn<int>("moment");
        QTest::addColumn<bool>("ring");
        const std::array<const char*, 5> names = {"before begin", "half the parts", "all parts",
                                                  "after some hold", "after commit"};
        for (int i = 0; i < 5; ++i)
            for (const bool ring : {false, true})
                QTest::addRow("%s, %s", names[static_cast<std::size_t>(i)],
                              ring ? "ring" : "server")
                    << i << ring;
    }
    void aLossAtEveryPhase() {
        QFETCH(int, moment);
        QFETCH(bool, ring);
        const auto when = static_cast<Moment>(moment);
        CoordinatorCase one(clusterSetup(3, ring ? "ring" : "server"));
        gather(one, 3);
        ScriptedWorker& third = *one.workers[2];
        if (ring)
            for (const auto& worker : one.workers) {
                worker->manners.partsSent = 0;
                worker->manners.votesWithoutMean = true;
            }
        third.manners.votes = third.manners.votesWithoutMean = when == Moment::AfterCommit;
        third.manners.reports = false;
        if (when == Moment::HalfTheParts)
            third.manners.partsSent = ring ? 0 : 1;
        const auto leave = [&] {
            third.say(transport::Bye{"its user asked"});
            one.until([&] { return !one.events("worker_lost").empty(); });
        };
        if (when == Moment::BeforeBegin) {
            leave();
            one.boundary();
        }
        auto call = one.startStep(1);
        if (when != Moment::BeforeBegin) {
            one.until([&] { return third.heard("begin") == 1; });
            if (when == Moment::AllParts && !ring)
                one.until([&] { return third.means.size() == 3; });
            if (when == Moment::AfterSomeHold)
                one.until([&] { return ring || one.workers[0]->means.size() == 3; });
            if (when != Moment::AfterCommit)
                leave();
        }
        const engine::ExchangeOutcome outcome = one.finish(call);
        const Ranks counted = when == Moment::AfterCommit ? Ranks({0, 1, 2}) : Ranks({0, 1});
        QCOMPARE(outcome.contributors, counted);
        auto reports = one.start([&] { return one.coordinator->reports({}); });
        if (when == Moment::AfterCommit) {
            one.until([&] { return third.commits.size() == 1; });
            leave();
        }
        QCOMPARE(one.finish(reports).size(), std::size_t{2});
        if (!ring) {
            QVERIFY(one.isRight(1, counted));
            QVERIFY(one.workerIsRight(*one.workers[0], 1, counted));
        }
        const bool redone = when != Moment::BeforeBegin && when != Moment::AfterCommit;
        QCOMPARE(one.events("step_redone").size(), std::size_t{redone ? 1U : 0U});
        QCOMPARE(one.workers[1]->heard("abort"), std::size_t{redone ? 1U : 0U});
        if (ring && redone)
            QCOMPARE(one.workers[1]->order.nextEndpoint, one.workers[0]->ringEndpoint());
        QCOMPARE(one.workers[0]->commits, std::vector<std::uint64_t>({1}));
        const std::string said = one.events("worker_lost").front().details;
        QVERIFY2(contains(said, "worker 2 (w2 on atlas) is lost: it left: its user asked"),
                 said.c_str());
        QVERIFY2(contains(said, "residual memory") && contains(said, "columns"), said.c_str());
        QCOMPARE(one.wholeStep(2).contributors, Ranks({0, 1}));
    }

    // What was under way between two who live is gone: all exchange again, nobody is lost.
    void aBrokenRingIsExchangedAgain() {
        CoordinatorCase one(clusterSetup(3, "ring"));
        gather(one, 3);
        for (const auto& worker : one.workers)
            worker->manners.partsSent = 0;
        auto call = one.startStep(1);
        one.until([&] { return one.workers[0]->heard("begin") == 1; });
        for (const auto& worker : one.workers)
            worker->manners.votesWithoutMean = true;
        one.workers[0]->say(transport::Cut{false});
        one.workers[0]->say(transport::Cut{false}); // once more before it is told
        QCOMPARE(one.finish(call).contributors, Ranks({0, 1, 2}));
        QCOMPARE(one.events("step_redone").size(), std::size_t{1});
        QVERIFY(one.events("worker_lost").empty());
        const std::string said = one.events("warning").front().details;
        QVERIFY2(contains(said, "from worker 0 (w0 on atlas) to worker 1 (w1 on atlas) broke"),
                 said.c_str());
    }

    // Nobody is silent, but one cannot be reached; of the one who reaches nobody the others are
    // free.
    void anUnreachableNeighbourIsLost() {
        CoordinatorCase one(clusterSetup(3, "ring"));
        gather(one, 3);
        for (const auto& worker : one.workers)
            worker->manners.partsSent = 0;
        auto call = one.startStep(1);
        one.until([&] { return one.workers[0]->heard("begin") == 1; });
        one.workers[0]->say(transport::Cut{true});
        one.until([&] { return one.workers[0]->heard("abort") == 1; });
        const std::string said = one.events("worker_lost").front().details;
        QVERIFY2(contains(said, "worker 1 (w1 on atlas) is lost: worker 0 (w0 on atlas) cannot "
                                "send to worker 1 (w1 on atlas) at tcp://"),
                 said.c_str());
        one.workers[2]->manners.votesWithoutMean = true;
        one.workers[0]->say(transport::Cut{true});
        one.until([&] { return one.events("worker_lost").size() == 2; });
        QCOMPARE(one.events("worker_lost").back().rank, 0U);
        QCOMPARE(one.finish(call).contributors, Ranks({2}));
    }

    void silenceStallsAndThenLoses() {
        CoordinatorCase one(clusterSetup(2), quick());
        gather(one, 2);
        ScriptedWorker& second = *one.workers[1];
        second.manners.partsSent = 1;
        auto call = one.startStep(1);
        one.until([&] { return second.heard("begin") == 1; });
        second.manners.beats = false;
        one.until([&] { return !one.events("worker_stalled").empty(); });
        const engine::MemberState state = one.coordinator->view().members[1].state;
        QVERIFY(state == engine::MemberState::Stalled || state == engine::MemberState::Lost);
        QCOMPARE(one.finish(call).contributors, Ranks({0}));
        QVERIFY(one.isRight(1, {0}));
        QVERIFY(!one.events("worker_lost").empty());
        const auto first = [&one](const std::string& kind) {
            return std::ranges::find(one.happened, kind, &engine::ClusterEvent::event);
        };
        QVERIFY(first("worker_stalled") < first("worker_lost"));
        const std::string said = one.events("worker_lost").front().details;
        QVERIFY2(contains(said, "silent for 0."), said.c_str());
        QVERIFY(one.coordinator->view().members[1].state == engine::MemberState::Lost);
    }

    void aShortSilenceLosesNothing() {
        transport::CoordinatorOptions options = quick();
        options.lostAfter = std::chrono::seconds(30);
        CoordinatorCase one(clusterSetup(2), options);
        gather(one, 2);
        ScriptedWorker& second = *one.workers[1];
        second.manners.beats = false;
        one.until([&] { return !one.events("worker_stalled").empty(); });
        second.manners.beats = true;
        one.until([&] { return !one.events("worker_recovered").empty(); });
        QCOMPARE(one.wholeStep(1).contributors, Ranks({0, 1}));
        QVERIFY(one.events("worker_lost").empty());
    }

    // SIGSTOP for longer than two seconds, then SIGCONT: nothing of its past counts, it joins anew.
    void aFrozenWorkerWakesUpAsAStrangerAndJoinsAnew() {
        CoordinatorCase one(clusterSetup(2), quick());
        gather(one, 2);
        ScriptedWorker& second = *one.workers[1];
        second.manners.partsSent = 0;
        second.manners.beats = false;
        auto call = one.startStep(1);
        QCOMPARE(one.finish(call).contributors, Ranks({0}));
        (void)one.reports();
        const std::uint64_t firstMember = second.welcome.member;
        // It goes on where it was.
        for (std::size_t part = 0; part < 3; ++part)
            second.sendPart(part);
        second.say(transport::Holds{});
        second.manners.beats = true;
        one.until([&] { return second.refused.has_value(); });
        QVERIFY(!second.refused->final);
        second.manners.partsSent = 99;
        second.sayHello();
        one.until([&] { return second.heard("wait") == 2; });
        one.boundary();
        QVERIFY(second.welcome.member != firstMember);
        QCOMPARE(second.rank, 1U);
        QCOMPARE(one.wholeStep(2).contributors, Ranks({0, 1}));
        QVERIFY(one.isRight(2, {0, 1}));
        QCOMPARE(one.events("worker_joined").size(), std::size_t{3});
    }

    void theSameNameAtOnceTakesItsPlace() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        auto call = one.startStep(1);
        (void)one.finish(call);
        (void)one.reports();
        ScriptedWorker& again = one.add("w1");
        again.hello.pid = 78;
        again.introduce();
        one.until([&] { return !one.events("worker_lost").empty(); });
        const std::string said = one.events("worker_lost").front().details;
        QVERIFY2(contains(said, "replaced by a process of the same name"), said.c_str());
        one.boundary();
        QCOMPARE(again.rank, 1U);
        // The one that was replaced does not fight for its name.
        one.until([&] { return one.workers[1]->refused.has_value(); });
        QVERIFY(one.workers[1]->refused->final);
        QCOMPARE(one.wholeStep(2).contributors, Ranks({0, 1}));
    }

    void aConnectionThatIsNewIsANewMember() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& again = one.join("w1"); // same pid, same boot
        one.until([&] { return !one.events("worker_lost").empty(); });
        one.boundary();
        QCOMPARE(again.rank, 1U);
        one.until([&] { return one.workers[1]->refused.has_value(); });
        QVERIFY(!one.workers[1]->refused->final);
    }

    void aSpareTakesTheLostOnesPlace() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& spare = one.join("spare");
        one.until([&] { return spare.heard("wait") == 1; });
        (void)one.wholeStep(1);
        one.workers[0]->say(transport::Bye{"enough"});
        one.until([&] { return !one.events("worker_lost").empty(); });
        QCOMPARE(one.wholeStep(2).contributors, Ranks({0, 1}));
        QCOMPARE(spare.rank, 0U);
        QVERIFY(spare.snapshot == CoordinatorCase::snapshotFor(0));
    }

    void aJoinerThatIsLostWhileItLoadsDelaysNobody() {
        CoordinatorCase one(clusterSetup(2), quick());
        ScriptedWorker& dead = one.add("dead");
        dead.manners.becomesReady = false;
        dead.introduce();
        auto call = one.startBoundary();
        one.until([&] { return !dead.snapshot.empty(); });
        dead.manners.beats = false;
        one.join("a");
        one.join("b");
        one.finish(call);
        QCOMPARE(one.wholeStep(1).contributors, Ranks({0, 1}));
    }

    void onLossStopEndsTheRun() {
        engine::ClusterSetup setup = clusterSetup(2);
        setup.experiment.cluster.onLoss = "stop";
        CoordinatorCase one(setup);
        gather(one, 2);
        one.workers[1]->manners.partsSent = 1;
        auto call = one.startStep(1);
        one.until([&] { return one.workers[1]->heard("begin") == 1; });
        one.workers[1]->say(transport::Bye{"enough"});
        QVERIFY_EXCEPTION_THROWN((void)one.finish(call), engine::TransportError);
        one.until([&] { return one.workers[0]->heard("abandon") == 1; });
        auto boundary = one.startBoundary();
        try {
            one.finish(boundary);
            QFAIL("went on");
        } catch (const engine::TransportError& error) {
            QVERIFY2(contains(error.what(), "on_loss is stop: worker 1 (w1 on atlas)"),
                     error.what());
        }
        QVERIFY(one.workers[0]->commits.empty());
    }

    void onLossPauseFinishesTheStep() {
        engine::ClusterSetup setup = clusterSetup(2);
        setup.experiment.cluster.onLoss = "pause";
        CoordinatorCase one(setup);
        gather(one, 2);
        one.workers[1]->manners.partsSent = 1;
        auto call = one.startStep(1);
        one.until([&] { return one.workers[1]->heard("begin") == 1; });
        one.workers[1]->say(transport::Bye{"enough"});
        QCOMPARE(one.finish(call).contributors, Ranks({0}));
        (void)one.reports();
        QVERIFY(one.coordinator->takePauseRequest());
        QVERIFY(!one.coordinator->takePauseRequest());
        // Paused with nobody left: the next boundary waits for somebody.
        one.workers[0]->say(transport::Bye{"too"});
        one.until([&] { return one.coordinator->view().active == 0; });
        auto boundary = one.startBoundary();
        one.until([&] { return one.coordinator->view().waiting; });
        one.join("rescue");
        one.finish(boundary);
        QCOMPARE(one.wholeStep(2).contributors, Ranks({0}));
    }

    void nobodyLeftEndsTheRun() {
        CoordinatorCase one(clusterSetup(1));
        gather(one, 1);
        one.workers[0]->manners.partsSent = 1;
        auto call = one.startStep(1);
        one.until([&] { return one.workers[0]->heard("begin") == 1; });
        one.workers[0]->say(transport::Bye{"enough"});
        QVERIFY_EXCEPTION_THROWN((void)one.finish(call), engine::TransportError);
    }

    void stragglersAreShownAndByPolicyDropped() {
        for (const bool drop : {false, true}) {
            engine::ClusterSetup setup = clusterSetup(2);
            setup.experiment.cluster.onStraggler = drop ? "drop" : "wait";
            transport::CoordinatorOptions options;
            options.stragglesAfter = std::chrono::milliseconds(300);
            CoordinatorCase one(setup, options);
            gather(one, 2);
            ScriptedWorker& slow = *one.workers[1];
            slow.manners.partsSent = 1;
            auto call = one.startStep(1);
            one.until([&] { return !one.events("worker_straggling").empty(); });
            QCOMPARE(one.events("worker_straggling").front().rank, 1U);
            if (!drop) {
                QVERIFY(one.coordinator->view().members[1].state ==
                        engine::MemberState::Straggling);
                slow.sendPart(1);
                slow.sendPart(2);
            }
            QCOMPARE(one.finish(call).contributors, drop ? Ranks({0}) : Ranks({0, 1}));
            QCOMPARE(one.events("worker_straggling").size(), std::size_t{1});
            QCOMPARE(one.events("worker_lost").size(), std::size_t{drop ? 1U : 0U});
        }
    }

    void aFailedProgramIsLost() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        one.workers[1]->manners.partsSent = 1;
        auto call = one.startStep(1);
        one.until([&] { return one.workers[1]->heard("begin") == 1; });
        one.workers[1]->say(transport::Failed{"other", "", "out of memory"});
        QCOMPARE(one.finish(call).contributors, Ranks({0}));
        const std::string said = one.events("worker_lost").front().details;
        QVERIFY2(contains(said, "it failed: out of memory"), said.c_str());
    }
};

QTEST_GUILESS_MAIN(TestZmqCoordinatorLoss)
#include "test_zmq_coordinator_loss.moc"
