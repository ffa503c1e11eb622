// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/link_model.h"

#include "engine/core/check.h"

#include <algorithm>
#include <limits>

namespace gradlab::engine {

namespace {

/// A link that carries parts one after the other, each from when it is ready; `rate` in bytes per
/// second.
/// @return when the last byte has left, seconds after the step's start
double lastByteSent(std::span<const PartReady> parts, double rate) {
    double free = 0.0;
    for (const PartReady& part : parts)
        free = std::max(free, part.seconds) + part.bytes / rate;
    return free;
}

double totalBytes(std::span<const PartReady> parts) {
    double sum = 0.0;
    for (const PartReady& part : parts)
        sum += part.bytes;
    return sum;
}

/// Rate of one worker's direction of a server exchange: its own link, or its share of the server's.
double serverRate(const LinkModel& link) {
    GRADLAB_CHECK(link.bytesPerSecond > 0.0 && link.serverBytesPerSecond > 0.0, link.bytesPerSecond,
                  link.serverBytesPerSecond);
    return std::min(link.bytesPerSecond,
                    link.serverBytesPerSecond / static_cast<double>(link.workers));
}

/// `hops` equal hops of which the first starts part by part; the rest follow when it has arrived.
double exposedHops(const LinkModel& link, std::span<const PartReady> parts, double computeEnd,
                   double hops, double shareOfBytes) {
    if (hops <= 0.0)
        return 0.0;
    const double rate = link.bytesPerSecond / shareOfBytes;
    const double firstHop = lastByteSent(parts, rate) + link.latency;
    const double rest = (hops - 1.0) * (link.latency + totalBytes(parts) / rate);
    return std::max(0.0, firstHop + rest - computeEnd);
}

} // namespace

double serverUplinkSeconds(const LinkModel& link, std::span<const PartReady> parts,
                           double computeEnd) {
    return std::max(0.0, lastByteSent(parts, serverRate(link)) + link.latency - computeEnd);
}

double serverDownlinkSeconds(const LinkModel& link, double bytesDown) {
    return link.latency + bytesDown / serverRate(link);
}

double serverSeconds(const LinkModel& link, double bytesUp, double bytesDown) {
    return 2.0 * link.latency + bytesUp / serverRate(link) + bytesDown / serverRate(link);
}

double serverPipelineSeconds(const LinkModel& up, const LinkModel& down,
                             std::span<const PartReady> parts, double bytesDown, double serverS,
                             double computeEnd) {
    const double all = totalBytes(parts);
    double upFree = 0.0;
    double serverFree = 0.0;
    double downFree = 0.0;
    for (const PartReady& part : parts) {
        const double share = all > 0.0 ? part.bytes / all : 0.0;
        upFree = std::max(upFree, part.seconds) + part.bytes / serverRate(up);
        serverFree = std::max(serverFree, upFree + up.latency) + share * serverS;
        downFree = std::max(downFree, serverFree) + share * bytesDown / serverRate(down);
    }
    return std::max(0.0, downFree + down.latency - computeEnd);
}

double ringGatherSeconds(const LinkModel& link, double bytesMessage) {
    const double hops = static_cast<double>(link.workers) - 1.0;
    return std::max(0.0, hops) * (link.latency + bytesMessage / link.bytesPerSecond);
}

double ringReduceSeconds(const LinkModel& link, double bytesDense) {
    const auto workers = static_cast<double>(link.workers);
    return std::max(0.0, 2.0 * (workers - 1.0)) *
           (link.latency + bytesDense / (workers * link.bytesPerSecond));
}

double ringGatherExposed(const LinkModel& link, std::span<const PartReady> parts,
                         double computeEnd) {
    return exposedHops(link, parts, computeEnd, static_cast<double>(link.workers) - 1.0, 1.0);
}

double ringReduceExposed(const LinkModel& link, std::span<const PartReady> parts,
                         double computeEnd) {
    const auto workers = static_cast<double>(link.workers);
    return exposedHops(link, parts, computeEnd, 2.0 * (workers - 1.0), 1.0 / workers);
}

double gatherBreakEvenWorkers(double bytesDense, double bytesMessage) {
    if (bytesMessage <= 0.0)
        return std::numeric_limits<double>::infinity();
    return 2.0 * bytesDense / bytesMessage;
}

// Time saved at rate B is savedBytes · max(1/B, N/S), whatever the latency, which both pay twice.
double serverBreakEvenRate(const LinkModel& link, double savedBytes, double extraSeconds) {
    if (extraSeconds <= 0.0)
        return std::numeric_limits<double>::infinity();
    if (savedBytes <= 0.0)
        return 0.0;
    const auto workers = static_cast<double>(link.workers);
    if (link.serverBytesPerSecond == link.bytesPerSecond) // the server's rate follows the link's
        return workers * savedBytes / extraSeconds;
    if (workers * savedBytes / link.serverBytesPerSecond >= extraSeconds)
        return std::numeric_limits<double>::infinity();
    return savedBytes / extraSeconds;
}

} // namespace gradlab::engine
