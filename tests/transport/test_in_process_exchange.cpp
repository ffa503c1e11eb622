// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The exchange between threads: means bit for bit in every topology, bytes against their formulae,
// damage found, steps given up and gone on with, times of the emulated link.
#include "engine/core/errors.h"
#include "tests/support/exchange_case.h"

#include <QTest>

#include <array>
#include <cmath>
#include <limits>

using namespace gradlab;
using namespace gradlab::test;
using engine::ExchangeOutcome;
using engine::kFrameHeaderBytes;

namespace {

struct Topology {
    const char* name;
    const char* topology;
    bool denseRing;
};
constexpr std::array kTopologies = {Topology{"server", "server", false},
                                    Topology{"ring", "ring", false},
                                    Topology{"dense ring", "ring", true}};

Kinds kindsFor(const Topology& topology) {
    return topology.denseRing ? Kinds::Dense : Kinds::Mixed;
}

double secondsBetween(engine::SteadyTime from, engine::SteadyTime to) {
    return std::chrono::duration<double>(to - from).count();
}

/// Frames of a worker's chunks in the dense ring, from where each chunk goes.
std::size_t chunkBytesSent(const engine::MessagePlan& plan, std::uint32_t rank, std::uint32_t n) {
    std::size_t bytes = 0;
    for (std::size_t part = 0; part < plan.parts().size(); ++part)
        for (std::uint32_t round = 0; round + 1 < n; ++round) {
            // Reduce-scatter: c = rank − round. All-gather: rank completed c = rank + 1.
            for (const std::uint32_t chunk : {(rank + n - round) % n, (rank + 1 + n - round) % n})
                bytes += kFrameHeaderBytes +
                         engine::chunkElements(plan, {part, chunk, n}) * sizeof(float);
        }
    return bytes;
}

} // namespace

class TestInProcessExchange : public QObject {
    Q_OBJECT

private slots:
    void everyTopologyGivesTheMean_data() {
        QTest::addColumn<int>("topology");
        QTest::addColumn<unsigned>("workers");
        for (int i = 0; i < 3; ++i)
            for (const unsigned workers : {1U, 2U, 4U})
                QTest::addRow("%s N=%u", kTopologies[static_cast<std::size_t>(i)].name, workers)
                    << i << workers;
    }
    void everyTopologyGivesTheMean() {
        QFETCH(int, topology);
        QFETCH(unsigned, workers);
        const Topology& t = kTopologies[static_cast<std::size_t>(topology)];
        ExchangeCase one(exchangeSetup(threeParts(), workers, t.topology, t.denseRing));
        std::vector<std::uint32_t> ranks(workers);
        std::iota(ranks.begin(), ranks.end(), 0U);
        for (std::uint32_t step = 1; step <= 2; ++step) {
            one.draw(kindsFor(t), 5, step);
            const ExchangeOutcome outcome = one.run(step);
            QVERIFY(one.isRight());
            QCOMPARE(outcome.contributors, ranks);
            QCOMPARE(outcome.membershipEpoch, std::uint64_t{1});
            QCOMPARE(outcome.traffic.size(), std::size_t{workers});
            for (std::uint32_t rank = 0; rank < workers; ++rank) {
                QCOMPARE(outcome.traffic[rank].bytesMessage, one.messageBytes(rank));
                QCOMPARE(outcome.traffic[rank].transferS, 0.0);
                QVERIFY(outcome.traffic[rank].lastHandOver <= outcome.everyoneHandedOver);
                QVERIFY(outcome.traffic[rank].arrived >= outcome.traffic[rank].lastHandOver);
            }
        }
    }

    void serverBytesAreMessageAndMean() {
        ExchangeCase one(exchangeSetup(threeParts(), 4, "server"));
        one.draw(Kinds::Mixed, 8, 1);
        const ExchangeOutcome outcome = one.run(1);
        const auto server = engine::Aggregator::create(one.setup.plan, one.setup.aggregator);
        std::size_t down = 0;
        for (std::size_t part = 0; part < one.parts(); ++part) {
            std::vector<engine::ByteBuffer> bodies;
            for (std::uint32_t rank = 0; rank < 4; ++rank)
                bodies.push_back(encodeContent<float>(one.setup.plan, part, one.contents[rank]));
            const std::vector<engine::ByteView> views(bodies.begin(), bodies.end());
            engine::ByteBuffer out;
            server->aggregate(part, views, 1, 0, out);
            down += kFrameHeaderBytes + out.size();
        }
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            QCOMPARE(outcome.traffic[rank].bytesUp, one.messageBytes(rank));
            QCOMPARE(outcome.traffic[rank].bytesDown, down);
        }
    }

    void ringBytesAreTheOthersMessages() {
        ExchangeCase one(exchangeSetup(threeParts(), 4, "ring"));
        one.draw(Kinds::Mixed, 9, 1);
        const ExchangeOutcome outcome = one.run(1);
        std::size_t all = 0;
        for (std::uint32_t rank = 0; rank < 4; ++rank)
            all += one.messageBytes(rank);
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            QCOMPARE(outcome.traffic[rank].bytesUp, all - one.messageBytes((rank + 1) % 4));
            QCOMPARE(outcome.traffic[rank].bytesDown, all - one.messageBytes(rank));
        }
    }

    void denseRingBytesAreTheChunks() {
        for (const std::uint32_t workers : {2U, 3U, 4U}) {
            ExchangeCase one(exchangeSetup(threeParts(), workers, "ring", true));
            one.draw(Kinds::Dense, 10, 1);
            const ExchangeOutcome outcome = one.run(1);
            for (std::uint32_t rank = 0; rank < workers; ++rank) {
                const auto& traffic = outcome.traffic[rank];
                QCOMPARE(traffic.bytesUp, chunkBytesSent(one.setup.plan, rank, workers));
                const std::uint32_t before = (rank + workers - 1) % workers;
                QCOMPARE(traffic.bytesDown, chunkBytesSent(one.setup.plan, before, workers));
            }
        }
    }

    void aLoneWorkerInARingSendsNothing() {
        for (const bool dense : {false, true}) {
            ExchangeCase one(exchangeSetup(threeParts(), 1, "ring", dense));
            one.draw(Kinds::Dense, 11, 1);
            const ExchangeOutcome outcome = one.run(1);
            QCOMPARE(outcome.traffic[0].bytesUp, std::uint64_t{0});
            QCOMPARE(outcome.traffic[0].bytesDown, std::uint64_t{0});
            QVERIFY(one.isRight());
        }
    }

    // Field-faults A2: one worker writes the units of its body in another order.
    void unitOrderDoesNotMatter() {
        for (const Topology& t : kTopologies) {
            ExchangeCase one(exchangeSetup(threeParts(), 2, t.topology, t.denseRing));
            one.draw(kindsFor(t), 12, 1);
            one.exchange->beginStep(1, *one.replica);
            one.sendAll(0);
            for (std::size_t part = 0; part < one.parts(); ++part) {
                auto order = one.setup.plan.parts()[part];
                std::reverse(order.begin(), order.end());
                one.exchange->send(1, part,
                                   encodeContent<float>(one.setup.plan, part, one.contents[1],
                                                        kFrameHeaderBytes, order));
            }
            (void)one.exchange->finish({}, {});
            QVERIFY(one.isRight());
        }
    }

    void damagedFramesAreRefused_data() {
        QTest::addColumn<int>("topology");
        QTest::addColumn<unsigned>("at");
        for (int i = 0; i < 2; ++i)
            for (const unsigned at : {0U, 8U, 40U, 60U, 64U, 100U, 2000U})
                QTest::addRow("%s byte %u", kTopologies[static_cast<std::size_t>(i)].name, at)
                    << i << at;
    }
    void damagedFramesAreRefused() {
        QFETCH(int, topology);
        QFETCH(unsigned, at);
        const Topology& t = kTopologies[static_cast<std::size_t>(topology)];
        ExchangeCase one(exchangeSetup(threeParts(), 2, t.topology));
        one.draw(Kinds::Mixed, 13, 1);
        one.exchange->beginStep(1, *one.replica);
        one.sendAll(0);
        for (std::size_t part = 0; part < one.parts(); ++part) {
            auto message = one.message(1, part);
            std::byte* const bytes = message.data();
            one.exchange->send(1, part, std::move(message));
            if (part == 1)
                bytes[at] ^= std::byte{0x10}; // on its way, after it was framed
        }
        QVERIFY_EXCEPTION_THROWN((void)one.exchange->finish({}, {}), engine::ProtocolError);
        one.exchange->abandonStep();
        (void)one.run(1);
        QVERIFY(one.isRight());
    }

    void anAbandonedStepLeavesNothingBehind() {
        for (const Topology& t : kTopologies) {
            ExchangeCase one(exchangeSetup(threeParts(), 4, t.topology, t.denseRing));
            one.draw(kindsFor(t), 14, 1);
            (void)one.run(1);
            one.draw(kindsFor(t), 14, 2);
            one.exchange->beginStep(2, *one.replica);
            one.sendAll(2);
            one.exchange->abandonStep();
            one.sendAll(1); // a worker that had not heard of it yet
            one.draw(kindsFor(t), 14, 3);
            (void)one.run(2);
            QVERIFY(one.isRight());
            // A mean that must not be committed: not finite, say.
            one.exchange->beginStep(3, *one.replica);
            for (std::uint32_t rank = 0; rank < 4; ++rank)
                one.sendAll(rank);
            const auto refuse = [] { throw engine::NumericError(3, "model", "not finite"); };
            QVERIFY_EXCEPTION_THROWN((void)one.exchange->finish(refuse, {}), engine::NumericError);
            one.exchange->abandonStep();
            one.draw(kindsFor(t), 14, 4);
            (void)one.run(3);
            QVERIFY(one.isRight());
        }
    }

    void stopEndsTheWait() {
        for (const bool emulate : {false, true}) {
            auto setup = exchangeSetup(threeParts(), 2, "server");
            setup.link.bandwidth = 1.0; // a message takes weeks
            setup.link.emulate = emulate;
            ExchangeCase one(setup);
            one.draw(Kinds::Mixed, 15, 1);
            one.exchange->beginStep(1, *one.replica);
            one.sendAll(0);
            if (emulate)
                one.sendAll(1);
            std::stop_source source;
            const std::jthread stopper([&] { source.request_stop(); });
            QVERIFY_EXCEPTION_THROWN((void)one.exchange->finish({}, source.get_token()),
                                     engine::Cancelled);
            one.exchange->abandonStep();
            one.exchange->setLink(engine::LinkSettings{});
            (void)one.run(1);
            QVERIFY(one.isRight());
        }
    }

    void reconfigureTakesANewPlan() {
        ExchangeCase one(exchangeSetup(threeParts(), 2, "server"));
        one.draw(Kinds::Mixed, 16, 1);
        (void)one.run(1);
        one.setup = exchangeSetup(planOf({500, 3}), 2, "server");
        one.setup.aggregator.downlink = "dense";
        one.exchange->reconfigure(one.setup);
        one.replica = engine::Aggregator::create(one.setup.plan, one.setup.aggregator);
        one.draw(Kinds::Sparse, 16, 2);
        const ExchangeOutcome outcome = one.run(2);
        QVERIFY(one.isRight());
        QCOMPARE(outcome.traffic[0].bytesDown,
                 std::uint64_t{kFrameHeaderBytes + 2 * engine::kDescriptorBytes + 503 * 4});
    }

    // 2a + max(u/B, N·u/S) + max(d/B, N·d/S) at least, and as scheduled: nothing arrives early.
    void theEmulatedLinkHoldsFramesBack() {
        auto setup = exchangeSetup(planOf({1000}), 2, "server");
        setup.link.bandwidth = 16e6;
        setup.link.latency = 0.004;
        setup.link.emulate = true;
        ExchangeCase one(setup);
        one.draw(Kinds::Dense, 17, 1);
        one.exchange->beginStep(1, *one.replica);
        one.sendAll(0);
        one.sendAll(1);
        const ExchangeOutcome outcome = one.exchange->finish({}, {});
        const auto now = std::chrono::steady_clock::now();
        QVERIFY(one.isRight());
        const double u = static_cast<double>(outcome.traffic[0].bytesUp) / 2e6;
        const double d = static_cast<double>(outcome.traffic[0].bytesDown) / 2e6;
        const double model = 2 * 0.004 + 2 * u + 2 * d;
        const auto& first = outcome.traffic[0];
        const auto& last = outcome.traffic[1];
        QVERIFY(secondsBetween(first.lastHandOver, last.arrived) >= model - 1e-6);
        QVERIFY(now >= last.arrived);
        // On the link: up u + a (2u + a for the one that the server takes second), down 2d + a.
        const double shorter = std::min(first.transferS, last.transferS);
        const double longer = std::max(first.transferS, last.transferS);
        QVERIFY2(std::abs(shorter - (u + 2 * d + 2 * 0.004)) < 1e-6,
                 qPrintable(QString::number(shorter, 'g', 9)));
        QVERIFY(longer >= shorter && longer <= model + 1e-6);
        QCOMPARE(first.transferHiddenS, 0.0);
    }

    // What is on the link while its worker still computes is hidden, and only that.
    void transferBeforeTheLastHandOverIsHidden() {
        auto setup = exchangeSetup(threeParts(), 2, "server");
        setup.link.bandwidth = 800e6;
        setup.link.latency = 0.001;
        setup.link.emulate = true;
        ExchangeCase one(setup);
        one.draw(Kinds::Dense, 18, 1);
        one.exchange->beginStep(1, *one.replica);
        one.sendAll(0);
        std::jthread late([&] {
            one.exchange->send(1, 0, one.message(1, 0));
            // Its first part is through in 3.6 ms; the rest is handed over after that.
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            one.exchange->send(1, 1, one.message(1, 1));
            one.exchange->send(1, 2, one.message(1, 2));
        });
        const ExchangeOutcome outcome = one.exchange->finish({}, {});
        QVERIFY(one.isRight());
        const auto& traffic = outcome.traffic[1];
        const double firstPart = static_cast<double>(one.frameBytes(1, 0)) / 100e6;
        QVERIFY(traffic.transferHiddenS >= firstPart);
        QVERIFY(traffic.transferHiddenS < traffic.transferS);
        // Waiting for a worker that computes is no transfer.
        const auto& early = outcome.traffic[0];
        QVERIFY(early.transferS <
                secondsBetween(early.lastHandOver, early.arrived) + early.transferHiddenS);
        QVERIFY(outcome.everyoneHandedOver == traffic.lastHandOver);
    }
};

QTEST_GUILESS_MAIN(TestInProcessExchange)
#include "test_in_process_exchange.moc"
