// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator's side of the protocol (transport/README.md): frames and orders go in; frames,
// and news for the run's thread, come out. The engine's Membership decides, this executes. Leaves
// out: polling (CoordinatorNetwork), the mean (CoordinatorServer).
#pragma once

#include "engine/training/cluster_coordinator.h"
#include "engine/training/membership.h"
#include "transport/zmq/coordinator_inbox.h"
#include "transport/zmq/coordinator_members.h"
#include "transport/zmq/coordinator_options.h"
#include "transport/zmq/coordinator_probe.h"
#include "transport/zmq/coordinator_sockets.h"
#include "transport/zmq/coordinator_step.h"
#include "transport/zmq/local_processes.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace gradlab::transport {

/// The network thread's.
class CoordinatorSession {
public:
    using Time = engine::SteadyTime;

    /// `sockets` and `inbox` outlive it.
    CoordinatorSession(const engine::ClusterSetup& setup, const CoordinatorOptions& options,
                       CoordinatorSockets& sockets, CoordinatorInbox& inbox);

    // — what arrives —
    void receiveControl(const ReceivedBytes& received);
    void receiveData(const ReceivedBytes& received);
    /// Frames that an emulated link has held back until now.
    void deliver(Time now);
    /// Silence, ended processes, stragglers. Several times a second.
    void tick(Time now);
    /// When deliver() has something to do.
    [[nodiscard]] Time nextEvent() const { return step_.nextEvent(); }
    /// After finish(): nothing is left to be waited for.
    [[nodiscard]] bool finished(Time now);
    [[nodiscard]] bool finishing() const noexcept { return finishing_.has_value(); }

    // — orders of the run's thread; answers are in the inbox —
    void openBoundary(std::uint64_t number);
    void giveSnapshot(engine::MemberId member, const SharedBytes& frame);
    void beginStep(std::uint64_t step, bool wantHash);
    void sendMean(std::uint64_t epoch, std::size_t part, const SharedBytes& frame);
    /// The coordinator's own replica holds the mean, and it is fit to be committed.
    void coordinatorHolds(std::uint64_t epoch);
    void abandonStep();
    /// What a verified frame held does not decode: its sender is lost.
    void blame(std::uint64_t epoch, std::uint32_t rank, const std::string& why);
    void configure(const Configure& order, const std::string& memory,
                   const engine::ExchangeSetup& setup);
    void fetch(std::uint32_t rank, const Fetch& what);
    void inspectNext(const Inspect& what);
    void load(std::uint64_t request, std::uint32_t rank, const SharedBytes& frame);
    /// Probe frames of `bytes`, header included, there and back.
    void probe(std::uint64_t request, engine::MemberId member, std::uint32_t frames,
               std::uint64_t bytes);
    // — of any thread —
    void act(std::uint32_t rank, engine::WorkerAction action);
    void startLocalWorker();
    void finish(const std::string& reason);

private:
    /// What was said of a ring's connections during a step.
    struct Cuts {
        std::uint64_t step = 0;
        unsigned count = 0;
        engine::MemberId blamed = 0; ///< who has found a neighbour unreachable
        std::uint64_t epoch = 0;     ///< that is to be exchanged again at `due`
        std::optional<Time> due;
        std::vector<engine::ClusterEvent> broken; ///< told then, unless a loss explains them
    };
    struct Request {
        std::uint64_t number = 0;
        engine::MemberId member = 0;
        bool load = false;
    };

    // joining (coordinator_session.cpp)
    void join(const std::string& controlId, const Hello& hello);
    [[nodiscard]] std::string whyNot(const Hello& hello) const;
    void refuse(const std::string& controlId, const std::string& reason, bool final);
    /// Whatever the peer says from now on: it may not join again.
    void bar(const std::string& controlId, const std::string& why);
    void welcome(Peer& peer, std::uint32_t rank);
    [[nodiscard]] std::uint32_t threadsFor(const Hello& hello) const;
    void dataHello(const std::string& dataId, const FrameHeader& header);
    void advanceBoundary();
    /// A run that starts its workers itself gives places in the order of their names.
    [[nodiscard]] bool gathersItsOwn();
    void listen(Peer& peer, const ReceivedControl& control);
    void heartbeat(Peer& peer, const Heartbeat& beat);
    void loaded(const Peer& peer, std::uint64_t request);
    void snapshot(const Peer& peer, const Frame& frame);
    void publishProbes();
    /// Ends the request at hand; without an answer its worker was lost.
    void answer(std::uint64_t request, std::optional<engine::ByteBuffer> bytes);

    // steps (coordinator_session_step.cpp)
    [[nodiscard]] StepOrder orderFor(std::uint32_t rank);
    void gradient(Peer& peer, const ReceivedBytes& received, const FrameHeader& header);
    void holds(const Peer& peer, const FrameHeader& header);
    void submitHolds();
    void done(Peer& peer, const FrameHeader& header, const Done& message);
    void failed(Peer& peer, const FrameHeader& header, const Failed& message);
    void redo(const engine::MembershipAction& action);
    void committed(const engine::MembershipAction& action);
    void giveUp(std::exception_ptr failure);
    void forgetDone(std::uint32_t rank);
    void endStepIfReported();
    [[nodiscard]] bool isServer() const { return setup_.topology == "server"; }

    // a ring's connections (coordinator_session_ring.cpp)
    void cut(Peer& peer, const FrameHeader& header, const Cut& message);
    void exchangeAgainIfDue(Time now);

    // losses and what is shown (coordinator_session_members.cpp)
    void apply(engine::MembershipActions& actions);
    void execute(const engine::MembershipAction& action);
    void lose(engine::MemberId member, const std::string& why);
    void lost(const engine::MembershipAction& action);
    /// @throws nothing; the fifth one loses the peer
    void broken(Peer& peer, const std::string& what);
    void stop(const std::string& why);
    [[nodiscard]] std::string freeLocalName();
    void reapProcesses();
    /// Of the workers that a run starts itself, before it has begun.
    void failToStart(const std::string& why);
    void dropLateJoiners(Time now);
    void watchStragglers(Time now);
    [[nodiscard]] bool isBehind(const Peer& peer) const;
    void event(const char* kind, const std::string& details, std::uint32_t rank = engine::kNoRank);
    void publish(Time now);

    void say(const Peer& peer, const ControlMessage& message);
    [[nodiscard]] FrameHeader header(std::uint32_t rank) const;

    engine::ExchangeSetup setup_;
    engine::ClusterSettings cluster_;
    std::string memory_; ///< of the compression: residual, dgc, none
    std::uint64_t mostDataBytes_;
    CoordinatorOptions options_;
    CoordinatorSockets& sockets_;
    CoordinatorInbox& inbox_;
    engine::Membership membership_;
    CoordinatorMembers members_;
    CoordinatorStep step_;
    LocalProcesses locals_;
    std::map<std::int64_t, std::string> starting_; ///< local pid → name, until it says hello
    std::map<engine::MemberId, std::string> lossReasons_; ///< of losses that silence did not cause
    std::string lastLoss_;
    std::deque<std::pair<std::string, std::string>> barred_; ///< control id → why, the last ones

    std::uint64_t boundary_ = 0; ///< number of the last one
    bool boundaryOpen_ = false;
    bool waiting_ = false;
    bool gathered_ = false; ///< the first boundary is over
    std::size_t needed_;    ///< active members before a boundary is over
    bool stepRunning_ = false;
    bool coordinatorHolds_ = false;
    std::set<engine::MemberId> held_;
    std::set<std::uint32_t> reporting_; ///< ranks whose done is to come
    std::vector<engine::WorkerReport> reports_;
    std::vector<engine::RankTraffic> linkTraffic_; ///< by rank, of an emulated server's step
    Cuts cuts_;
    Time stepBegun_{};
    double usualStepS_ = 0.0;
    std::optional<Request> request_;
    CoordinatorProbe probe_;
    Time lastTick_{};
    std::optional<Time> finishing_;
};

/// A member that the run's thread gets a frame for: header and snapshot in one.
[[nodiscard]] SharedBytes snapshotFrame(std::uint64_t session, std::uint64_t request,
                                        std::uint32_t rank, engine::ByteView snapshot);
/// The largest data frame that the run can need.
[[nodiscard]] std::uint64_t mostDataBytes(const engine::ClusterSetup& setup);

} // namespace gradlab::transport
