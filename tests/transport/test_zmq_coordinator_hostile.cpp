// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Peers that break the format, strangers, scanners and keys: the run goes on, and strangers learn
// nothing.
#include "tests/support/coordinator_case.h"
#include "transport/zmq/curve_keys.h"

#include <QTemporaryDir>
#include <QTest>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace gradlab;
using namespace gradlab::test;
using Ranks = std::vector<std::uint32_t>;

namespace {

/// Connects, says `text`, hangs up.
void knock(std::uint16_t port, const std::string& text) {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    QVERIFY(::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
            0);
    // The other side may have hung up already.
    [[maybe_unused]] const auto sent = ::send(descriptor, text.data(), text.size(), MSG_NOSIGNAL);
    ::close(descriptor);
}

std::uint16_t portOf(const std::string& endpoint) {
    return static_cast<std::uint16_t>(std::stoul(endpoint.substr(endpoint.rfind(':') + 1)));
}

engine::ByteBuffer sealed(FrameHeader header, std::size_t bodyBytes) {
    engine::ByteBuffer frame(engine::kFrameHeaderBytes + bodyBytes, std::byte{0x5A});
    transport::encodeFrame(header, frame);
    return frame;
}

void complainsOnceAndLosesAtTheFifth(CoordinatorCase& one, ScriptedWorker& bad,
                                     const std::function<void()>& offend) {
    for (int i = 0; i < 4; ++i)
        offend();
    one.until([&] { return !one.events("warning").empty(); });
    (void)one.wholeStep(1);
    QVERIFY(one.events("worker_lost").empty());
    offend();
    one.until([&] { return !one.events("worker_lost").empty(); });
    QCOMPARE(one.events("warning").size(), std::size_t{1});
    QCOMPARE(one.events("warning").front().rank, 1U);
    const std::string said = one.events("worker_lost").front().details;
    QVERIFY2(said.find("five broken frames") != std::string::npos, said.c_str());
    one.until([&] { return bad.refused.has_value(); });
    QVERIFY(bad.refused->final);
    QCOMPARE(one.wholeStep(2).contributors, Ranks({0}));
}

} // namespace

class TestZmqCoordinatorHostile : public QObject {
    Q_OBJECT

private slots:
    void fiveBrokenFramesLoseTheMember_data() {
        QTest::addColumn<int>("kind");
        const std::array<const char*, 5> kinds = {"damaged data", "damaged control",
                                                  "another's rank", "a coordinator's word",
                                                  "a type that only comes down"};
        for (int i = 0; i < 5; ++i)
            QTest::newRow(kinds[static_cast<std::size_t>(i)]) << i;
    }
    void fiveBrokenFramesLoseTheMember() {
        QFETCH(int, kind);
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& bad = *one.workers[1];
        bad.content = one.contentOf(1, 1);
        complainsOnceAndLosesAtTheFifth(one, bad, [&] {
            if (kind == 0) {
                engine::ByteBuffer frame = bad.gradient(0);
                frame[frame.size() / 2] ^= std::byte{1};
                bad.sendData(frame);
            } else if (kind == 1) {
                bad.sendControl(engine::ByteBuffer(100, std::byte{0x33}));
            } else if (kind == 2) {
                bad.rank = 0;
                bad.sendPart(0);
                bad.rank = 1;
            } else if (kind == 3) {
                bad.say(transport::Commit{});
            } else {
                bad.sendData(sealed(bad.header(FrameType::Mean), 40));
            }
        });
    }

    // A frame as it should be around a body that is none: who sent it is lost, the others go on.
    void aBodyThatDoesNotDecodeIsItsSendersFault() {
        CoordinatorCase one(clusterSetup(3));
        gather(one, 3);
        ScriptedWorker& bad = *one.workers[1];
        bad.manners.partsSent = 0;
        auto call = one.startStep(1);
        one.until([&] { return bad.heard("begin") == 1; });
        for (std::size_t part = 0; part < 3; ++part) {
            FrameHeader header = bad.header(FrameType::Gradient);
            header.part = static_cast<std::uint16_t>(part);
            header.parts = 3;
            header.tensors = static_cast<std::uint32_t>(bad.plan.parts()[part].size());
            bad.sendData(sealed(header, 900));
        }
        QCOMPARE(one.finish(call).contributors, Ranks({0, 2}));
        QVERIFY(one.isRight(1, {0, 2}));
        const std::string said = one.events("worker_lost").front().details;
        QVERIFY2(said.find("worker 1 (w1 on atlas) is lost: its message does not decode") == 0,
                 said.c_str());
        QCOMPARE(one.events("worker_lost").size(), std::size_t{1});
    }

    void doubledFramesCountOnce() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& second = *one.workers[1];
        second.manners.partsSent = 0;
        auto call = one.startStep(1);
        one.until([&] { return second.heard("begin") == 1; });
        for (int again = 0; again < 3; ++again)
            second.sendPart(1);
        second.content = one.contentOf(7, 1);
        second.sendPart(1); // a second opinion is none
        second.content = one.contentOf(1, 1);
        second.sendPart(0);
        second.sendPart(2);
        (void)one.finish(call);
        QVERIFY(one.isRight(1, {0, 1}));
        QVERIFY(one.events("warning").empty());
    }

    void strangersLearnNothingAndChangeNothing() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        ScriptedWorker& stranger = one.add("mallory");
        // Whatever it guesses: session, rank, epoch.
        stranger.rank = 0;
        stranger.epoch = one.workers[0]->epoch;
        stranger.step = 1;
        stranger.say(transport::Ready{});
        stranger.say(transport::Holds{});
        stranger.say(transport::Done{});
        stranger.say(transport::Bye{"me too"});
        stranger.sendControl(engine::ByteBuffer(3000, std::byte{0xFF}));
        one.until([&] { return stranger.heard("refuse") == 4; });
        QCOMPARE(stranger.lastSession, std::uint64_t{0});
        stranger.connectData(one.workers[0]->welcome.dataPort);
        FrameHeader hello = stranger.header(FrameType::DataHello);
        hello.step = one.workers[0]->welcome.member;
        stranger.sendData(sealed(hello, 0));
        stranger.sendData(engine::ByteBuffer(500000, std::byte{1}));
        stranger.content = one.contentOf(3, 0);
        for (std::size_t part = 0; part < 3; ++part)
            stranger.sendPart(part);
        for (std::uint64_t step = 1; step <= 5; ++step) {
            QCOMPARE(one.wholeStep(step).contributors, Ranks({0, 1}));
            QVERIFY(one.isRight(step, {0, 1}));
        }
        QVERIFY(stranger.means.empty());
        QVERIFY(one.events("warning").empty() && one.events("worker_lost").empty());
    }

    void aPortScanLeavesTheRunUntouched() {
        CoordinatorCase one(clusterSetup(2));
        gather(one, 2);
        const std::uint16_t control = portOf(one.coordinator->view().endpoint);
        for (std::uint64_t step = 1; step <= 10; ++step) {
            for (const std::uint16_t port : {control, one.workers[0]->welcome.dataPort}) {
                knock(port, "");
                knock(port, "GET / HTTP/1.1\r\nHost: atlas\r\n\r\n");
                knock(port, std::string(5000, '\xFF'));
                // A greeting of ZeroMQ's, then nothing.
                knock(port, std::string("\xFF\0\0\0\0\0\0\0\x01\x7F\x03", 11));
            }
            QCOMPARE(one.wholeStep(step).contributors, Ranks({0, 1}));
            QVERIFY(one.isRight(step, {0, 1}));
        }
        QVERIFY(one.events("warning").empty() && one.events("worker_lost").empty());
    }

    void onlyTheClustersKeysAreAdmitted() {
        const QTemporaryDir folder;
        const std::string file = folder.filePath("cluster.json").toStdString();
        const transport::ClusterKeys keys = transport::ClusterKeys::make(1);
        keys.save(file);
        engine::ClusterSetup setup = clusterSetup(1);
        setup.experiment.cluster.keys = file;
        CoordinatorCase one(setup);
        QVERIFY(one.coordinator->view().secure);
        const transport::KeyPair other = transport::KeyPair::make();
        const auto with = [&](const transport::KeyPair& pair) {
            return [&keys, pair](zmq::socket_t& socket) {
                transport::connectWithKey(socket, pair, keys.server.publicKey);
            };
        };
        ScriptedWorker plain(one.coordinator->view().endpoint, "plain", setup.exchange.plan);
        ScriptedWorker foreign(one.coordinator->view().endpoint, "foreign", setup.exchange.plan,
                               with(other));
        ScriptedWorker& good = one.add("worker-0", with(keys.workers.at("worker-0")));
        good.introduce();
        auto call = one.startBoundary();
        for (int i = 0; i < 20; ++i) {
            plain.tryHello();
            foreign.tryHello();
            one.pump();
        }
        one.finish(call);
        for (std::uint64_t step = 1; step <= 3; ++step)
            QCOMPARE(one.wholeStep(step).contributors, Ranks({0}));
        QCOMPARE(one.coordinator->view().members.size(), std::size_t{1});
        QCOMPARE(one.coordinator->view().members[0].name, std::string("worker-0"));
    }

    void withKeysEveryAddressMayBeBound() {
        const QTemporaryDir folder;
        const std::string file = folder.filePath("cluster.json").toStdString();
        transport::ClusterKeys keys = transport::ClusterKeys::make(1);
        keys.save(file);
        engine::ClusterSetup setup = clusterSetup(1);
        setup.experiment.cluster.bind = "tcp://0.0.0.0:*";
        setup.experiment.cluster.keys = file;
        QVERIFY(transport::makeZmqCoordinator(setup, {})->view().secure);
        keys.server.secretKey.clear();
        keys.save(file);
        QVERIFY_EXCEPTION_THROWN((void)transport::makeZmqCoordinator(setup, {}),
                                 engine::ExperimentError);
        setup.experiment.cluster.keys = file + ".missing";
        QVERIFY_EXCEPTION_THROWN((void)transport::makeZmqCoordinator(setup, {}), engine::DataError);
    }
};

QTEST_GUILESS_MAIN(TestZmqCoordinatorHostile)
#include "test_zmq_coordinator_hostile.moc"
