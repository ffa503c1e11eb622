// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker process's way through a cluster: joining, orders besides steps, losing the coordinator
// and coming back, leaving.
#include "engine/core/version.h"
#include "tests/support/exchange_case.h"
#include "tests/support/scripted_cluster.h"

#include <QTest>

#include <unistd.h>

using namespace gradlab;
using namespace gradlab::test;

namespace {

engine::ExchangeSetup serverOf(std::uint32_t workers) {
    return exchangeSetup(threeParts(), workers, "server");
}

/// Lines for people, from any thread.
struct Notices {
    std::mutex mutex;
    std::vector<std::string> lines;
    [[nodiscard]] auto taker() {
        return [this](const std::string& line) {
            const std::lock_guard lock(mutex);
            lines.push_back(line);
        };
    }
    [[nodiscard]] bool has(const std::string& part) {
        const std::lock_guard lock(mutex);
        return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
            return line.find(part) != std::string::npos;
        });
    }
};

transport::WorkerOptions optionsFor(const ScriptedCoordinator& coordinator) {
    transport::WorkerOptions options;
    options.connect = coordinator.endpoint();
    options.name = "w0";
    options.lostAfter = std::chrono::seconds(20);
    return options;
}

} // namespace

class TestZmqWorkerProcess : public QObject {
    Q_OBJECT

private slots:
    void helloSaysWhoItIs() {
        ScriptedCoordinator coordinator;
        WorkerThread worker(optionsFor(coordinator), serverOf(1), Kinds::Mixed);
        const auto hello = coordinator.expect<transport::Hello>();
        const auto& said = std::get<transport::Hello>(hello.message);
        QCOMPARE(hello.header.session, std::uint64_t{0});
        QCOMPARE(said.version, std::string(engine::version()));
        QCOMPARE(said.isa, std::string(engine::isaLevel()));
        QCOMPARE(said.bootId, transport::bootId());
        QCOMPARE(said.pid, std::int64_t{::getpid()});
        QCOMPARE(said.name, std::string("w0"));
        QVERIFY(said.cores >= 1);
        coordinator.say(hello.peer, transport::Refuse{"another version", true});
        worker.thread.join();
        QVERIFY2(worker.error.find("another version") != std::string::npos, worker.error.c_str());
    }

    // A run that its machine cannot do: the coordinator hears why before the worker ends.
    void aWorkerThatCannotTakePartSaysWhy() {
        ScriptedCoordinator coordinator;
        const std::string why = "cannot train in bf16: training.precision; give f32";
        std::string error;
        std::jthread worker([&] {
            const auto make = [&](engine::ByteView, const engine::ExchangeFactory&,
                                  std::size_t) -> std::unique_ptr<engine::ClusterNode> {
                throw engine::ExperimentError("training.precision", why);
            };
            try {
                (void)transport::runWorker(optionsFor(coordinator), make, {});
            } catch (const engine::ExperimentError& refusal) {
                error = refusal.what();
            }
        });
        const auto member = coordinator.invite(0, 1);
        const auto failed = coordinator.expect<transport::Failed>(member.control);
        QCOMPARE(failed.header.session, kSession);
        QCOMPARE(std::get<transport::Failed>(failed.message).message, why);
        QVERIFY(std::get<transport::Failed>(failed.message).kind != "numeric");
        worker.join();
        QCOMPARE(error, why);
    }

    void memoriesAndReplicasAreFetchedAndLoaded() {
        ScriptedCluster cluster(serverOf(2), Kinds::Mixed);
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        const auto& member = coordinator.members.at(1);
        for (const bool replica : {false, true}) {
            const std::uint64_t request = replica ? 12 : 11;
            coordinator.say(member.control, transport::Fetch{request, replica});
            const auto frame = coordinator.expectData([&](const transport::FrameHeader& header) {
                return header.type == transport::FrameType::Snapshot && header.step == request;
            });
            QCOMPARE(frame.peer, member.data);
            QCOMPARE(frame.bytes.bytes->to_string().substr(engine::kFrameHeaderBytes),
                     std::string(replica ? "replica" : "worker"));
        }
        // The order and what it is about come over two sockets, in any order.
        for (const bool orderFirst : {true, false}) {
            const std::uint64_t request = orderFirst ? 21 : 22;
            if (orderFirst)
                coordinator.say(member.control, transport::Load{request});
            coordinator.sendData(
                member.data,
                ScriptedCoordinator::frameOf(
                    coordinator.header(transport::FrameType::Snapshot, request), "memory"));
            if (!orderFirst)
                coordinator.say(member.control, transport::Load{request});
            const auto loaded = coordinator.expect<transport::Loaded>(member.control);
            QCOMPARE(std::get<transport::Loaded>(loaded.message).request, request);
        }
        coordinator.say(member.control, transport::Configure{"{}", engine::MemoryChange::Drop});
        cluster.step(1); // a node configures itself before its next step
        cluster.finish();
        QCOMPARE(cluster.workers[1]->log.loaded,
                 (std::vector<std::string>{"w1", "memory", "memory"}));
        QCOMPARE(cluster.workers[1]->log.configured, (std::vector<std::string>{"{} drop"}));
        QVERIFY(cluster.workers[0]->log.configured.empty());
    }

    void probesAreTimedAndSentBack() {
        ScriptedCluster cluster(serverOf(1), Kinds::Mixed);
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        const auto& member = coordinator.members.at(0);
        const auto frame = ScriptedCoordinator::frameOf(
            coordinator.header(transport::FrameType::Probe, 5), std::string(100000, 'x'));
        constexpr std::uint32_t kFrames = 4;
        coordinator.sendData(member.data, frame); // before its order
        coordinator.say(member.control, transport::ProbeOrder{5, kFrames, frame.size(), true});
        for (std::uint32_t i = 1; i < kFrames; ++i)
            coordinator.sendData(member.data, frame);
        const auto result = coordinator.expect<transport::ProbeResult>();
        const auto& said = std::get<transport::ProbeResult>(result.message);
        QCOMPARE(said.request, std::uint64_t{5});
        QCOMPARE(said.bytes, std::uint64_t{kFrames * frame.size()});
        QVERIFY(said.downS > 0.0);
        for (std::uint32_t i = 0; i < kFrames; ++i) {
            const auto echo = coordinator.expectData([](const transport::FrameHeader& header) {
                return header.type == transport::FrameType::Probe;
            });
            QVERIFY(std::ranges::equal(echo.bytes.view(), engine::ByteView(frame)));
        }
        cluster.finish();
    }

    void heartbeatsTellThePhase() {
        Gate gate;
        ScriptedCluster cluster(
            serverOf(1), Kinds::Mixed, [&](std::uint32_t, transport::WorkerOptions& options) {
                options.onPhase = [&](transport::WorkerPhase phase, std::uint64_t) {
                    if (phase == transport::WorkerPhase::Exchanging)
                        gate.pass();
                };
            });
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        const std::string& peer = coordinator.members.at(0).control;
        coordinator.pumpUntil([&] { return coordinator.beats[peer].phase == "idle"; });
        QCOMPARE(coordinator.beats[peer].progress, std::uint64_t{0});
        coordinator.begin(1, cluster.ranks);
        // The compute thread stands still; heartbeats do not.
        coordinator.pumpUntil([&] { return coordinator.beats[peer].phase == "exchanging"; });
        QCOMPARE(coordinator.beats[peer].progress, std::uint64_t{3});
        QVERIFY(coordinator.beats[peer].roundTripS > 0.0);
        gate.open();
        coordinator.serve(cluster.setup, 1, cluster.ranks);
        coordinator.finishStep(1, cluster.ranks);
        cluster.finish();
    }

    void joinsAnewAfterARefusal() {
        Notices notices;
        ScriptedCluster cluster(serverOf(1), Kinds::Mixed,
                                [&](std::uint32_t, transport::WorkerOptions& options) {
                                    options.notice = notices.taker();
                                });
        cluster.join();
        ScriptedCoordinator& coordinator = cluster.coordinator;
        coordinator.begin(1, cluster.ranks); // its step is given up with its stay
        coordinator.say(coordinator.members.at(0).control,
                        transport::Refuse{"you were silent for too long", false});
        coordinator.data.clear();
        ++coordinator.epoch;
        cluster.join();
        QVERIFY(notices.has("you were silent for too long; joining again for 60 s"));
        cluster.step(1);
        QVERIFY(sameBits<float>(
            cluster.mean(0, 1),
            expand<float>(cluster.setup.plan,
                          randomContent<float>(cluster.setup.plan, Kinds::Mixed, 7, 1, 0))));
        cluster.finish();
        QCOMPARE(cluster.workers[0]->log.loaded.size(), std::size_t{2});
    }

    void joinsAnewWhenTheCoordinatorWasSilent() {
        Notices notices;
        ScriptedCluster cluster(serverOf(1), Kinds::Mixed,
                                [&](std::uint32_t, transport::WorkerOptions& options) {
                                    options.notice = notices.taker();
                                    options.lostAfter = std::chrono::milliseconds(400);
                                });
        cluster.coordinator.pumpUntil([&] { return !cluster.coordinator.control.empty(); });
        cluster.join();
        cluster.coordinator.answersHeartbeats = false;
        cluster.coordinator.expect<transport::Hello>();
        QVERIFY(notices.has("joined as worker 0 of 1"));
        QVERIFY(notices.has("the coordinator is silent; joining again for 60 s"));
        cluster.workers[0]->thread.request_stop();
        cluster.workers[0]->thread.join();
        QVERIFY(cluster.workers[0]->left == transport::WorkerLeave::Interrupted);
    }

    void joinsAnewWhenItsDataConnectionBreaks() {
        Notices notices;
        ScriptedCluster cluster(serverOf(1), Kinds::Mixed,
                                [&](std::uint32_t, transport::WorkerOptions& options) {
                                    options.notice = notices.taker();
                                });
        cluster.join();
        cluster.step(1);
        cluster.coordinator.cutData();
        cluster.join();
        QVERIFY(notices.has("the connection to the coordinator broke; joining again"));
        cluster.step(2);
        cluster.finish();
        QCOMPARE(cluster.workers[0]->log.loaded.size(), std::size_t{2});
    }

    void givesUpWithoutACoordinator_data() {
        QTest::addColumn<int>("rejoin");
        QTest::newRow("at once") << 0;
        QTest::newRow("after a second") << 1;
    }
    void givesUpWithoutACoordinator() {
        QFETCH(int, rejoin);
        std::string endpoint;
        {
            const ScriptedCoordinator gone;
            endpoint = gone.endpoint();
        }
        transport::WorkerOptions options;
        options.connect = endpoint;
        options.rejoin = std::chrono::seconds(rejoin);
        options.lostAfter = std::chrono::milliseconds(100);
        WorkerThread worker(options, serverOf(1), Kinds::Mixed);
        worker.thread.join();
        QVERIFY(!worker.left);
        QVERIFY2(worker.error.find("no coordinator (the coordinator is silent): --connect " +
                                   endpoint) == 0,
                 worker.error.c_str());
    }

    void sparesWait() {
        Notices notices;
        ScriptedCoordinator coordinator;
        transport::WorkerOptions options = optionsFor(coordinator);
        options.notice = notices.taker();
        WorkerThread worker(options, serverOf(1), Kinds::Mixed);
        const auto hello = coordinator.expect<transport::Hello>();
        coordinator.say(hello.peer, transport::Wait{});
        coordinator.pumpUntil([&] { return notices.has("waiting as a spare"); });
        coordinator.pumpUntil([&] { return coordinator.beats.contains(hello.peer); });
        coordinator.say(hello.peer, transport::Finish{"done"});
        worker.thread.join();
        QVERIFY(worker.left == transport::WorkerLeave::Finished);
    }

    void saysGoodbye() {
        ScriptedCluster cluster(serverOf(1), Kinds::Mixed);
        cluster.join();
        cluster.coordinator.begin(1, cluster.ranks); // it waits for a mean that never comes
        cluster.workers[0]->thread.request_stop();
        const auto bye = cluster.coordinator.expect<transport::Bye>();
        QCOMPARE(std::get<transport::Bye>(bye.message).reason, std::string("interrupted"));
        cluster.workers[0]->thread.join();
        QVERIFY(cluster.workers[0]->left == transport::WorkerLeave::Interrupted);
    }

    void endsWithItsParent() {
        ScriptedCoordinator coordinator;
        transport::WorkerOptions options = optionsFor(coordinator);
        options.parentPid = 1;
        QVERIFY(::getppid() != 1);
        WorkerThread worker(options, serverOf(1), Kinds::Mixed);
        worker.thread.join();
        QVERIFY(worker.left == transport::WorkerLeave::Orphaned);
    }

    void anotherWireFormatIsRefusedInOneLine() {
        ScriptedCoordinator coordinator;
        WorkerThread worker(optionsFor(coordinator), serverOf(1), Kinds::Mixed);
        const auto hello = coordinator.expect<transport::Hello>();
        engine::ByteBuffer frame =
            transport::encodeControl({}, transport::Refuse{"as this version says it", true});
        frame[4] = std::byte{9}; // the wire format's version
        coordinator.sayBytes(hello.peer, frame);
        worker.thread.join();
        QVERIFY2(worker.error.find("run the same version of gradlab everywhere") !=
                     std::string::npos,
                 worker.error.c_str());
    }

    void badOptionsAreNamed_data() {
        QTest::addColumn<QString>("connect");
        QTest::addColumn<QString>("listen");
        QTest::addColumn<QString>("part");
        const QString here = "tcp://127.0.0.1:5555";
        QTest::newRow("no scheme") << "127.0.0.1:5555" << here << "--connect 127.0.0.1:5555";
        QTest::newRow("any host") << "tcp://*:5555" << here << "--connect tcp://*:5555";
        QTest::newRow("any port") << "tcp://127.0.0.1:*" << here << "--connect tcp://127.0.0.1:*";
        QTest::newRow("listen text") << here << "here"
                                     << "--listen here";
        QTest::newRow("listen anywhere") << here << "tcp://*:*"
                                         << "--listen tcp://*:*";
        QTest::newRow("listen openly") << here << "tcp://192.0.2.1:*"
                                       << "--keys";
    }
    void badOptionsAreNamed() {
        QFETCH(QString, connect);
        QFETCH(QString, listen);
        QFETCH(QString, part);
        transport::WorkerOptions options;
        options.connect = connect.toStdString();
        options.listen = listen.toStdString();
        WorkerThread worker(options, serverOf(1), Kinds::Mixed);
        worker.thread.join();
        QVERIFY2(worker.error.find(part.toStdString()) != std::string::npos, worker.error.c_str());
    }
};

QTEST_GUILESS_MAIN(TestZmqWorkerProcess)
#include "test_zmq_worker_process.moc"
