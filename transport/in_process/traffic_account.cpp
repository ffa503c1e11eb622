// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/in_process/traffic_account.h"

#include <algorithm>

namespace gradlab::transport {

void TrafficAccount::reset(std::size_t workers) {
    rows_.resize(workers);
    for (Row& row : rows_) {
        std::vector<Interval> intervals = std::move(row.onLink);
        intervals.clear();
        row = Row{};
        row.onLink = std::move(intervals); // keeps its memory
    }
}

void TrafficAccount::messagePart(std::size_t worker, std::size_t bytes, double handedOver) {
    Row& row = rows_[worker];
    row.bytesMessage += bytes;
    row.handedOver = std::max(row.handedOver, handedOver);
    row.arrived = std::max(row.arrived, handedOver);
}

void TrafficAccount::sent(std::size_t worker, std::size_t bytes, double start, double end) {
    rows_[worker].bytesUp += bytes;
    occupy(rows_[worker], start, end);
}

void TrafficAccount::received(std::size_t worker, std::size_t bytes, double start, double end) {
    Row& row = rows_[worker];
    row.bytesDown += bytes;
    row.arrived = std::max(row.arrived, end);
    occupy(row, start, end);
}

double TrafficAccount::everyoneHandedOver() const noexcept {
    double last = 0.0;
    for (const Row& row : rows_)
        last = std::max(last, row.handedOver);
    return last;
}

std::vector<engine::RankTraffic> TrafficAccount::result(engine::SteadyTime origin) {
    std::vector<engine::RankTraffic> traffic;
    traffic.reserve(rows_.size());
    for (Row& row : rows_) {
        engine::RankTraffic& rank = traffic.emplace_back();
        rank.bytesMessage = row.bytesMessage;
        rank.bytesUp = row.bytesUp;
        rank.bytesDown = row.bytesDown;
        rank.lastHandOver = instantOf(origin, row.handedOver);
        rank.arrived = instantOf(origin, row.arrived);
        std::tie(rank.transferS, rank.transferHiddenS) = onLinkSeconds(row.onLink, row.handedOver);
    }
    return traffic;
}

void TrafficAccount::occupy(Row& row, double start, double end) {
    if (end > start)
        row.onLink.emplace_back(start, end);
}

std::pair<double, double> TrafficAccount::onLinkSeconds(std::vector<Interval>& intervals,
                                                        double until) {
    std::sort(intervals.begin(), intervals.end());
    double all = 0.0;
    double hidden = 0.0;
    double covered = 0.0; // everything before this instant is counted
    for (const auto& [start, end] : intervals) {
        const double from = std::max(start, covered);
        if (end <= from)
            continue;
        all += end - from;
        hidden += std::max(0.0, std::min(end, until) - from);
        covered = end;
    }
    return {all, hidden};
}

engine::SteadyTime instantOf(engine::SteadyTime origin, double seconds) {
    return origin +
           std::chrono::ceil<engine::SteadyTime::duration>(std::chrono::duration<double>(seconds));
}

} // namespace gradlab::transport
