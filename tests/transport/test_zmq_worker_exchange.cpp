// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Worker processes' end of the exchange, with workers as threads and a scripted coordinator over
// real sockets: the same bits and bytes as between threads of one process, redone steps, steps
// given up.
#include "tests/support/exchange_case.h"
#include "tests/support/scripted_cluster.h"

#include <QTest>

#include <array>

using namespace gradlab;
using namespace gradlab::test;
using transport::WorkerPhase;

namespace {

struct Topology {
    const char* name;
    const char* topology;
    bool denseRing;
};
constexpr std::array kTopologies = {Topology{"server", "server", false},
                                    Topology{"ring", "ring", false},
                                    Topology{"dense ring", "ring", true}};

Kinds kindsFor(bool denseRing) {
    return denseRing ? Kinds::Dense : Kinds::Mixed;
}

void addTopologies() {
    QTest::addColumn<QString>("topology");
    QTest::addColumn<bool>("denseRing");
    for (const Topology& topology : kTopologies)
        QTest::newRow(topology.name) << QString(topology.topology) << topology.denseRing;
}

engine::ExchangeSetup fetchSetup(std::uint32_t workers) {
    QFETCH(QString, topology);
    QFETCH(bool, denseRing);
    return exchangeSetup(threeParts(), workers, topology.toStdString(), denseRing);
}

/// What the contributors' mean must be, from the obvious sums.
std::vector<float> expectedMean(const engine::ExchangeSetup& setup, std::uint64_t step,
                                const std::vector<std::uint32_t>& ranks) {
    std::vector<std::vector<float>> dense;
    for (const std::uint32_t rank : ranks)
        dense.push_back(expand<float>(
            setup.plan, randomContent<float>(setup.plan, kindsFor(setup.denseRing), 7,
                                             static_cast<std::uint32_t>(step), rank)));
    return setup.denseRing ? ringMeanOf<float>(setup.plan, dense) : meanOf<float>(dense);
}

} // namespace

class TestZmqWorkerExchange : public QObject {
    Q_OBJECT

private slots:
    void everyTopologyGivesWhatThreadsGive_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("denseRing");
        QTest::addColumn<unsigned>("workers");
        for (const Topology& topology : kTopologies)
            for (const unsigned workers : {1U, 2U, 3U})
                QTest::addRow("%s, %u", topology.name, workers)
                    << QString(topology.topology) << topology.denseRing << workers;
    }
    void everyTopologyGivesWhatThreadsGive() {
        QFETCH(unsigned, workers);
        const engine::ExchangeSetup setup = fetchSetup(workers);
        ScriptedCluster cluster(setup, kindsFor(setup.denseRing));
        cluster.join();
        ExchangeCase threads(setup);
        for (const std::uint64_t step : {1U, 2U, 3U}) {
            const auto done = cluster.step(step);
            threads.draw(kindsFor(setup.denseRing), 7, static_cast<std::uint32_t>(step));
            const engine::ExchangeOutcome outcome = threads.run(step);
            for (std::uint32_t rank = 0; rank < workers; ++rank) {
                QVERIFY2(sameBits<float>(threads.replica->mean(), threads.expectedMean()), "mean");
                QVERIFY(sameBits<float>(cluster.mean(rank, step), threads.expectedMean()));
                const auto& said = std::get<transport::Done>(done[rank].message);
                QCOMPARE(said.account, std::string("with hash"));
                QCOMPARE(said.traffic.bytesMessage, outcome.traffic[rank].bytesMessage);
                QCOMPARE(said.traffic.bytesUp, outcome.traffic[rank].bytesUp);
                QCOMPARE(said.traffic.bytesDown, outcome.traffic[rank].bytesDown);
                QVERIFY(said.traffic.arrived >= said.traffic.lastHandOver);
            }
        }
        cluster.finish();
        for (const auto& worker : cluster.workers) {
            QCOMPARE(worker->error, std::string());
            QVERIFY(worker->left == transport::WorkerLeave::Finished);
            const auto& outcome = worker->log.outcomes[3];
            QCOMPARE(outcome.contributors, cluster.ranks);
            QCOMPARE(outcome.membershipEpoch, std::uint64_t{1});
            // The network thread, which others wait for, does not.
            QCOMPARE(worker->log.foreignDecodes.load(), 0U);
        }
    }

    void redoneAmongSurvivors_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("denseRing");
        QTest::addColumn<int>("phase");
        for (const Topology& topology : kTopologies)
            for (const WorkerPhase phase : {WorkerPhase::Computing, WorkerPhase::HandingOver,
                                            WorkerPhase::Exchanging, WorkerPhase::Voting})
                QTest::addRow("%s, %s %d", topology.name, toString(phase), static_cast<int>(phase))
                    << QString(topology.topology) << topology.denseRing << static_cast<int>(phase);
    }
    // Worker 1 is lost while worker 0 stands at the phase, for every part that may be under way.
    void redoneAmongSurvivors() {
        QFETCH(int, phase);
        const engine::ExchangeSetup setup = fetchSetup(3);
        Gate gate;
        ScriptedCluster cluster(setup, kindsFor(setup.denseRing),
                                [&](std::uint32_t rank, transport::WorkerOptions& options) {
                                    if (rank == 0)
                                        options.onPhase = [&](WorkerPhase now, std::uint64_t step) {
                                            if (static_cast<int>(now) == phase && step == 2)
                                                gate.pass();
                                        };
                                });
        cluster.join();
        cluster.step(1);
        ScriptedCoordinator& coordinator = cluster.coordinator;
        coordinator.begin(2, cluster.ranks);
        if (static_cast<WorkerPhase>(phase) == WorkerPhase::Voting && setup.topology == "server")
            coordinator.serve(setup, 2, cluster.ranks);
        coordinator.pumpUntil([&] { return gate.isReached(); });
        const std::vector<std::uint32_t> survivors = {0, 2};
        coordinator.abort(2, survivors);
        // Behind the abort on the same socket: once it is answered, the abort was seen.
        coordinator.say(coordinator.members.at(0).control, transport::ProbeOrder{77, 1, 64, false});
        coordinator.sendData(
            coordinator.members.at(0).data,
            ScriptedCoordinator::frameOf(coordinator.header(transport::FrameType::Probe, 77), ""));
        coordinator.expect<transport::ProbeResult>(coordinator.members.at(0).control);
        gate.open();
        if (setup.topology == "server")
            coordinator.serve(setup, 2, survivors);
        finishRedone(cluster, 2, survivors);
        cluster.finish();
    }

    void redoneAfterTheVote_data() { addTopologies(); }
    void redoneAfterTheVote() {
        const engine::ExchangeSetup setup = fetchSetup(3);
        ScriptedCluster cluster(setup, kindsFor(setup.denseRing));
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        coordinator.begin(1, cluster.ranks);
        if (setup.topology == "server")
            coordinator.serve(setup, 1, cluster.ranks);
        coordinator.expectFromAll<transport::Holds>(cluster.ranks);
        const std::vector<std::uint32_t> survivors = {1, 2};
        coordinator.abort(1, survivors);
        // What names the epoch before commits nothing any more.
        --coordinator.epoch;
        coordinator.sayToAll(survivors, transport::Commit{}, 1);
        ++coordinator.epoch;
        if (setup.topology == "server")
            coordinator.serve(setup, 1, survivors);
        finishRedone(cluster, 1, survivors);
        // The survivors go on, alone in the end.
        cluster.ranks = {2};
        cluster.step(2);
        QVERIFY(sameBits<float>(cluster.mean(2, 2), expectedMean(setup, 2, {2})));
        cluster.finish();
    }

    void framesOfAStepThatIsNotBegunWait_data() { addTopologies(); }
    void framesOfAStepThatIsNotBegunWait() {
        const engine::ExchangeSetup setup = fetchSetup(2);
        std::atomic<bool> allSent = false;
        ScriptedCluster cluster(setup, kindsFor(setup.denseRing),
                                [&](std::uint32_t rank, transport::WorkerOptions& options) {
                                    if (rank == 0)
                                        options.onPhase = [&](WorkerPhase now, std::uint64_t) {
                                            if (now == WorkerPhase::Exchanging)
                                                allSent = true;
                                        };
                                });
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        const auto beginFor = [&](std::uint32_t rank) {
            coordinator.say(coordinator.members.at(rank).control,
                            transport::Begin{coordinator.order(cluster.ranks, rank), false}, 1,
                            rank);
        };
        beginFor(0);
        coordinator.pumpUntil([&] { return allSent.load(); });
        beginFor(1);
        if (setup.topology == "server")
            coordinator.serve(setup, 1, cluster.ranks);
        coordinator.finishStep(1, cluster.ranks);
        for (const std::uint32_t rank : cluster.ranks)
            QVERIFY(sameBits<float>(cluster.mean(rank, 1), expectedMean(setup, 1, cluster.ranks)));
        cluster.finish();
    }

    void aStepIsGivenUpAndBegunAgain_data() { addTopologies(); }
    void aStepIsGivenUpAndBegunAgain() {
        const engine::ExchangeSetup setup = fetchSetup(2);
        ScriptedCluster cluster(setup, kindsFor(setup.denseRing));
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        FakeNode::badStep = 1;
        coordinator.begin(1, cluster.ranks);
        if (setup.topology == "server")
            coordinator.serve(setup, 1, cluster.ranks);
        for (const auto& failed : coordinator.expectFromAll<transport::Failed>(cluster.ranks)) {
            const auto& said = std::get<transport::Failed>(failed.message);
            QCOMPARE(said.kind, std::string("numeric"));
            QCOMPARE(said.tensor, std::string("t1"));
        }
        FakeNode::badStep = 0;
        coordinator.sayToAll(cluster.ranks, transport::Abandon{}, 1);
        ++coordinator.epoch;
        cluster.step(1);
        QVERIFY(sameBits<float>(cluster.mean(0, 1), expectedMean(setup, 1, cluster.ranks)));
        // Given up while everybody waits for the mean of a worker that does not come.
        coordinator.begin(2, cluster.ranks);
        coordinator.sayToAll(cluster.ranks, transport::Abandon{}, 2);
        ++coordinator.epoch;
        cluster.step(2);
        QVERIFY(sameBits<float>(cluster.mean(1, 2), expectedMean(setup, 2, cluster.ranks)));
        cluster.finish();
    }

    void whatIsNotWantedIsDropped_data() { addTopologies(); }
    void whatIsNotWantedIsDropped() {
        const engine::ExchangeSetup setup = fetchSetup(2);
        ScriptedCluster cluster(setup, kindsFor(setup.denseRing));
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        zmq::context_t context;
        zmq::socket_t stranger = transport::makeSocket(context, zmq::socket_type::push, {});
        if (setup.topology == "ring")
            stranger.connect(coordinator.members.at(0).ring);
        coordinator.begin(1, cluster.ranks);
        for (const engine::ByteBuffer& frame : unwanted(setup, coordinator)) {
            coordinator.sendData(coordinator.members.at(0).data, frame);
            if (setup.topology == "ring")
                QVERIFY(stranger.send(zmq::buffer(frame)));
        }
        if (setup.topology == "server")
            coordinator.serve(setup, 1, cluster.ranks);
        coordinator.finishStep(1, cluster.ranks);
        for (const std::uint32_t rank : cluster.ranks)
            QVERIFY(sameBits<float>(cluster.mean(rank, 1), expectedMean(setup, 1, cluster.ranks)));
        cluster.step(2);
        QVERIFY(sameBits<float>(cluster.mean(0, 2), expectedMean(setup, 2, cluster.ranks)));
        cluster.finish();
        QCOMPARE(cluster.workers[0]->error, std::string());
    }

    void framesAreHeldBack_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("denseRing");
        QTest::addColumn<bool>("sharedClock");
        for (const Topology& topology : kTopologies)
            for (const bool shared : {true, false})
                QTest::addRow("%s, %s", topology.name, shared ? "one clock" : "two clocks")
                    << QString(topology.topology) << topology.denseRing << shared;
    }
    void framesAreHeldBack() {
        QFETCH(bool, sharedClock);
        constexpr std::int64_t kHourNs = 3600LL * 1000000000;
        constexpr double kLatency = 0.03;
        engine::ExchangeSetup setup = fetchSetup(2);
        setup.link.emulate = true;
        setup.link.latency = kLatency;
        setup.link.bandwidth = 1e9;
        ScriptedCluster cluster(setup, kindsFor(setup.denseRing));
        cluster.coordinator.sharesClock = sharedClock;
        cluster.coordinator.clockNs = sharedClock ? 0 : kHourNs;
        cluster.join();
        cluster.coordinator.pumpUntil([&] { // clocks are compared by heartbeats
            return cluster.coordinator.beats.size() == 2 &&
                   std::all_of(cluster.coordinator.beats.begin(), cluster.coordinator.beats.end(),
                               [](const auto& beat) { return beat.second.roundTripS > 0.0; });
        });
        const auto done = cluster.step(1);
        const auto now = std::chrono::steady_clock::now() +
                         std::chrono::nanoseconds(cluster.coordinator.clockNs);
        engine::SteadyTime handedOver = engine::SteadyTime::min();
        engine::SteadyTime arrived = engine::SteadyTime::min();
        for (const auto& one : done) {
            const auto& traffic = std::get<transport::Done>(one.message).traffic;
            handedOver = std::max(handedOver, traffic.lastHandOver);
            arrived = std::max(arrived, traffic.arrived);
            QVERIFY(traffic.transferS > 0.0);
            QVERIFY(std::chrono::abs(now - traffic.arrived) < std::chrono::minutes(10));
        }
        // What was handed over last has a way of one latency at least. Clocks that are compared
        // over a busy machine tell less.
        const double took = std::chrono::duration<double>(arrived - handedOver).count();
        QVERIFY2(!sharedClock || took >= kLatency, qPrintable(QString::number(took)));
        QVERIFY(sameBits<float>(cluster.mean(0, 1), expectedMean(setup, 1, cluster.ranks)));
        cluster.finish();
    }

private:
    static void finishRedone(ScriptedCluster& cluster, std::uint64_t step,
                             const std::vector<std::uint32_t>& survivors) {
        cluster.coordinator.finishStep(step, survivors);
        for (const std::uint32_t rank : survivors) {
            QVERIFY(sameBits<float>(cluster.mean(rank, step),
                                    expectedMean(cluster.setup, step, survivors)));
            const std::lock_guard lock(cluster.workers[rank]->log.mutex);
            QCOMPARE(cluster.workers[rank]->log.outcomes[step].contributors, survivors);
            QCOMPARE(cluster.workers[rank]->log.outcomes[step].membershipEpoch,
                     cluster.coordinator.epoch);
        }
    }

    /// Frames that look right but for one thing.
    static std::vector<engine::ByteBuffer> unwanted(const engine::ExchangeSetup& setup,
                                                    const ScriptedCoordinator& coordinator) {
        const auto rightOne = [&] {
            transport::FrameHeader header = coordinator.meanHeader(setup, 1, 0);
            header.rank = setup.topology == "server" ? transport::kServerRank : 1;
            header.type = setup.topology == "server" ? transport::FrameType::Mean
                          : setup.denseRing          ? transport::FrameType::PartialChunk
                                                     : transport::FrameType::Gradient;
            header.chunk = setup.denseRing ? 1 : 0;
            return header;
        };
        std::vector<engine::ByteBuffer> frames;
        const auto add = [&](auto change) {
            transport::FrameHeader header = rightOne();
            change(header);
            frames.push_back(ScriptedCoordinator::frameOf(header, "not a body"));
        };
        add([](auto& header) { header.session ^= 1; });
        add([](auto& header) { header.epoch = 0; });
        add([](auto& header) { header.step = 0; });
        add([](auto& header) { header.rank = 5; });
        add([](auto& header) { header.part = 2, header.parts = 9; });
        add([](auto& header) { header.tensors = 77; });
        add([](auto& header) { header.chunk = 1000; });
        add([](auto& header) { header.type = transport::FrameType::Control; });
        frames.push_back(ScriptedCoordinator::frameOf(rightOne(), "bytes that change on the way"));
        frames.back().back() ^= std::byte{1};
        frames.emplace_back(5, std::byte{0x47});
        return frames;
    }
};

QTEST_GUILESS_MAIN(TestZmqWorkerExchange)
#include "test_zmq_worker_exchange.moc"
