// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The link model against numbers worked out by hand, the study's among them.
#include "engine/metrics/link_model.h"

#include <QTest>

#include <array>
#include <cmath>
#include <limits>
#include <vector>

using namespace gradlab::engine;

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b));
}

LinkModel link(double bitsPerSecond, double latency, double serverBits, std::size_t workers) {
    return {bitsPerSecond / 8.0, latency, serverBits / 8.0, workers};
}

} // namespace

class TestLinkModel : public QObject {
    Q_OBJECT

private slots:
    void studysDenseMessage() {
        // Medium model: 4 444 800 parameters of 4 bytes at 10 Gbit/s, no latency, unlimited server.
        const LinkModel model = link(10e9, 0.0, kUnlimited, 4);
        const double bytes = 4.0 * 4444800.0;
        QVERIFY(near(serverDownlinkSeconds(model, bytes), 0.01422336));
        QVERIFY(near(serverSeconds(model, bytes, bytes), 0.02844672));
        // 103 steps an epoch: the study's 2.9 s of communication.
        QVERIFY(std::abs(103.0 * serverSeconds(model, bytes, bytes) - 2.93) < 0.005);
    }

    void serverFormula() {
        // B = 100 Mbit/s = 12.5 MB/s, S the same, N = 4: the server's link is the narrow one.
        const LinkModel shared = link(100e6, 1e-3, 100e6, 4);
        QVERIFY(near(serverSeconds(shared, 1.25e6, 2.5e6), 2e-3 + 4.0 * 0.1 + 4.0 * 0.2));
        const LinkModel fast = link(100e6, 1e-3, 1000e6, 4);
        QVERIFY(near(serverSeconds(fast, 1.25e6, 2.5e6), 2e-3 + 0.1 + 0.2));
        const LinkModel free = link(kUnlimited, 0.0, kUnlimited, 4);
        QVERIFY(serverSeconds(free, 1e9, 1e9) == 0.0);
    }

    void ringFormulas() {
        const LinkModel model = link(80e6, 2e-3, 80e6, 4); // 10 MB/s
        QVERIFY(near(ringGatherSeconds(model, 1e6), 3.0 * (2e-3 + 0.1)));
        QVERIFY(near(ringReduceSeconds(model, 1e6), 6.0 * (2e-3 + 0.025)));
        LinkModel alone = model;
        alone.workers = 1;
        QVERIFY(ringGatherSeconds(alone, 1e6) == 0.0);
        QVERIFY(ringReduceSeconds(alone, 1e6) == 0.0);
    }

    void onePartReadyAtTheEndIsTheFormula() {
        for (const std::size_t workers : {1, 2, 4, 9}) {
            const LinkModel model = link(80e6, 2e-3, 120e6, workers);
            const std::array parts{PartReady{0.5, 1e6}};
            QVERIFY(near(serverUplinkSeconds(model, parts, 0.5) + serverDownlinkSeconds(model, 3e5),
                         serverSeconds(model, 1e6, 3e5)));
            QVERIFY(near(ringGatherExposed(model, parts, 0.5), ringGatherSeconds(model, 1e6)));
            QVERIFY(near(ringReduceExposed(model, parts, 0.5), ringReduceSeconds(model, 1e6)));
        }
    }

    void overlapHidesWhatIsSentEarly() {
        const LinkModel model = link(80e6, 1e-3, kUnlimited, 2); // 10 MB/s
        // 1 MB at 0.0 s takes until 0.1, 2 MB at 0.05 s wait for it and take until 0.3.
        const std::array parts{PartReady{0.0, 1e6}, PartReady{0.05, 2e6}};
        QVERIFY(near(serverUplinkSeconds(model, parts, 0.2), 0.1 + 1e-3));
        QVERIFY(serverUplinkSeconds(model, parts, 5.0) == 0.0);
        // A gap in the link is not filled: 1 MB at 0.0, 1 MB at 1.0.
        const std::array late{PartReady{0.0, 1e6}, PartReady{1.0, 1e6}};
        QVERIFY(near(serverUplinkSeconds(model, late, 1.0), 0.1 + 1e-3));
        // Two workers: one hop, so the ring gains as much.
        QVERIFY(near(ringGatherExposed(model, late, 1.0), 0.1 + 1e-3));
    }

    void overlapNeverCostsAndNeverGainsMoreThanItSends() {
        const LinkModel model = link(50e6, 1e-3, 50e6, 4);
        const std::vector<PartReady> spread{{0.1, 3e5}, {0.2, 3e5}, {0.3, 4e5}};
        const std::array whole{PartReady{0.3, 1e6}};
        const double with = serverUplinkSeconds(model, spread, 0.3);
        const double without = serverUplinkSeconds(model, whole, 0.3);
        QVERIFY(with < without);
        QVERIFY(with >= without - 0.2 - 1e-12); // no earlier than the first part's readiness
    }

    void sparseGatherLosesBeyondBreakEven() {
        const double dense = 4e6;
        const double message = 8e4;
        const double limit = gatherBreakEvenWorkers(dense, message);
        QVERIFY(near(limit, 100.0));
        const auto gatherWins = [&](std::size_t workers) {
            const LinkModel model = link(100e6, 0.0, 100e6, workers);
            return ringGatherSeconds(model, message) < ringReduceSeconds(model, dense);
        };
        QVERIFY(gatherWins(99));
        QVERIFY(!gatherWins(101));
    }

    void slowLinkFlipsTheWinner() {
        // Medium model, top-k 1 %: 50 × fewer bytes for 4 ms more computing a step.
        const double dense = 17.8e6;
        const double sparse = dense / 50.0;
        const double extra = 4e-3;
        const auto compressedWins = [&](double bits) {
            const LinkModel model = link(bits, 0.0, kUnlimited, 4);
            return serverSeconds(model, sparse, sparse) + extra <
                   serverSeconds(model, dense, dense);
        };
        const auto withHeavyWork = [&](double bits, double seconds) {
            const LinkModel model = link(bits, 0.0, kUnlimited, 4);
            return serverSeconds(model, sparse, sparse) + seconds <
                   serverSeconds(model, dense, dense);
        };
        QVERIFY(compressedWins(10e6));
        QVERIFY(withHeavyWork(10e6, 50e-3));  // 10 Mbit/s: compression wins
        QVERIFY(!withHeavyWork(10e9, 50e-3)); // 10 Gbit/s: it does not
        // The flip is where the formula says.
        const LinkModel model = link(1e9, 0.0, kUnlimited, 4);
        const double rate = serverBreakEvenRate(model, 2.0 * (dense - sparse), 50e-3) * 8.0;
        QVERIFY(withHeavyWork(rate * 0.999, 50e-3));
        QVERIFY(!withHeavyWork(rate * 1.001, 50e-3));
    }

    void breakEvenFollowsTheServersRate() {
        // The server's link follows the workers': N workers share it.
        const LinkModel follows = link(100e6, 1e-3, 100e6, 4);
        QVERIFY(near(serverBreakEvenRate(follows, 1e6, 0.5), 8e6));
        // A server so slow that compression always pays.
        const LinkModel slow = link(100e6, 1e-3, 8e6, 4);
        QVERIFY(std::isinf(serverBreakEvenRate(slow, 1e6, 0.5)));
        QVERIFY(std::isinf(serverBreakEvenRate(follows, 1e6, 0.0)));
        QVERIFY(serverBreakEvenRate(follows, 0.0, 0.5) == 0.0);
    }

    // Two equal parts: the first one's mean goes down while the second comes up.
    void meansGoDownWhilePartsComeUp() {
        LinkModel link;
        link.bytesPerSecond = link.serverBytesPerSecond = 100.0;
        link.latency = 0.1;
        const std::array<PartReady, 2> two = {{{0.0, 100.0}, {0.0, 100.0}}};
        const std::array<PartReady, 1> one = {{{0.0, 200.0}}};
        const auto seconds = [&](std::span<const PartReady> parts, double serverS, double end) {
            return serverPipelineSeconds(link, link, parts, 200.0, serverS, end);
        };
        QVERIFY(std::abs(seconds(two, 0.0, 0.0) - 3.2) < 1e-12);
        QVERIFY(std::abs(seconds(two, 0.4, 0.0) - 3.4) < 1e-12);
        QVERIFY(std::abs(seconds(two, 0.0, 1.0) - 2.2) < 1e-12);
        QVERIFY(std::abs(seconds(one, 0.0, 0.0) - serverSeconds(link, 200.0, 200.0)) < 1e-12);
        QCOMPARE(seconds(two, 0.0, 9.0), 0.0);
    }
};

QTEST_GUILESS_MAIN(TestLinkModel)
#include "test_link_model.moc"
