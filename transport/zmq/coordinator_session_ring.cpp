// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Of CoordinatorSession: connections between a ring's workers that break while everybody lives.
// What was under way is gone then, so the step is exchanged again; who cannot be reached is lost.
#include "transport/zmq/coordinator_session.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace gradlab::transport {
namespace {

using std::chrono::steady_clock;

/// A neighbour that has ended cuts its connections too: first it may be told so.
constexpr std::chrono::milliseconds kSettle{300};
constexpr unsigned kMostCuts = 5; ///< in one step

} // namespace

void CoordinatorSession::cut(Peer& peer, const FrameHeader& header, const Cut& message) {
    const auto& ring = membership_.contributors();
    const auto place = std::find(ring.begin(), ring.end(), peer.rank);
    if (!stepRunning_ || isServer() || header.epoch != membership_.epoch() ||
        header.step != membership_.step() || place == ring.end() || ring.size() < 2)
        return; // it does not matter any more
    const Peer& next = *members_.byRank(place + 1 == ring.end() ? ring.front() : place[1]);
    if (cuts_.step != header.step) {
        cuts_ = {};
        cuts_.step = header.step;
    }
    if (message.unreachable || ++cuts_.count > kMostCuts) {
        // Whoever finds a second one unreachable is cut off itself.
        const bool itself = cuts_.blamed == peer.member;
        cuts_.blamed = peer.member;
        const std::string why = peer.who() + " cannot send to " + next.who() + " at " +
                                shownText(next.ready.ringEndpoint);
        return lose(itself ? peer.member : next.member, why);
    }
    cuts_.broken.push_back({"warning",
                            "the connection from " + peer.who() + " to " + next.who() +
                                " broke: what was under way is lost",
                            header.step, peer.rank});
    cuts_.epoch = header.epoch;
    cuts_.due = steady_clock::now() + kSettle;
}

void CoordinatorSession::exchangeAgainIfDue(Time now) {
    if (!cuts_.due || now < *cuts_.due)
        return;
    cuts_.due.reset();
    const std::vector<engine::ClusterEvent> broken = std::exchange(cuts_.broken, {});
    if (!stepRunning_ || cuts_.epoch != membership_.epoch())
        return; // a loss has led to that already, and said why
    for (const engine::ClusterEvent& one : broken)
        event(one.event.c_str(), one.details, one.rank);
    engine::MembershipActions actions;
    membership_.exchangeAgain(actions);
    apply(actions);
}

} // namespace gradlab::transport
