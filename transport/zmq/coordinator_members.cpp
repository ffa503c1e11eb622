// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/coordinator_members.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gradlab::transport {
namespace {

double secondsBetween(Peer::Time from, Peer::Time to) {
    return std::chrono::duration<double>(to - from).count();
}

Hello madeSafe(Hello hello) {
    hello.host = shownText(hello.host);
    hello.name = shownText(hello.name);
    if (hello.name.empty())
        hello.name = hello.host + ":" + std::to_string(hello.pid);
    return hello;
}

engine::MemberState stateOf(const Peer& peer, engine::SlotState slot) {
    using engine::MemberState;
    switch (slot) {
    case engine::SlotState::Empty:
    case engine::SlotState::Joining:
        return MemberState::Joining;
    case engine::SlotState::Stalled:
        return MemberState::Stalled;
    case engine::SlotState::Lost:
        return MemberState::Lost;
    case engine::SlotState::Active:
        break;
    }
    if (peer.straggling)
        return MemberState::Straggling;
    return peer.phase == "computing" ? MemberState::Computing : MemberState::Active;
}

engine::ClusterMember rowOf(const Peer& peer, engine::MemberState state, Peer::Time now) {
    engine::ClusterMember row;
    row.rank = peer.rank;
    row.state = state;
    row.name = peer.hello.name;
    row.host = peer.hello.host;
    row.pid = peer.hello.pid;
    row.machine = peer.hello.bootId;
    row.cores = peer.hello.cores;
    row.local = peer.local;
    row.step = peer.step;
    row.stepS = peer.stepS;
    row.bytesUp = peer.bytesUp;
    row.bytesDown = peer.bytesDown;
    row.heardAgoS = secondsBetween(peer.heard, now);
    row.roundTripS = peer.roundTripS;
    return row;
}

} // namespace

std::string Peer::who() const {
    const std::string name = hello.name + " on " + hello.host;
    return rank == engine::kNoRank ? name : "worker " + std::to_string(rank) + " (" + name + ")";
}

Peer& CoordinatorMembers::add(engine::MemberId member, const std::string& controlId,
                              const Hello& hello, Peer::Time now) {
    auto peer = std::make_unique<Peer>();
    peer->member = member;
    peer->controlId = controlId;
    peer->hello = madeSafe(hello);
    peer->heard = now;
    return *peers_.emplace_back(std::move(peer));
}

void CoordinatorMembers::remove(engine::MemberId member) {
    const auto found = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const auto& peer) { return peer->member == member; });
    if (found == peers_.end())
        return;
    std::unique_ptr<Peer> peer = std::move(*found);
    peers_.erase(found);
    if (peer->rank == engine::kNoRank)
        return;
    std::erase_if(gone_, [&](const auto& gone) { return gone->rank == peer->rank; });
    gone_.push_back(std::move(peer));
}

template <class Match>
Peer* CoordinatorMembers::find(Match&& matches) {
    for (const auto& peer : peers_)
        if (matches(*peer))
            return peer.get();
    return nullptr;
}

Peer* CoordinatorMembers::byControl(const std::string& id) {
    return find([&](const Peer& peer) { return peer.controlId == id; });
}
Peer* CoordinatorMembers::byData(const std::string& id) {
    return find([&](const Peer& peer) { return peer.dataId == id; });
}
Peer* CoordinatorMembers::byMember(engine::MemberId member) {
    return find([&](const Peer& peer) { return peer.member == member; });
}
Peer* CoordinatorMembers::byRank(std::uint32_t rank) {
    return find([&](const Peer& peer) { return peer.rank == rank; });
}
Peer* CoordinatorMembers::byName(const std::string& name) {
    return find([&](const Peer& peer) { return peer.hello.name == name; });
}
Peer* CoordinatorMembers::byPid(std::int64_t localPid) {
    return find([&](const Peer& peer) { return peer.local && peer.hello.pid == localPid; });
}

std::int64_t CoordinatorMembers::localPid(std::uint32_t rank) {
    const Peer* peer = byRank(rank);
    if (peer == nullptr)
        for (const auto& gone : gone_)
            if (gone->rank == rank)
                peer = gone.get();
    return peer != nullptr && peer->local ? peer->hello.pid : 0;
}

std::vector<engine::ClusterMember> CoordinatorMembers::rows(const engine::Membership& membership,
                                                            Peer::Time now) {
    std::vector<engine::ClusterMember> rows;
    for (std::uint32_t rank = 0; rank < membership.slotCount(); ++rank) {
        const engine::SlotState slot = membership.slotState(rank);
        if (const Peer* peer = byRank(rank))
            rows.push_back(rowOf(*peer, stateOf(*peer, slot), now));
        else if (slot == engine::SlotState::Lost)
            for (const auto& gone : gone_)
                if (gone->rank == rank)
                    rows.push_back(rowOf(*gone, engine::MemberState::Lost, now));
    }
    for (const auto& peer : peers_)
        if (peer->rank == engine::kNoRank)
            rows.push_back(rowOf(*peer, engine::MemberState::Spare, now));
    return rows;
}

std::string shownText(const std::string& text, std::size_t most) {
    std::string shown;
    for (const char c : text.substr(0, most)) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte < 0x20 || byte == 0x7F ? '?' : c;
    }
    return shown;
}

std::string listed(const std::vector<std::uint32_t>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (i > 0)
            text += i + 1 == ranks.size() ? " and " : ", ";
        text += std::to_string(ranks[i]);
    }
    return text;
}

std::string whatIsLost(const std::string& memory) {
    std::string text = "; ";
    if (memory == "residual")
        text += "its residual memory is lost, ";
    else if (memory == "dgc")
        text += "its momentum and residual are lost, ";
    return text + "its columns rest until somebody takes its place";
}

std::string inSeconds(double seconds) {
    std::array<char, 32> text{};
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed, 1);
    return std::string(text.data(), end.ptr) + " s";
}

} // namespace gradlab::transport
