// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/coordinator_step.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gradlab::transport {

using engine::SteadyTime;

CoordinatorStep::CoordinatorStep(const engine::ExchangeSetup& setup)
    : emulate_(setup.link.emulate), overlap_(setup.overlap), parts_(setup.plan.parts().size()),
      workers_(setup.workers), link_(setup.link, setup.workers), frames_(parts_),
      counted_(parts_, 0), meanBytes_(parts_, 0) {}

void CoordinatorStep::begin(const std::vector<std::uint32_t>& contributors, SteadyTime now) {
    contributors_ = contributors;
    origin_ = now;
    link_.reset();
    account_.reset(workers_);
    for (auto& part : frames_)
        part.assign(workers_, nullptr);
    std::fill(counted_.begin(), counted_.end(), std::size_t{0});
}

void CoordinatorStep::end() {
    for (auto& part : frames_)
        part.assign(workers_, nullptr);
    link_.reset();
}

void CoordinatorStep::take(std::uint32_t rank, std::size_t part,
                           std::shared_ptr<zmq::message_t> frame, std::optional<SteadyTime> ready,
                           SteadyTime now) {
    if (frames_[part][rank])
        return; // the first one is on its way already
    const std::size_t bytes = frame->size();
    // A clock may be off, or lie: nothing enters before the step or after its arrival.
    const double entered = seconds(std::clamp(emulate_ ? ready.value_or(now) : now, origin_, now));
    frames_[part][rank] = std::move(frame);
    account_.messagePart(rank, bytes, entered);
    link_.sendUp({FrameType::Gradient, rank, static_cast<std::uint32_t>(part)}, rank, entered,
                 bytes);
}

std::optional<CoordinatorStep::Arrived> CoordinatorStep::next(SteadyTime now) {
    while (const auto arrival = link_.next(seconds(now))) {
        const TransferTag& tag = arrival->tag;
        if (tag.type == FrameType::Gradient) {
            account_.sent(tag.rank, frames_[tag.part][tag.rank]->size(), arrival->start,
                          arrival->end);
            return Arrived{tag.rank, tag.part};
        }
        for (const std::uint32_t rank : contributors_)
            account_.received(rank, meanBytes_[tag.part], arrival->start, arrival->end);
    }
    return std::nullopt;
}

SteadyTime CoordinatorStep::nextEvent() const {
    const double event = link_.nextEvent();
    return std::isinf(event) ? SteadyTime::max() : instantOf(origin_, event);
}

PartWork CoordinatorStep::workOf(std::size_t part, std::uint64_t epoch) const {
    PartWork work{epoch, part, contributors_, {}};
    for (const std::uint32_t rank : contributors_)
        work.frames.push_back(frames_[part][rank]);
    return work;
}

std::vector<PartWork> CoordinatorStep::count(const Arrived& frame, std::uint64_t epoch) {
    std::vector<PartWork> works;
    if (++counted_[frame.part] < contributors_.size())
        return works;
    if (overlap_)
        works.push_back(workOf(frame.part, epoch));
    else if (std::all_of(counted_.begin(), counted_.end(),
                         [&](std::size_t count) { return count == contributors_.size(); }))
        for (std::size_t part = 0; part < parts_; ++part)
            works.push_back(workOf(part, epoch));
    return works;
}

void CoordinatorStep::sendMean(std::size_t part, std::size_t bytes, SteadyTime ready) {
    meanBytes_[part] = bytes;
    if (emulate_)
        link_.sendDown({FrameType::Mean, kServerRank, static_cast<std::uint32_t>(part)},
                       seconds(ready), bytes);
}

SteadyTime CoordinatorStep::everyoneHandedOver() const {
    return emulate_ ? instantOf(origin_, account_.everyoneHandedOver()) : origin_;
}

std::vector<engine::RankTraffic> CoordinatorStep::traffic() {
    while (next(SteadyTime::max())) {
    }
    return account_.result(origin_);
}

bool CoordinatorStep::isComplete(std::uint32_t rank) const {
    return std::all_of(frames_.begin(), frames_.end(),
                       [rank](const auto& part) { return part[rank] != nullptr; });
}

double CoordinatorStep::seconds(SteadyTime time) const {
    return std::chrono::duration<double>(time - origin_).count();
}

} // namespace gradlab::transport
