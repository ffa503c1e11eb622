// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The emulated network's schedule, in exact numbers, against the contract's link model.
#include "transport/emulated_link.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace gradlab;
using namespace gradlab::transport;

namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

/// 8 Mbit/s: a byte takes a microsecond.
engine::LinkSettings link(double serverBandwidth = 0.0, double latency = 0.0) {
    engine::LinkSettings settings;
    settings.bandwidth = 8e6;
    settings.serverBandwidth = serverBandwidth;
    settings.latency = latency;
    settings.emulate = true;
    return settings;
}

TransferTag tag(std::uint32_t rank, std::uint32_t part = 0, std::uint32_t hop = 0) {
    TransferTag value;
    value.rank = rank;
    value.part = part;
    value.hop = hop;
    return value;
}

std::vector<Arrival> drain(EmulatedLink& link) {
    std::vector<Arrival> arrivals;
    while (const auto arrival = link.next(kForever))
        arrivals.push_back(*arrival);
    return arrivals;
}

bool near(double a, double b) {
    return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b));
}

} // namespace

class TestEmulatedLink : public QObject {
    Q_OBJECT

private slots:
    void aFrameTakesItsBytesAndTheLatency() {
        EmulatedLink network(link(0.0, 0.25), 1);
        network.sendUp(tag(0), 0, 2.0, 500000);
        QVERIFY(!network.next(2.7499).has_value());
        const auto arrival = network.next(2.75);
        QVERIFY(arrival.has_value());
        QVERIFY(near(arrival->start, 2.0) && near(arrival->end, 2.75));
        QCOMPARE(network.nextEvent(), kForever);
    }

    void framesQueueOnTheirWorkersLink() {
        EmulatedLink network(link(kForever), 2);
        network.sendUp(tag(0, 0), 0, 0.0, 1000000);
        network.sendUp(tag(0, 1), 0, 0.5, 1000000);
        network.sendUp(tag(1, 0), 1, 0.5, 1000000);
        const auto arrivals = drain(network);
        QCOMPARE(arrivals.size(), std::size_t{3});
        QVERIFY(near(arrivals[0].end, 1.0));
        QVERIFY(arrivals[1].tag.rank == 1 && near(arrivals[1].end, 1.5));
        QVERIFY(near(arrivals[2].start, 1.0) && near(arrivals[2].end, 2.0));
    }

    void serverStepsMatchTheModel_data() {
        QTest::addColumn<double>("server");
        QTest::addColumn<int>("parts");
        for (const double server : {0.0, 4e6, 12e6, 16e6, 32e6, 64e6, kForever})
            for (const int parts : {1, 2, 5})
                QTest::addRow("S=%g parts=%d", server, parts) << server << parts;
    }
    // 2a + max(u/B, N·u/S) + max(d/B, N·d/S), however a message is cut into parts.
    void serverStepsMatchTheModel() {
        QFETCH(double, server);
        QFETCH(int, parts);
        const std::uint32_t workers = 4;
        const double latency = 0.125;
        const double up = 2.0;   // u/B
        const double down = 3.0; // d/B
        const double share = server > 0.0 ? 8e6 / server : 1.0;
        EmulatedLink network(link(server, latency), workers);
        const auto bytes = [&](double seconds) {
            return static_cast<std::size_t>(std::lround(seconds * 1e6 / parts));
        };
        for (std::uint32_t rank = 0; rank < workers; ++rank)
            for (int part = 0; part < parts; ++part)
                network.sendUp(tag(rank, static_cast<std::uint32_t>(part)), rank, 0.0, bytes(up));
        const auto arrivals = drain(network);
        QCOMPARE(arrivals.size(), static_cast<std::size_t>(parts) * workers);
        const double upEnd = latency + std::max(up, 4 * up * share);
        QVERIFY2(near(arrivals.back().end, upEnd),
                 qPrintable(QString::number(arrivals.back().end)));
        for (int part = 0; part < parts; ++part)
            network.sendDown(tag(0, static_cast<std::uint32_t>(part)), upEnd, bytes(down));
        const double end = drain(network).back().end;
        const double expected = upEnd + latency + std::max(down, 4 * down * share);
        QVERIFY2(near(end, expected), qPrintable(QString::number(end)));
    }

    // (N−1)·(a + u/B): each frame is forwarded when it has arrived.
    void ringHopsMatchTheModel() {
        const std::uint32_t workers = 5;
        EmulatedLink network(link(0.0, 0.5), workers);
        for (std::uint32_t rank = 0; rank < workers; ++rank)
            network.sendHop(tag(rank, 0, 1), rank, 0.0, 2000000);
        double end = 0.0;
        while (const auto arrival = network.next(kForever)) {
            end = arrival->end;
            TransferTag next = arrival->tag;
            if (next.hop == workers - 1)
                continue;
            const std::uint32_t sender = (next.rank + next.hop) % workers;
            ++next.hop;
            network.sendHop(next, sender, arrival->end, 2000000);
        }
        QVERIFY(near(end, 4 * (0.5 + 2.0)));
    }

    // A forwarded frame that is still under way does not hold up one that is ready.
    void whatIsReadyFirstGoesFirst() {
        EmulatedLink network(link(), 2);
        network.sendHop(tag(1), 0, 5.0, 1000000);
        network.sendHop(tag(0), 0, 1.0, 1000000);
        const auto arrivals = drain(network);
        QVERIFY(arrivals[0].tag.rank == 0 && near(arrivals[0].end, 2.0));
        QVERIFY(arrivals[1].tag.rank == 1 && near(arrivals[1].end, 6.0));
    }

    void withoutEmulationFramesArriveAtOnce() {
        engine::LinkSettings settings = link(1.0, 3.0);
        settings.emulate = false;
        EmulatedLink network(settings, 3);
        network.sendUp(tag(2), 2, 1.5, 1000000000);
        const auto arrival = network.next(1.5);
        QVERIFY(arrival.has_value());
        QCOMPARE(arrival->start, 1.5);
        QCOMPARE(arrival->end, 1.5);
    }

    void resetForgetsWhatIsUnderWay() {
        EmulatedLink network(link(), 1);
        network.sendUp(tag(0), 0, 0.0, 1000000);
        QVERIFY(!network.next(0.5).has_value());
        network.reset();
        QVERIFY(!network.next(kForever).has_value());
        network.sendUp(tag(0), 0, 0.0, 1000000);
        QVERIFY(near(drain(network).back().end, 1.0));
    }
};

QTEST_GUILESS_MAIN(TestEmulatedLink)
#include "test_emulated_link.moc"
