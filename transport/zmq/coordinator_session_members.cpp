// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Of CoordinatorSession: what Membership decides is executed, losses are told, local processes and
// stragglers watched, the cluster shown.
#include "transport/zmq/coordinator_session.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace gradlab::transport {

using engine::MembershipAction;
using Kind = engine::MembershipAction::Kind;
using std::chrono::steady_clock;

namespace {

constexpr unsigned kMostBrokenFrames = 5;
constexpr std::chrono::milliseconds kLeaveWithin{1000}; ///< at the end; then local ones are killed
constexpr std::chrono::milliseconds kLinger{500};
constexpr std::chrono::milliseconds kReadWithin{100};
constexpr double kStragglerSteps = 4.0;

double secondsBetween(engine::SteadyTime from, engine::SteadyTime to) {
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

void CoordinatorSession::apply(engine::MembershipActions& actions) {
    for (const MembershipAction& action : actions)
        execute(action);
    actions.clear();
}

void CoordinatorSession::execute(const MembershipAction& action) {
    Peer* peer = members_.byMember(action.member);
    switch (action.kind) {
    case Kind::Wait:
        break; // said if it does not get a place at once
    case Kind::Welcome:
        welcome(*peer, action.rank);
        break;
    case Kind::Activate:
        peer->active = true;
        event("worker_joined",
              peer->who() + " takes part from now on, process " + std::to_string(peer->hello.pid),
              action.rank);
        break;
    case Kind::Refuse:
        break; // whoever is no member is answered before Membership hears of it
    case Kind::Stalled:
        event("worker_stalled",
              peer->who() + " has been silent for " +
                  inSeconds(secondsBetween(peer->heard, steady_clock::now())),
              action.rank);
        break;
    case Kind::Recovered:
        event("worker_recovered", peer->who() + " is heard again; nothing was lost", action.rank);
        break;
    case Kind::Lost:
        lost(action);
        break;
    case Kind::Abort:
        redo(action);
        break;
    case Kind::Complete:
        submitHolds();
        break;
    case Kind::Commit:
        committed(action);
        break;
    case Kind::Pause:
        inbox_.change([](InboxState& state) { state.pauseRequested = true; });
        if (stepRunning_ && membership_.phase() == engine::StepPhase::Idle)
            giveUp(std::make_exception_ptr(
                engine::TransportError("every worker is lost: " + lastLoss_)));
        break;
    case Kind::Stop:
        stop(cluster_.onLoss == "stop" ? "a worker is lost, and on_loss is stop"
                                       : "no worker is left");
        break;
    }
}

void CoordinatorSession::lose(engine::MemberId member, const std::string& why) {
    lossReasons_[member] = why;
    engine::MembershipActions actions;
    membership_.leave(member, actions);
    apply(actions);
    lossReasons_.erase(member);
    advanceBoundary();
    publish(steady_clock::now());
}

void CoordinatorSession::lost(const MembershipAction& action) {
    const Peer* peer = members_.byMember(action.member);
    if (peer == nullptr)
        return;
    const auto reason = lossReasons_.find(action.member);
    const std::string why =
        reason != lossReasons_.end()
            ? reason->second
            : "silent for " + inSeconds(secondsBetween(peer->heard, steady_clock::now()));
    lastLoss_ = peer->who() + ": " + why;
    if (peer->active)
        event("worker_lost", peer->who() + " is lost: " + why + whatIsLost(memory_), action.rank);
    else
        event("worker_lost", peer->who() + " is gone before it took part: " + why, action.rank);
    const std::uint32_t rank = peer->rank;
    if (request_ && request_->member == action.member)
        answer(request_->number, std::nullopt);
    for (const std::uint64_t request : probe_.lose(action.member))
        inbox_.change([request](InboxState& state) { state.probes[request]; });
    held_.erase(action.member);
    sockets_.forget(peer->controlId);
    sockets_.forget(peer->dataId);
    members_.remove(action.member);
    if (rank != engine::kNoRank)
        forgetDone(rank);
}

void CoordinatorSession::broken(Peer& peer, const std::string& what) {
    if (++peer.brokenFrames == 1)
        event("warning", peer.who() + " sent a frame that breaks the format: " + what, peer.rank);
    if (peer.brokenFrames < kMostBrokenFrames)
        return;
    const std::string why = "its frames break the format";
    bar(peer.controlId, why);
    refuse(peer.controlId, why, true);
    lose(peer.member, "five broken frames, the last one: " + what);
}

void CoordinatorSession::stop(const std::string& why) {
    const std::string message = why + (lastLoss_.empty() ? "" : ": " + lastLoss_) +
                                "; start workers again and resume from the last checkpoint";
    if (stepRunning_)
        giveUp(std::make_exception_ptr(engine::TransportError(message)));
    inbox_.change([&](InboxState& state) { state.stopped = message; });
}

void CoordinatorSession::tick(Time now) {
    // Whoever slept (a suspended computer) cannot say that the others were silent meanwhile.
    const bool slept = now - lastTick_ >= options_.lostAfter / 2;
    lastTick_ = now;
    engine::MembershipActions actions;
    if (slept)
        for (const auto& peer : members_.all()) {
            peer->heard = now;
            membership_.heard(peer->member, now, actions);
        }
    membership_.tick(now, actions);
    apply(actions);
    reapProcesses();
    dropLateJoiners(now);
    exchangeAgainIfDue(now);
    watchStragglers(now);
    advanceBoundary();
    sockets_.flush();
    publish(now);
}

void CoordinatorSession::reapProcesses() {
    for (const EndedProcess& process : locals_.reap()) {
        const std::string what = process.name + " ended, " + process.how;
        if (const Peer* peer = members_.byPid(process.pid))
            lose(peer->member, "its process ended, " + process.how);
        else if (starting_.erase(process.pid) > 0)
            event("warning", "the local worker " + what + ", before it joined");
        if (!gathered_)
            failToStart("a worker cannot be started: " + what +
                        "; run gradlab-cli worker --connect to see why");
    }
}

void CoordinatorSession::failToStart(const std::string& why) {
    if (cluster_.waitFor == 0) // else others may come
        inbox_.change([&](InboxState& state) { state.stopped = why; });
}

void CoordinatorSession::dropLateJoiners(Time now) {
    std::vector<engine::MemberId> late;
    for (const auto& peer : members_.all())
        if (peer->rank != engine::kNoRank && !peer->active &&
            now - peer->welcomed >= options_.readyWithin)
            late.push_back(peer->member);
    for (const engine::MemberId member : late)
        lose(member, "it did not load its snapshot in time");
}

bool CoordinatorSession::isBehind(const Peer& peer) const {
    if (reporting_.contains(peer.rank))
        return true;
    const auto& contributors = membership_.contributors();
    if (!stepRunning_ || !std::binary_search(contributors.begin(), contributors.end(), peer.rank))
        return false;
    // Who has sent everything waits for others, and so does a ring's worker that has computed.
    if (isServer())
        return membership_.phase() == engine::StepPhase::Collecting ? !step_.isComplete(peer.rank)
                                                                    : !held_.contains(peer.member);
    return peer.phase == "computing";
}

void CoordinatorSession::watchStragglers(Time now) {
    const double limit =
        std::max(secondsBetween({}, Time(options_.stragglesAfter)), kStragglerSteps * usualStepS_);
    std::vector<engine::MemberId> dropped;
    for (const auto& peer : members_.all()) {
        const double idle = secondsBetween(peer->progressed, now);
        const bool behind = peer->active && isBehind(*peer) && idle >= limit;
        if (behind && !peer->straggling) {
            event("worker_straggling",
                  peer->who() + " has made no progress for " + inSeconds(idle) +
                      (cluster_.onStraggler == "drop" ? "; it is dropped" : "; the others wait"),
                  peer->rank);
            if (cluster_.onStraggler == "drop")
                dropped.push_back(peer->member);
        }
        peer->straggling = behind;
    }
    for (const engine::MemberId member : dropped)
        lose(member, "no progress for " + inSeconds(limit) + ", and on_straggler is drop");
}

void CoordinatorSession::act(std::uint32_t rank, engine::WorkerAction action) {
    const std::int64_t pid = members_.localPid(rank);
    switch (action) {
    case engine::WorkerAction::Freeze:
        return locals_.freeze(pid);
    case engine::WorkerAction::Thaw:
        return locals_.thaw(pid);
    case engine::WorkerAction::Kill:
        return locals_.kill(pid);
    case engine::WorkerAction::Leave:
        if (const Peer* peer = members_.byRank(rank))
            say(*peer, Finish{"the coordinator asked it to leave"});
        break;
    }
}

std::string CoordinatorSession::freeLocalName() {
    // As keygen names them, so that the cluster file has a key for each.
    for (std::size_t i = 0;; ++i) {
        std::string name = "worker-" + std::to_string(i);
        if (!locals_.runs(name) && members_.byName(name) == nullptr)
            return name;
    }
}

void CoordinatorSession::startLocalWorker() {
    const std::string name = freeLocalName();
    std::vector<std::string> arguments = {
        "worker", "--connect",    sockets_.localEndpoint(),  "--name",
        name,     "--parent-pid", std::to_string(::getpid())};
    if (!cluster_.keys.empty())
        arguments.insert(arguments.end(), {"--keys", cluster_.keys});
    try {
        starting_[locals_.start(name, arguments)] = name;
    } catch (const engine::TransportError& error) {
        event("warning", error.what());
        if (!gathered_)
            failToStart(error.what());
    }
    publish(steady_clock::now());
}

void CoordinatorSession::finish(const std::string& reason) {
    finishing_ = steady_clock::now();
    sockets_.lingerFor(kLinger);
    for (const auto& peer : members_.all())
        say(*peer, Finish{reason});
}

bool CoordinatorSession::finished(Time now) {
    if (!finishing_)
        return false;
    (void)locals_.reap();
    if (now - *finishing_ >= kLeaveWithin)
        locals_.killAll();
    // Somebody who has not read its last message when the connection ends never will.
    return locals_.running() == 0 && now - *finishing_ >= kReadWithin;
}

void CoordinatorSession::event(const char* kind, const std::string& details, std::uint32_t rank) {
    engine::ClusterEvent happened{kind, details, membership_.step(), rank};
    inbox_.with([&](InboxState& state) { state.events.push_back(std::move(happened)); });
}

void CoordinatorSession::publish(Time now) {
    engine::ClusterView view;
    view.endpoint = sockets_.endpoint();
    view.secure = !cluster_.keys.empty();
    view.epoch = membership_.epoch();
    view.wanted = membership_.slotCount();
    view.waiting = boundaryOpen_ && waiting_;
    view.members = members_.rows(membership_, now);
    for (engine::ClusterMember& row : view.members)
        row.suspended = row.local && locals_.isFrozen(row.pid);
    for (const auto& [pid, name] : starting_) {
        engine::ClusterMember row;
        row.rank = engine::kNoRank;
        row.name = name;
        row.pid = pid;
        row.local = true;
        row.suspended = locals_.isFrozen(pid);
        view.members.push_back(std::move(row));
    }
    std::vector<std::uint32_t> active;
    for (std::uint32_t rank = 0; rank < membership_.slotCount(); ++rank)
        if (const engine::SlotState state = membership_.slotState(rank);
            state == engine::SlotState::Active || state == engine::SlotState::Stalled)
            active.push_back(rank);
    view.active = active.size();
    inbox_.with([&](InboxState& state) {
        state.view = std::move(view);
        state.active = std::move(active);
    });
}

} // namespace gradlab::transport
