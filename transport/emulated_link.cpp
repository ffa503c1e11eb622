// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/emulated_link.h"

#include "engine/core/check.h"

#include <algorithm>
#include <limits>

namespace gradlab::transport {
namespace {

constexpr double kBitsPerByte = 8.0;

} // namespace

EmulatedLink::EmulatedLink(const engine::LinkSettings& settings, std::size_t workers)
    : workers_(workers), free_(workers + 3, 0.0) {
    if (!settings.emulate)
        return;
    const double server =
        settings.serverBandwidth > 0.0 ? settings.serverBandwidth : settings.bandwidth;
    secondsPerByte_ = kBitsPerByte / settings.bandwidth;
    serverSecondsPerByte_ = kBitsPerByte / server; // 0 for an unlimited server
    latency_ = settings.latency;
}

void EmulatedLink::sendUp(const TransferTag& tag, std::size_t worker, double ready,
                          std::size_t bytes) {
    GRADLAB_CHECK(worker < workers_, worker, workers_);
    const auto size = static_cast<double>(bytes);
    const Way own{worker, size * secondsPerByte_};
    const Way server{workers_, size * serverSecondsPerByte_};
    add({tag, {own, server}, 2}, ready);
}

void EmulatedLink::sendDown(const TransferTag& tag, double ready, std::size_t bytes) {
    // All workers get the same frames, so their downlinks are in step and one stands for them.
    const auto size = static_cast<double>(bytes);
    const double all = size * static_cast<double>(workers_);
    const Way server{workers_ + 1, all * serverSecondsPerByte_};
    const Way own{workers_ + 2, size * secondsPerByte_};
    add({tag, {server, own}, 2}, ready);
}

void EmulatedLink::sendHop(const TransferTag& tag, std::size_t worker, double ready,
                           std::size_t bytes) {
    GRADLAB_CHECK(worker < workers_, worker, workers_);
    // The neighbour hears nobody else, so its own side of the link never holds a frame up.
    const Way own{worker, static_cast<double>(bytes) * secondsPerByte_};
    add({tag, {own, Way{}}, 1}, ready);
}

std::optional<Arrival> EmulatedLink::next(double now) {
    while (!events_.empty() && events_.front().time <= now) {
        std::pop_heap(events_.begin(), events_.end(), later);
        const Event event = events_.back();
        events_.pop_back();
        const Transfer& transfer = transfers_[event.transfer];
        if (event.stage == transfer.wayCount) {
            const Arrival arrival{transfer.tag, transfer.start, event.time};
            if (events_.empty())
                transfers_.clear();
            return arrival;
        }
        enter(event);
    }
    return std::nullopt;
}

double EmulatedLink::nextEvent() const noexcept {
    return events_.empty() ? std::numeric_limits<double>::infinity() : events_.front().time;
}

void EmulatedLink::reset() {
    transfers_.clear();
    events_.clear();
    std::fill(free_.begin(), free_.end(), 0.0);
}

void EmulatedLink::add(const Transfer& transfer, double ready) {
    transfers_.push_back(transfer);
    push(ready, transfers_.size() - 1, 0);
}

void EmulatedLink::push(double time, std::size_t transfer, std::size_t stage) {
    events_.push_back({time, order_++, transfer, stage});
    std::push_heap(events_.begin(), events_.end(), later);
}

void EmulatedLink::enter(const Event& event) {
    Transfer& transfer = transfers_[event.transfer];
    const Way& way = transfer.ways[event.stage];
    const double start = std::max(event.time, free_[way.link]);
    free_[way.link] = start + way.seconds;
    if (event.stage == 0)
        transfer.start = start;
    transfer.end = std::max(transfer.end, free_[way.link]);
    const std::size_t stage = event.stage + 1;
    // The second way is entered with the first byte, the arrival comes after the last one.
    push(stage < transfer.wayCount ? start : transfer.end + latency_, event.transfer, stage);
}

bool EmulatedLink::later(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time > b.time : a.order > b.order;
}

} // namespace gradlab::transport
