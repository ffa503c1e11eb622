// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's sockets, with neighbours that come and go.
#include "transport/zmq/control_message.h"
#include "transport/zmq/worker_sockets.h"

#include <QTest>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

using namespace gradlab;
using namespace gradlab::transport;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kDeadline{10};

/// False after kDeadline.
template <class Condition>
bool comesTrue(Condition condition) {
    const auto end = Clock::now() + kDeadline;
    while (!condition()) {
        if (Clock::now() > end)
            return false;
        std::this_thread::yield();
    }
    return true;
}

} // namespace

class TestWorkerSockets : public QObject {
    Q_OBJECT

private Q_SLOTS:
    // A neighbour's connection may break at the very moment at which the coordinator names another
    // one: whichever comes first, the worker goes on talking to both.
    void aNeighbourThatLeavesWhileAnotherOneIsNamed() {
        constexpr int kTimes = 2000;
        constexpr int kLatestUs = 250; // sooner or later than ZeroMQ's thread sees the end
        zmq::context_t context;
        zmq::socket_t coordinator = makeSocket(context, zmq::socket_type::router, {});
        coordinator.bind("tcp://127.0.0.1:*");
        WorkerSockets worker({Endpoint::parse("", boundEndpoint(coordinator)),
                              Endpoint::parse("", "tcp://127.0.0.1:*"), std::nullopt, "worker"});
        for (int i = 0; i < kTimes; ++i) {
            zmq::socket_t neighbour = makeSocket(context, zmq::socket_type::pull, {});
            neighbour.bind("tcp://127.0.0.1:*");
            worker.connectNext(boundEndpoint(neighbour), "");
            worker.sendControl(encodeControl({}, Holds{}));
            const bool talks =
                comesTrue([&] { return worker.lookAtNext().connected; }) && comesTrue([&] {
                    worker.flush();
                    return tryReceive(coordinator).has_value();
                });
            QVERIFY2(talks, qPrintable(QString("silent since neighbour %1 left").arg(i - 1)));
            neighbour.close();
            const auto named = Clock::now() + std::chrono::microseconds(i % kLatestUs);
            while (Clock::now() < named) {
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestWorkerSockets)
#include "test_worker_sockets.moc"
