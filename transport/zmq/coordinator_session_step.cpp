// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Of CoordinatorSession: a step from begin to the last done, and requests between steps.
#include "engine/core/check.h"
#include "transport/zmq/coordinator_session.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace gradlab::transport {

using std::chrono::steady_clock;

namespace {

engine::SteadyTime instant(std::int64_t ns) {
    return engine::SteadyTime(std::chrono::nanoseconds(ns));
}

} // namespace

StepOrder CoordinatorSession::orderFor(std::uint32_t rank) {
    StepOrder order;
    order.contributors = membership_.contributors();
    if (isServer() || order.contributors.size() < 2)
        return order;
    const auto& ring = order.contributors;
    const auto place =
        static_cast<std::size_t>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
    if (const Peer* next = members_.byRank(ring[(place + 1) % ring.size()])) {
        order.nextEndpoint = next->ready.ringEndpoint;
        order.nextKey = next->ready.ringKey;
    }
    return order;
}

void CoordinatorSession::beginStep(std::uint64_t step, bool wantHash) {
    GRADLAB_CHECK(reporting_.empty() && !stepRunning_, step);
    engine::MembershipActions actions;
    membership_.beginStep(step, actions);
    stepBegun_ = steady_clock::now();
    coordinatorHolds_ = !isServer();
    held_.clear();
    step_.begin(membership_.contributors(), stepBegun_);
    stepRunning_ = true;
    if (membership_.phase() == engine::StepPhase::Idle)
        return stop("no worker is left");
    inbox_.change([&](InboxState& state) { state.epoch = membership_.epoch(); });
    for (const std::uint32_t rank : membership_.contributors()) {
        Peer* peer = members_.byRank(rank);
        peer->step = step;
        peer->begun = peer->progressed = stepBegun_;
        peer->straggling = false;
        say(*peer, Begin{orderFor(rank), wantHash});
    }
    apply(actions);
}

void CoordinatorSession::gradient(Peer& peer, const ReceivedBytes& received,
                                  const FrameHeader& header) {
    const auto& parts = setup_.plan.parts();
    if (!isServer() || header.session != setup_.session || header.rank != peer.rank ||
        header.parts != parts.size() || header.tensors != parts[header.part].size() ||
        header.chunk != 0)
        return broken(peer, "a gradient frame of rank " + std::to_string(header.rank) + ", part " +
                                std::to_string(header.part) + " of " +
                                std::to_string(header.parts) + " is not one of this run");
    const auto& contributors = membership_.contributors();
    if (header.epoch != membership_.epoch() || header.step != membership_.step() ||
        membership_.phase() != engine::StepPhase::Collecting ||
        !std::binary_search(contributors.begin(), contributors.end(), peer.rank))
        return; // late: of a step, or a try, that is over
    const Time now = steady_clock::now();
    peer.progressed = now;
    std::optional<Time> ready;
    if (received.readyNs)
        ready = instant(*received.readyNs);
    step_.take(peer.rank, header.part, received.bytes, ready, now);
    deliver(now);
}

void CoordinatorSession::deliver(Time now) {
    while (const auto arrived = step_.next(now)) {
        engine::MembershipActions actions;
        const auto verdict =
            membership_.message(membership_.slotMember(arrived->rank), arrived->rank,
                                membership_.epoch(), membership_.step(), arrived->part, actions);
        if (verdict == engine::MessageVerdict::Counted) {
            for (PartWork& work : step_.count(*arrived, membership_.epoch()))
                inbox_.change([&](InboxState& state) { state.work.push_back(std::move(work)); });
        }
        apply(actions);
    }
}

void CoordinatorSession::sendMean(std::uint64_t epoch, std::size_t part, const SharedBytes& frame) {
    if (!stepRunning_ || epoch != membership_.epoch())
        return;
    const Time now = steady_clock::now();
    step_.sendMean(part, frame->size(), now);
    std::optional<std::int64_t> readyNs;
    if (step_.emulates())
        readyNs = std::chrono::nanoseconds(now.time_since_epoch()).count();
    for (const std::uint32_t rank : membership_.contributors())
        sockets_.sendData(members_.byRank(rank)->dataId, frame, readyNs);
}

void CoordinatorSession::coordinatorHolds(std::uint64_t epoch) {
    if (!stepRunning_ || epoch != membership_.epoch())
        return;
    coordinatorHolds_ = true;
    submitHolds();
}

void CoordinatorSession::holds(const Peer& peer, const FrameHeader& header) {
    if (!stepRunning_ || header.epoch != membership_.epoch() || header.step != membership_.step())
        return;
    held_.insert(peer.member);
    submitHolds();
}

void CoordinatorSession::submitHolds() {
    if (!coordinatorHolds_)
        return;
    engine::MembershipActions actions;
    for (const engine::MemberId member : held_)
        membership_.holdsMean(member, membership_.epoch(), membership_.step(), actions);
    apply(actions);
}

void CoordinatorSession::committed(const engine::MembershipAction& action) {
    stepRunning_ = false;
    linkTraffic_.clear();
    if (isServer() && step_.emulates())
        linkTraffic_ = step_.traffic();
    engine::ExchangeOutcome outcome;
    outcome.contributors = membership_.contributors();
    outcome.membershipEpoch = action.epoch;
    outcome.everyoneHandedOver = step_.everyoneHandedOver();
    step_.end();
    reports_.clear();
    reporting_.clear();
    const Time now = steady_clock::now();
    for (const std::uint32_t rank : outcome.contributors) {
        reporting_.insert(rank);
        members_.byRank(rank)->progressed = now;
        say(*members_.byRank(rank), Commit{});
    }
    inbox_.change([&](InboxState& state) {
        state.step = InboxState::Step::Committed;
        state.outcome = std::move(outcome);
        state.work.clear();
        state.reportsDone = false;
    });
}

void CoordinatorSession::redo(const engine::MembershipAction& action) {
    step_.begin(membership_.contributors(), steady_clock::now());
    coordinatorHolds_ = !isServer();
    held_.clear();
    inbox_.change([&](InboxState& state) {
        state.work.clear();
        state.epoch = action.epoch;
    });
    for (const std::uint32_t rank : membership_.contributors())
        say(*members_.byRank(rank), Abort{orderFor(rank)});
    const bool one = membership_.contributors().size() == 1;
    event("step_redone", "step " + std::to_string(action.step) + " is exchanged again by worker" +
                             (one ? " " : "s ") + listed(membership_.contributors()) +
                             " with the messages that they have kept");
}

void CoordinatorSession::done(Peer& peer, const FrameHeader& header, const Done& message) {
    if (header.step != membership_.lastCommitted() || !reporting_.contains(peer.rank))
        return;
    const Time now = steady_clock::now();
    peer.stepS = std::chrono::duration<double>(now - peer.begun).count();
    peer.bytesUp += static_cast<double>(message.traffic.bytesUp);
    peer.bytesDown += static_cast<double>(message.traffic.bytesDown);
    peer.progressed = now;
    engine::WorkerReport report{peer.rank, message.traffic, message.account};
    if (!linkTraffic_.empty()) {
        report.traffic.transferS = linkTraffic_[peer.rank].transferS;
        report.traffic.transferHiddenS = linkTraffic_[peer.rank].transferHiddenS;
    }
    reports_.push_back(std::move(report));
    forgetDone(peer.rank);
}

void CoordinatorSession::forgetDone(std::uint32_t rank) {
    if (reporting_.erase(rank) > 0)
        endStepIfReported();
}

void CoordinatorSession::endStepIfReported() {
    if (!reporting_.empty())
        return;
    constexpr double kNewest = 0.2;
    const double took = std::chrono::duration<double>(steady_clock::now() - stepBegun_).count();
    usualStepS_ = usualStepS_ > 0.0 ? (1.0 - kNewest) * usualStepS_ + kNewest * took : took;
    std::sort(reports_.begin(), reports_.end(),
              [](const auto& a, const auto& b) { return a.rank < b.rank; });
    inbox_.change([&](InboxState& state) {
        state.reports = std::move(reports_);
        state.reportsDone = true;
    });
    reports_.clear();
    advanceBoundary();
}

void CoordinatorSession::failed(Peer& peer, const FrameHeader& header, const Failed& message) {
    const std::string what = shownText(message.message, 300);
    if (message.kind != "numeric")
        return lose(peer.member, "it failed: " + what);
    if (!stepRunning_ || header.step != membership_.step() || header.epoch != membership_.epoch())
        return;
    giveUp(std::make_exception_ptr(
        engine::NumericError(header.step, shownText(message.tensor), what)));
}

void CoordinatorSession::abandonStep() {
    if (stepRunning_)
        giveUp(nullptr);
    else
        inbox_.change([](InboxState& state) {
            if (state.step == InboxState::Step::Running)
                state.step = InboxState::Step::GivenUp;
        });
}

void CoordinatorSession::giveUp(std::exception_ptr failure) {
    stepRunning_ = false;
    // Said under the epoch that ends with it.
    for (const std::uint32_t rank : membership_.contributors())
        if (const Peer* peer = members_.byRank(rank))
            say(*peer, Abandon{});
    membership_.abandonStep();
    step_.end();
    inbox_.change([&](InboxState& state) {
        state.step = InboxState::Step::GivenUp;
        state.stepFailure = std::move(failure);
        state.work.clear();
    });
}

void CoordinatorSession::blame(std::uint64_t epoch, std::uint32_t rank, const std::string& why) {
    if (!stepRunning_ || epoch != membership_.epoch())
        return;
    if (const Peer* peer = members_.byRank(rank)) {
        bar(peer->controlId, "its messages do not decode");
        lose(peer->member, "its message does not decode: " + why);
    }
}

void CoordinatorSession::configure(const Configure& order, const std::string& memory,
                                   const engine::ExchangeSetup& setup) {
    const std::uint64_t session = setup_.session;
    setup_ = setup;
    setup_.session = session;
    memory_ = memory;
    step_ = CoordinatorStep(setup_);
    membership_.setParts(isServer() ? setup_.plan.parts().size() : 0);
    for (const auto& peer : members_.all())
        if (peer->active)
            say(*peer, order);
}

void CoordinatorSession::fetch(std::uint32_t rank, const Fetch& what) {
    const Peer* peer = members_.byRank(rank);
    if (peer == nullptr || !peer->active)
        return answer(what.request, std::nullopt);
    request_ = Request{what.request, peer->member, false};
    say(*peer, what);
}

void CoordinatorSession::inspectNext(const Inspect& what) {
    for (const auto& peer : members_.all())
        if (peer->active)
            say(*peer, what);
}

void CoordinatorSession::load(std::uint64_t request, std::uint32_t rank, const SharedBytes& frame) {
    const Peer* peer = members_.byRank(rank);
    if (peer == nullptr || !peer->active)
        return answer(request, std::nullopt);
    request_ = Request{request, peer->member, true};
    say(*peer, Load{request});
    sockets_.sendData(peer->dataId, frame, {});
}

} // namespace gradlab::transport
