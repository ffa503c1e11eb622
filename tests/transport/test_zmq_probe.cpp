// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Measuring the network to scripted workers: everybody is measured once, in order, and sent home.
#include "engine/core/errors.h"
#include "tests/support/scripted_worker.h"
#include "transport/zmq/probe.h"

#include <QTest>

#include <future>
#include <memory>
#include <thread>

using namespace gradlab;
using namespace gradlab::test;

namespace {

/// A port that was free a moment ago, and the one after it.
std::uint16_t freePort() {
    zmq::context_t context;
    for (;;) {
        zmq::socket_t first(context, zmq::socket_type::router);
        first.bind("tcp://127.0.0.1:*");
        const std::string text = transport::boundEndpoint(first);
        const unsigned long port = std::stoul(text.substr(text.rfind(':') + 1));
        zmq::socket_t second(context, zmq::socket_type::router);
        try {
            second.bind("tcp://127.0.0.1:" + std::to_string(port + 1));
            return static_cast<std::uint16_t>(port);
        } catch (const zmq::error_t&) {
            continue;
        }
    }
}

struct ProbeCase {
    ProbeCase() {
        cluster.workers = cluster.waitFor = 2;
        cluster.bind = "tcp://127.0.0.1:" + std::to_string(freePort());
        options.lostAfter = std::chrono::seconds(30); // copying takes long under a sanitizer
        for (const char* name : {"a", "b"}) {
            workers.push_back(
                std::make_unique<ScriptedWorker>(cluster.bind, name, engine::MessagePlan()));
            workers.back()->manners.becomesReady = false;
        }
    }
    auto start() {
        return std::async(std::launch::async, [this] {
            return transport::probeNetwork(cluster, options, stop.get_token());
        });
    }
    transport::MeasuredNetwork finish(std::future<transport::MeasuredNetwork>& call) {
        while (call.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            for (const auto& worker : workers)
                worker->pump();
            std::this_thread::yield();
        }
        return call.get();
    }
    engine::ClusterSettings cluster;
    transport::CoordinatorOptions options;
    std::vector<std::unique_ptr<ScriptedWorker>> workers;
    std::stop_source stop;
};

} // namespace

class TestZmqProbe : public QObject {
    Q_OBJECT

private slots:
    void everybodyIsMeasured() {
        ProbeCase one;
        auto call = one.start();
        one.workers[0]->introduce();
        one.workers[1]->introduce();
        const transport::MeasuredNetwork network = one.finish(call);
        QCOMPARE(network.workers.size(), std::size_t{2});
        for (std::uint32_t rank = 0; rank < 2; ++rank) {
            const transport::MeasuredLink& link = network.workers[rank];
            QCOMPARE(link.rank, rank);
            QCOMPARE(link.host, std::string("atlas"));
            QCOMPARE(link.machine, std::string("another"));
            QCOMPARE(link.cores, std::int64_t{3});
            QVERIFY(link.name == "a" || link.name == "b");
            QVERIFY(link.latencyS > 0 && link.rateUp > 0);
            // What the worker says: 15 frames of the largest size in a millisecond.
            QCOMPARE(link.rateDown, 15.0 * 8 * 2 * 1024 * 1024 / 0.001);
        }
        QVERIFY(network.serverRateDown > 0 && network.serverRateUp > 0);
        // Their word of a millisecond each does not count for all together, whose frames took
        // longer.
        QVERIFY(network.serverRateDown < 2 * network.workers[0].rateDown);
    }

    void aWorkerThatIsLostMeanwhileEndsIt() {
        ProbeCase one;
        auto call = one.start();
        one.workers[1]->manners.reports = false;
        one.workers[0]->introduce();
        one.workers[1]->introduce();
        while (one.workers[1]->heard("probe_order") == 0)
            for (const auto& worker : one.workers)
                worker->pump();
        one.workers[1]->say(transport::Bye{"bored"});
        QVERIFY_EXCEPTION_THROWN((void)one.finish(call), engine::TransportError);
    }

    void waitingEndsWhenAsked() {
        ProbeCase one;
        auto call = one.start();
        one.workers[0]->introduce();
        one.stop.request_stop();
        QVERIFY_EXCEPTION_THROWN((void)one.finish(call), engine::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestZmqProbe)
#include "test_zmq_probe.moc"
