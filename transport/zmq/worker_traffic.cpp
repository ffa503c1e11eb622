// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gradlab::transport {
namespace {

constexpr double kSecondsPerNs = 1e-9;

std::int64_t nsOf(engine::SteadyTime time) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

TransferTag tagOf(std::size_t index) {
    TransferTag tag;
    tag.hop = static_cast<std::uint32_t>(index);
    return tag;
}

} // namespace

void WorkerTraffic::setLink(const engine::LinkSettings& link, bool server) {
    settings_ = link;
    server_ = server;
}

void WorkerTraffic::beginStep() {
    origin_ = std::chrono::steady_clock::now();
    account_.reset(1);
    leaving_.reset(); // of a step that was given up
    leavingBytes_.clear();
    beginRound(1);
}

void WorkerTraffic::beginRound(std::size_t contributors) {
    countSent();
    arriving_ = EmulatedLink(settings_, contributors);
    leaving_ = EmulatedLink(settings_, contributors);
    held_.clear();
}

double WorkerTraffic::secondsOf(engine::SteadyTime time) const {
    return std::chrono::duration<double>(time - origin_).count();
}

void WorkerTraffic::handedOver(std::size_t bytes, double when) {
    account_.messagePart(0, bytes, when);
}

std::optional<std::int64_t> WorkerTraffic::sent(std::size_t bytes, double ready) {
    if (server_)
        leaving_.sendUp(tagOf(leavingBytes_.size()), 0, ready, bytes);
    else
        leaving_.sendHop(tagOf(leavingBytes_.size()), 0, ready, bytes);
    leavingBytes_.push_back(bytes);
    if (!settings_.emulate)
        return std::nullopt;
    return nsOf(origin_) + std::llround(ready / kSecondsPerNs) + clock_.offsetNs();
}

void WorkerTraffic::hold(WorkerFrame frame) {
    double ready = secondsOf(frame.at);
    // It cannot have been ready after it came, whatever it says or the clocks' offset is.
    if (settings_.emulate && frame.readyNs)
        ready = std::min(ready,
                         static_cast<double>(*frame.readyNs - clock_.offsetNs() - nsOf(origin_)) *
                             kSecondsPerNs);
    const std::size_t bytes = frame.bytes->size();
    if (server_)
        arriving_.sendDown(tagOf(held_.size()), ready, bytes);
    else
        arriving_.sendHop(tagOf(held_.size()), 0, ready, bytes);
    held_.push_back(std::move(frame));
}

std::optional<WorkerTraffic::Arrival> WorkerTraffic::next() {
    const auto arrival = arriving_.next(now());
    if (!arrival)
        return std::nullopt;
    WorkerFrame frame = std::move(held_[arrival->tag.hop]);
    // Where the real network is slower than the emulated one, reality counts.
    const double when = std::max(arrival->end, secondsOf(frame.at));
    account_.received(0, frame.bytes->size(), settings_.emulate ? arrival->start : when, when);
    return Arrival{std::move(frame), when};
}

engine::SteadyTime WorkerTraffic::nextTime() const {
    const double event = arriving_.nextEvent();
    return std::isinf(event) ? engine::SteadyTime::max() : instantOf(origin_, event);
}

void WorkerTraffic::countSent() {
    while (const auto departure = leaving_.next(std::numeric_limits<double>::max()))
        account_.sent(0, leavingBytes_[departure->tag.hop], departure->start, departure->end);
}

engine::RankTraffic WorkerTraffic::result() {
    countSent();
    return account_.result(origin_).front();
}

} // namespace gradlab::transport
