// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Workers are measured once they have a place and a data connection, before they are sent a
// snapshot: they need none for this.
#include "transport/zmq/probe.h"

#include "engine/core/errors.h"
#include "engine/core/median.h"
#include "transport/zmq/coordinator_network.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace gradlab::transport {
namespace {

constexpr std::uint32_t kFrames = 16; ///< of one measurement: 15 gaps
constexpr std::uint64_t kLeastBytes = std::uint64_t{16} * 1024;
constexpr std::uint64_t kMostBytes = std::uint64_t{2} * 1024 * 1024;
constexpr std::uint64_t kGrowth = 8;
constexpr std::uint64_t kMoreForAll = 4;
constexpr double kLongEnoughS = 0.05;   ///< a span that timers and scheduling do not spoil
constexpr std::size_t kMostRepeats = 7; ///< of one measurement: the middle one counts
constexpr double kRepeatForS = 0.5;     ///< no more of them after that
constexpr int kPings = 21;
constexpr double kBitsPerByte = 8.0;

engine::ClusterSetup probeSetup(const engine::ClusterSettings& cluster) {
    engine::ClusterSetup setup;
    setup.experiment.cluster = cluster;
    setup.exchange.workers = static_cast<std::uint32_t>(cluster.workers);
    setup.exchange.session = std::random_device{}() | 1U;
    setup.snapshotBytes = kMostBytes;
    return setup;
}

CoordinatorOptions patient(CoordinatorOptions options) {
    options.readyWithin = std::chrono::hours(24); // nobody is ever told to become ready
    return options;
}

double rate(double bytes, double seconds) {
    return seconds > 0.0 ? kBitsPerByte * bytes / seconds : 0.0;
}

/// Bits per second each way.
struct Rates {
    double down = 0.0;
    double up = 0.0;
};

double seconds(engine::SteadyTime from, engine::SteadyTime to) {
    return std::chrono::duration<double>(to - from).count();
}

Rates ratesOf(const LinkSample& sample, double bytes) {
    return {rate((kFrames - 1) * bytes, sample.downS), rate((kFrames - 1) * bytes, sample.upS)};
}

/// Of all workers together. Not all begin and end at the same time: from the first one's begin to
/// the last one's end, by this clock.
Rates ratesOf(const std::vector<LinkSample>& samples, double bytes, double latency) {
    engine::SteadyTime sent = engine::SteadyTime::max();
    engine::SteadyTime told = engine::SteadyTime::min();
    engine::SteadyTime first = engine::SteadyTime::max();
    engine::SteadyTime last = engine::SteadyTime::min();
    for (const LinkSample& sample : samples) {
        sent = std::min(sent, sample.sent);
        told = std::max(told, sample.told);
        first = std::min(first, sample.firstEcho);
        last = std::max(last, sample.lastEcho);
    }
    const double all = static_cast<double>(samples.size()) * kFrames * bytes;
    const double down = seconds(sent, told);
    return {rate(all, std::max(down / 2, down - 2 * latency)),
            rate(all - bytes, seconds(first, last))};
}

class NetworkProbe {
public:
    NetworkProbe(const engine::ClusterSettings& cluster, const CoordinatorOptions& options,
                 std::stop_token stop)
        : stop_(std::move(stop)), wanted_(static_cast<std::size_t>(
                                      cluster.waitFor > 0 ? cluster.waitFor : cluster.workers)),
          network_(probeSetup(cluster), patient(options), inbox_) {
        for (std::int64_t i = 0; cluster.waitFor == 0 && i < cluster.workers; ++i)
            network_.post([](CoordinatorSession& session) { session.startLocalWorker(); });
    }
    ~NetworkProbe() {
        network_.post([](CoordinatorSession& session) { session.finish("measured"); });
        network_.join();
    }
    NetworkProbe(const NetworkProbe&) = delete;
    NetworkProbe& operator=(const NetworkProbe&) = delete;

    MeasuredNetwork run() {
        gather();
        MeasuredNetwork measured;
        std::uint64_t bytes = kMostBytes;
        for (const SnapshotWanted& member : members_)
            measured.workers.push_back(measure(member, bytes));
        // What the slowest can take in good time, and more: connections that share a line need a
        // while until it is full.
        bytes = std::min(bytes * kMoreForAll, kMostBytes);
        double latency = 0.0;
        for (const MeasuredLink& link : measured.workers)
            latency = std::max(latency, link.latencyS);
        const Rates rates = repeated(members_, bytes, [&](const auto& samples) {
            return ratesOf(samples, static_cast<double>(bytes), latency);
        });
        measured.serverRateDown = rates.down;
        measured.serverRateUp = rates.up;
        return measured;
    }

private:
    void gather() {
        network_.post([](CoordinatorSession& session) { session.openBoundary(1); });
        members_ = inbox_.await(
            stop_,
            [this](const InboxState& state) {
                return state.snapshotsWanted.size() >= wanted_ || !state.stopped.empty();
            },
            [](InboxState& state) {
                if (!state.stopped.empty())
                    throw engine::TransportError(state.stopped);
                return std::vector<SnapshotWanted>(state.snapshotsWanted.begin(),
                                                   state.snapshotsWanted.end());
            });
        std::sort(members_.begin(), members_.end(),
                  [](const auto& a, const auto& b) { return a.rank < b.rank; });
    }

    /// `bytes` becomes the size at which this worker's line is measured, if that is smaller.
    MeasuredLink measure(const SnapshotWanted& member, std::uint64_t& bytes) {
        MeasuredLink link;
        link.rank = member.rank;
        for (const engine::ClusterMember& row :
             inbox_.with([](InboxState& state) { return state.view.members; }))
            if (row.rank == member.rank) {
                link.name = row.name;
                link.host = row.host;
                link.machine = row.machine;
                link.cores = std::max<std::int64_t>(1, row.cores);
            }
        std::vector<double> trips;
        trips.reserve(kPings);
        for (int i = 0; i < kPings; ++i)
            trips.push_back(exchange({member}, 1, engine::kFrameHeaderBytes)[0].roundTripS);
        link.latencyS = engine::median(trips) / 2;
        std::uint64_t size = kLeastBytes;
        while (size < kMostBytes && isShort(exchange({member}, kFrames, size)[0]))
            size = std::min(size * kGrowth, kMostBytes);
        const Rates rates = repeated({member}, size, [&](const auto& samples) {
            return ratesOf(samples[0], static_cast<double>(size));
        });
        link.rateDown = rates.down;
        link.rateUp = rates.up;
        bytes = std::min(bytes, size);
        return link;
    }
    static bool isShort(const LinkSample& sample) {
        return std::min(sample.downS, sample.upS) < kLongEnoughS;
    }

    /// The middle one of several measurements: one alone may meet with anything.
    template <class RatesOf>
    Rates repeated(const std::vector<SnapshotWanted>& members, std::uint64_t bytes,
                   const RatesOf& of) {
        std::vector<double> down;
        std::vector<double> up;
        const auto begin = std::chrono::steady_clock::now();
        do {
            const Rates rates = of(exchange(members, kFrames, bytes));
            down.push_back(rates.down);
            up.push_back(rates.up);
        } while (down.size() < kMostRepeats &&
                 seconds(begin, std::chrono::steady_clock::now()) < kRepeatForS);
        return {engine::median(std::move(down)), engine::median(std::move(up))};
    }

    /// `frames` of `bytes` there and back, all members at the same time.
    std::vector<LinkSample> exchange(const std::vector<SnapshotWanted>& members,
                                     std::uint32_t frames, std::uint64_t bytes) {
        const std::uint64_t first = lastRequest_ + 1;
        lastRequest_ += members.size();
        network_.post([=](CoordinatorSession& session) {
            for (std::size_t i = 0; i < members.size(); ++i)
                session.probe(first + i, members[i].member, frames, bytes);
        });
        return inbox_.await(
            stop_, [&](const InboxState& state) { return state.probes.size() == members.size(); },
            [](InboxState& state) {
                std::vector<LinkSample> samples;
                for (const auto& [request, sample] : std::exchange(state.probes, {})) {
                    if (!sample)
                        throw engine::TransportError("a worker was lost while it was measured: "
                                                     "gradlab-cli probe; start it again");
                    samples.push_back(*sample);
                }
                return samples;
            });
    }

    std::stop_token stop_;
    std::size_t wanted_;
    CoordinatorInbox inbox_;
    CoordinatorNetwork network_; ///< refers to inbox_
    std::vector<SnapshotWanted> members_;
    std::uint64_t lastRequest_ = 0;
};

} // namespace

MeasuredNetwork probeNetwork(const engine::ClusterSettings& cluster,
                             const CoordinatorOptions& options, const std::stop_token& stop) {
    return NetworkProbe(cluster, options, stop).run();
}

} // namespace gradlab::transport
