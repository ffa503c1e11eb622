// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_step.h"

#include "engine/core/errors.h"
#include "transport/wire_format.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace gradlab::transport {
namespace {

/// Of a ring, besides those of the current round.
constexpr std::size_t kEarlyRounds = 4;

} // namespace

WorkerStep::WorkerStep(WorkerBoard& board, WorkerSockets& sockets, const WorkerClock& clock)
    : board_(board), state_(board, sockets, clock) {}

void WorkerStep::join(std::uint64_t session, std::uint32_t rank) noexcept {
    state_.session = session;
    rank_ = rank;
}

Order WorkerStep::begin(const ReceivedControl& order) {
    if (phase_ != State::Idle || !route_)
        throw engine::ProtocolError("order refused: step " + std::to_string(order.header.step) +
                                    " is begun before step " + std::to_string(state_.step) +
                                    " is over: begin");
    state_.step = order.header.step;
    follow(order.header.epoch, std::get<Begin>(order.message).order);
    Order given{order.header, order.message, {}, ++ticket_, std::stop_source()};
    phase_ = State::Ordered;
    state_.traffic.beginStep();
    state_.outcome = {};
    board_.beginStep(ticket_, state_.epoch, given.stop);
    return given;
}

void WorkerStep::follow(std::uint64_t epoch, const StepOrder& order) {
    const auto& ranks = order.contributors;
    const bool ascending =
        std::adjacent_find(ranks.begin(), ranks.end(), std::greater_equal<>()) == ranks.end();
    if (!ascending || !std::binary_search(ranks.begin(), ranks.end(), rank_))
        throw engine::ProtocolError("order refused: not a list of ranks with " +
                                    std::to_string(rank_) + " among them: contributors");
    state_.epoch = epoch;
    state_.ranks = ranks;
    state_.position = state_.positionOf(rank_);
    if (usesRing() && ranks.size() > 1)
        state_.sockets.connectNext(order.nextEndpoint, order.nextKey);
}

void WorkerStep::abort(const FrameHeader& header, const StepOrder& order) {
    if (phase_ == State::Idle || header.step != state_.step || header.epoch <= state_.epoch)
        return;
    // The compute thread may be looking at the mean: it is not changed under its eyes.
    if (phase_ == State::Complete)
        redo_ = Redo{header.epoch, order};
    else
        redo(header.epoch, order);
}

void WorkerStep::redo(std::uint64_t epoch, const StepOrder& order) {
    redo_.reset();
    follow(epoch, order);
    board_.restart(epoch);
    if (phase_ == State::Ordered)
        return;
    phase_ = State::Open;
    for (std::size_t part = 0; part < state_.parts(); ++part)
        if (state_.has(part))
            reframe(part);
    startRound();
}

void WorkerStep::reframe(std::size_t part) {
    if (state_.setup.denseRing)
        return; // these messages do not travel
    // Anew, because ZeroMQ may still be reading the other one.
    engine::ByteBuffer copy = state_.pool->take(part);
    copy.assign(state_.own[part]->begin(), state_.own[part]->end());
    encodeFrame(state_.header(FrameType::Gradient, rank_, part), copy);
    state_.own[part] = state_.pool->share(part, std::move(copy));
}

void WorkerStep::startRound() {
    state_.traffic.beginRound(state_.contributors());
    route_->begin();
    const double now = state_.traffic.now();
    guarded([&] {
        for (std::size_t part = 0; part < state_.parts(); ++part)
            if (state_.has(part))
                route_->handOver(part, now);
    });
    replayEarly();
}

void WorkerStep::commit(const FrameHeader& header) {
    if (phase_ != State::Voted || header.step != state_.step || header.epoch != state_.epoch)
        return;
    engine::ExchangeOutcome outcome = state_.outcome;
    outcome.contributors = state_.ranks;
    outcome.traffic = {state_.traffic.result()};
    outcome.everyoneHandedOver = outcome.traffic.front().lastHandOver;
    outcome.membershipEpoch = state_.epoch;
    rest();
    board_.committed(std::move(outcome));
}

void WorkerStep::abandon(const FrameHeader& header) {
    if (phase_ == State::Idle || header.step != state_.step)
        return;
    rest();
    board_.givenUp();
}

void WorkerStep::rest() {
    phase_ = State::Idle;
    redo_.reset();
    state_.replica = nullptr;
    std::fill(state_.own.begin(), state_.own.end(), nullptr);
}

void WorkerStep::configure(const engine::ExchangeSetup& setup, std::shared_ptr<BufferPool> pool) {
    route_.reset();
    state_.setup = setup;
    state_.setup.session = state_.session;
    state_.pool = std::move(pool);
    state_.own.assign(state_.parts(), nullptr);
    state_.traffic.setLink(setup.link, setup.topology == "server");
    route_ = makeWorkerRoute(state_);
}

void WorkerStep::open(const PostOpen& post) {
    if (post.ticket != ticket_ || phase_ != State::Ordered)
        return;
    state_.replica = post.replica;
    phase_ = State::Open;
    startRound();
}

void WorkerStep::handOver(const PostPart& part) {
    if (part.ticket != ticket_ || phase_ != State::Open || state_.has(part.part))
        return;
    state_.own[part.part] = part.bytes;
    if (part.epoch != state_.epoch)
        reframe(part.part);
    const double when = state_.traffic.secondsOf(part.when);
    state_.traffic.handedOver(part.bytes->size(), when);
    guarded([&] { route_->handOver(part.part, when); });
}

bool WorkerStep::vote(const PostVote& vote) {
    if (vote.ticket != ticket_ || phase_ != State::Complete)
        return false;
    if (redo_) {
        const Redo again = *std::exchange(redo_, std::nullopt);
        redo(again.epoch, again.order);
        return false;
    }
    phase_ = State::Voted;
    return true;
}

void WorkerStep::close(const PostClose& post) {
    if (post.ticket == ticket_)
        rest();
    board_.closed(post.ticket);
}

bool WorkerStep::isAhead(const FrameHeader& header) const noexcept {
    if (header.epoch != state_.epoch)
        return header.epoch > state_.epoch;
    return header.step > state_.step || (header.step == state_.step && phase_ == State::Ordered);
}

std::size_t WorkerStep::mostEarly() const noexcept {
    return kEarlyRounds * state_.setup.workers * state_.parts();
}

bool WorkerStep::receive(const Frame& frame, const ReceivedBytes& received) {
    if (frame.header.session != state_.session || !route_)
        return false;
    return take({frame.header, frame.body, received.bytes, received.readyNs,
                 std::chrono::steady_clock::now()});
}

bool WorkerStep::take(WorkerFrame frame) {
    const FrameHeader& header = frame.header;
    if (isAhead(header)) {
        if (early_.size() >= mostEarly())
            return false;
        early_.push_back(std::move(frame));
        return true;
    }
    if (phase_ != State::Open || header.epoch != state_.epoch || header.step != state_.step ||
        header.part >= state_.parts() || !route_->accept(header))
        return false;
    state_.traffic.hold(std::move(frame));
    deliver();
    return true;
}

void WorkerStep::replayEarly() {
    std::deque<WorkerFrame> early = std::exchange(early_, {});
    for (WorkerFrame& frame : early)
        take(std::move(frame));
}

void WorkerStep::deliver() {
    while (phase_ == State::Open) {
        auto arrival = state_.traffic.next();
        if (!arrival)
            return;
        guarded([&] { route_->arrive(arrival->frame, arrival->when); });
    }
}

engine::SteadyTime WorkerStep::nextTime() const {
    return phase_ == State::Open ? state_.traffic.nextTime() : engine::SteadyTime::max();
}

template <class Work>
void WorkerStep::guarded(Work work) {
    try {
        work();
    } catch (const engine::Error&) {
        phase_ = State::Broken;
        board_.fail(std::current_exception());
        return;
    }
    if (phase_ == State::Open && route_->done()) {
        phase_ = State::Complete;
        board_.meanComplete();
    }
}

} // namespace gradlab::transport
