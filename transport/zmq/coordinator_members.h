// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The people behind the members: who sits at which socket, what they last said and did, and how to
// speak of them. Leaves out: who may take part (engine's Membership), sockets.
#pragma once

#include "engine/training/cluster_coordinator.h"
#include "engine/training/membership.h"
#include "transport/zmq/control_message.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gradlab::transport {

/// One process that said hello and was not refused.
struct Peer {
    using Time = engine::SteadyTime;

    engine::MemberId member = 0;
    std::string controlId; ///< routing ids
    std::string dataId;    ///< empty until the data socket has said hello
    Hello hello;           ///< texts made safe to show
    Ready ready;           ///< where its neighbour in a ring sends to
    bool local = false;    ///< this program started it
    std::uint32_t rank = engine::kNoRank;
    bool active = false; ///< contributed or may do so
    Time heard{};
    Time welcomed{};

    std::string phase;
    std::uint64_t progress = 0;
    Time progressed{};
    bool straggling = false;
    unsigned brokenFrames = 0;

    std::uint64_t step = 0;
    Time begun{};
    double stepS = 0.0;
    double bytesUp = 0.0;
    double bytesDown = 0.0;
    double roundTripS = 0.0;

    /// "worker 2 (local-3 on atlas)", or without a rank "local-3 on atlas".
    [[nodiscard]] std::string who() const;
};

/// The network thread's.
class CoordinatorMembers {
public:
    Peer& add(engine::MemberId member, const std::string& controlId, const Hello& hello,
              Peer::Time now);
    /// Its row stays while nobody else takes its place.
    void remove(engine::MemberId member);

    [[nodiscard]] Peer* byControl(const std::string& id);
    [[nodiscard]] Peer* byData(const std::string& id);
    [[nodiscard]] Peer* byMember(engine::MemberId member);
    [[nodiscard]] Peer* byRank(std::uint32_t rank);
    [[nodiscard]] Peer* byName(const std::string& name);
    [[nodiscard]] Peer* byPid(std::int64_t localPid);
    [[nodiscard]] std::vector<std::unique_ptr<Peer>>& all() noexcept { return peers_; }
    /// Pid of the local process that has, or had, the place; 0 if there is none.
    [[nodiscard]] std::int64_t localPid(std::uint32_t rank);
    /// Slots by rank, then spares.
    [[nodiscard]] std::vector<engine::ClusterMember> rows(const engine::Membership& membership,
                                                          Peer::Time now);

private:
    template <class Match>
    [[nodiscard]] Peer* find(Match&& matches);

    std::vector<std::unique_ptr<Peer>> peers_; ///< in order of joining
    std::vector<std::unique_ptr<Peer>> gone_;  ///< the last one lost of each place
};

/// Printable and short, whatever was sent.
[[nodiscard]] std::string shownText(const std::string& text, std::size_t most = 64);
/// "0", "0 and 3", "0, 1 and 3"
[[nodiscard]] std::string listed(const std::vector<std::uint32_t>& ranks);
/// What goes with a lost worker: "; its residual memory is lost and its columns rest until …"
[[nodiscard]] std::string whatIsLost(const std::string& memory);
/// "2.1 s"
[[nodiscard]] std::string inSeconds(double seconds);

} // namespace gradlab::transport
