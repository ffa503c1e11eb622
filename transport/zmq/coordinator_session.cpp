// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Of CoordinatorSession: what arrives, and joining.
#include "transport/zmq/coordinator_session.h"

#include "engine/core/check.h"
#include "engine/core/version.h"
#include "transport/wire_format.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <type_traits>
#include <utility>
#include <variant>

namespace gradlab::transport {
namespace {

using std::chrono::steady_clock;

constexpr std::size_t kMostSpares = 256;
constexpr std::size_t kMostBarred = 256;    ///< remembered
constexpr std::size_t kMostTextBytes = 256; ///< of a hello's endpoint or key

std::int64_t nowNs() {
    return std::chrono::nanoseconds(steady_clock::now().time_since_epoch()).count();
}

engine::MembershipSettings membershipSettings(const engine::ClusterSetup& setup,
                                              const CoordinatorOptions& options) {
    engine::MembershipSettings settings;
    settings.slotCount = setup.exchange.workers;
    settings.parts = setup.exchange.topology == "server" ? setup.exchange.plan.parts().size() : 0;
    if (setup.experiment.cluster.onLoss == "pause")
        settings.onLoss = engine::LossPolicy::Pause;
    else if (setup.experiment.cluster.onLoss == "stop")
        settings.onLoss = engine::LossPolicy::Stop;
    settings.stalledAfter = options.stalledAfter;
    settings.lostAfter = options.lostAfter;
    return settings;
}

} // namespace

std::uint64_t mostDataBytes(const engine::ClusterSetup& setup) {
    constexpr std::uint64_t kUnitBytes = 128;   // descriptor, and a payload's own header
    constexpr std::uint64_t kElementBytes = 12; // an index and an f64
    const std::uint64_t message = engine::kFrameHeaderBytes +
                                  kUnitBytes * setup.exchange.plan.units().size() +
                                  kElementBytes * setup.exchange.plan.size();
    return std::max<std::uint64_t>(message, engine::kFrameHeaderBytes + setup.snapshotBytes);
}

SharedBytes snapshotFrame(std::uint64_t session, std::uint64_t request, std::uint32_t rank,
                          engine::ByteView snapshot) {
    auto frame = std::make_shared<engine::ByteBuffer>(engine::kFrameHeaderBytes + snapshot.size());
    std::copy(snapshot.begin(), snapshot.end(), frame->begin() + engine::kFrameHeaderBytes);
    FrameHeader header;
    header.type = FrameType::Snapshot;
    header.session = session;
    header.step = request;
    header.rank = rank;
    encodeFrame(header, *frame);
    return frame;
}

CoordinatorSession::CoordinatorSession(const engine::ClusterSetup& setup,
                                       const CoordinatorOptions& options,
                                       CoordinatorSockets& sockets, CoordinatorInbox& inbox)
    : setup_(setup.exchange), cluster_(setup.experiment.cluster),
      memory_(setup.experiment.compression.memory), mostDataBytes_(mostDataBytes(setup)),
      options_(options), sockets_(sockets), inbox_(inbox),
      membership_(membershipSettings(setup, options)), step_(setup.exchange),
      locals_(options.workerCommand),
      needed_(
          static_cast<std::size_t>(cluster_.waitFor > 0 ? cluster_.waitFor : cluster_.workers)) {
    lastTick_ = steady_clock::now();
    publish(lastTick_);
}

// — what arrives —

void CoordinatorSession::receiveControl(const ReceivedBytes& received) {
    if (finishing_)
        return;
    Peer* peer = members_.byControl(received.peer);
    try {
        const ReceivedControl control = decodeControl(received.view());
        if (const auto* hello = std::get_if<Hello>(&control.message))
            return join(received.peer, *hello);
        if (peer == nullptr) {
            const auto barred =
                std::find_if(barred_.begin(), barred_.end(),
                             [&](const auto& entry) { return entry.first == received.peer; });
            const bool final = barred != barred_.end();
            return refuse(received.peer, final ? barred->second : "not a member (any more)", final);
        }
        peer->heard = steady_clock::now();
        engine::MembershipActions actions;
        membership_.heard(peer->member, peer->heard, actions);
        apply(actions);
        listen(*peer, control);
    } catch (const engine::ProtocolError& error) {
        if (peer != nullptr)
            broken(*peer, error.what());
    }
}

void CoordinatorSession::listen(Peer& peer, const ReceivedControl& control) {
    const FrameHeader& header = control.header;
    if (const auto* beat = std::get_if<Heartbeat>(&control.message))
        return heartbeat(peer, *beat);
    if (const auto* bye = std::get_if<Bye>(&control.message))
        return lose(peer.member, "it left: " + shownText(bye->reason, 200));
    if (header.session != setup_.session)
        return; // said before it heard that it is no longer what it was
    if (const auto* ready = std::get_if<Ready>(&control.message)) {
        if (ready->ringEndpoint.size() > kMostTextBytes || ready->ringKey.size() > kMostTextBytes)
            throw engine::ProtocolError("its endpoint or key is too long: ready");
        peer.ready = *ready;
        engine::MembershipActions actions;
        membership_.ready(peer.member, actions);
        apply(actions);
        advanceBoundary();
    } else if (std::holds_alternative<Holds>(control.message)) {
        holds(peer, header);
    } else if (const auto* message = std::get_if<Done>(&control.message)) {
        done(peer, header, *message);
    } else if (const auto* failure = std::get_if<Failed>(&control.message)) {
        failed(peer, header, *failure);
    } else if (const auto* broke = std::get_if<Cut>(&control.message)) {
        cut(peer, header, *broke);
    } else if (const auto* answer = std::get_if<Loaded>(&control.message)) {
        loaded(peer, answer->request);
    } else if (const auto* result = std::get_if<ProbeResult>(&control.message)) {
        probe_.result(peer.member, *result, peer.heard);
        publishProbes();
    } else {
        broken(peer, std::string("\"") + kindOf(control.message) + "\" is the coordinator's word");
    }
}

void CoordinatorSession::heartbeat(Peer& peer, const Heartbeat& beat) {
    peer.phase = shownText(beat.phase, 16);
    peer.roundTripS = beat.roundTripS;
    if (beat.progress != peer.progress)
        peer.progressed = peer.heard;
    peer.progress = beat.progress;
    sockets_.trySendControl(
        peer.controlId, encodeControl(header(peer.rank), HeartbeatAnswer{beat.sentNs, nowNs()}));
}

void CoordinatorSession::receiveData(const ReceivedBytes& received) {
    if (finishing_)
        return;
    Peer* peer = members_.byData(received.peer);
    // A stranger may introduce itself; nothing else of it is looked at.
    if (peer == nullptr && received.bytes->size() != engine::kFrameHeaderBytes)
        return;
    try {
        const Frame frame = decodeFrame(received.view());
        if (frame.header.type == FrameType::DataHello)
            return dataHello(received.peer, frame.header);
        if (peer == nullptr)
            return;
        peer->heard = steady_clock::now();
        engine::MembershipActions actions;
        membership_.heard(peer->member, peer->heard, actions);
        apply(actions);
        if (frame.header.type == FrameType::Gradient)
            gradient(*peer, received, frame.header);
        else if (frame.header.type == FrameType::Snapshot)
            snapshot(*peer, frame);
        else if (frame.header.type == FrameType::Probe) {
            probe_.echoed(peer->member, frame.header.step, peer->heard);
            publishProbes();
        } else
            broken(*peer, "a frame of type " + std::to_string(static_cast<int>(frame.header.type)) +
                              " is not for the coordinator: header byte 6");
    } catch (const engine::ProtocolError& error) {
        if (peer != nullptr)
            broken(*peer, error.what());
    }
}

void CoordinatorSession::snapshot(const Peer& peer, const Frame& frame) {
    if (request_ && !request_->load && request_->member == peer.member &&
        request_->number == frame.header.step)
        answer(request_->number, engine::ByteBuffer(frame.body.begin(), frame.body.end()));
}

void CoordinatorSession::loaded(const Peer& peer, std::uint64_t request) {
    if (request_ && request_->load && request_->member == peer.member &&
        request_->number == request)
        answer(request, engine::ByteBuffer());
}

void CoordinatorSession::answer(std::uint64_t request, std::optional<engine::ByteBuffer> bytes) {
    request_.reset();
    inbox_.change([&](InboxState& state) {
        state.answered = request;
        state.answer = std::move(bytes);
    });
}

void CoordinatorSession::probe(std::uint64_t request, engine::MemberId member, std::uint32_t frames,
                               std::uint64_t bytes) {
    const Peer* peer = members_.byMember(member);
    if (peer == nullptr)
        return inbox_.change([&](InboxState& state) { state.probes[request]; });
    auto frame = std::make_shared<engine::ByteBuffer>(bytes, std::byte{0x55});
    FrameHeader as = header(peer->rank);
    as.type = FrameType::Probe;
    as.step = request;
    encodeFrame(as, *frame);
    probe_.sent(request, member, frames, steady_clock::now());
    say(*peer, ProbeOrder{request, frames, bytes, true});
    for (std::uint32_t i = 0; i < frames; ++i)
        sockets_.sendData(peer->dataId, frame, {});
}

void CoordinatorSession::publishProbes() {
    while (const auto finished = probe_.takeFinished())
        inbox_.change(
            [&](InboxState& state) { state.probes[finished->request] = finished->sample; });
}

// — joining —

std::string CoordinatorSession::whyNot(const Hello& hello) const {
    if (hello.version != engine::version())
        return "this run is of version " + std::string(engine::version()) + ", the worker of " +
               shownText(hello.version) + ": hello; run the same version everywhere";
    if (hello.isa != engine::isaLevel())
        return "this run computes with " + std::string(engine::isaLevel()) + ", the worker with " +
               shownText(hello.isa) + ": hello; start it with the same --isa";
    return "";
}

void CoordinatorSession::join(const std::string& controlId, const Hello& hello) {
    const std::string reason = whyNot(hello);
    if (!reason.empty()) {
        event("warning",
              shownText(hello.name) + " on " + shownText(hello.host) + " may not join: " + reason);
        bar(controlId, reason);
        return refuse(controlId, reason, true);
    }
    if (Peer* same = members_.byControl(controlId))
        lose(same->member, "it started over");
    if (membership_.spares() >= kMostSpares)
        return refuse(controlId, "too many wait for a place", false);
    const Time now = steady_clock::now();
    engine::MembershipActions actions;
    Peer& peer = members_.add(0, controlId, hello, now);
    for (const auto& other : members_.all())
        if (other.get() != &peer && other->hello.name == peer.hello.name) {
            const bool itself =
                other->hello.pid == peer.hello.pid && other->hello.bootId == peer.hello.bootId;
            if (!itself)
                bar(other->controlId, "another process has taken its name");
            lose(other->member,
                 itself ? "it connected anew" : "replaced by a process of the same name");
            break;
        }
    peer.member = membership_.join(now, actions);
    peer.local = hello.bootId == bootId() && locals_.runs(hello.pid);
    if (peer.local)
        starting_.erase(hello.pid);
    apply(actions);
    advanceBoundary();
    if (peer.rank == engine::kNoRank && (gathered_ || cluster_.waitFor > 0))
        say(peer, Wait{});
    publish(now);
}

bool CoordinatorSession::gathersItsOwn() {
    if (gathered_ || cluster_.waitFor > 0)
        return false;
    if (membership_.spares() == members_.all().size() && membership_.spares() < needed_)
        return true;
    membership_.sortSpares([this](engine::MemberId a, engine::MemberId b) {
        const std::string& first = members_.byMember(a)->hello.name;
        const std::string& second = members_.byMember(b)->hello.name;
        return first.size() != second.size() ? first.size() < second.size() : first < second;
    });
    return false;
}

void CoordinatorSession::bar(const std::string& controlId, const std::string& why) {
    barred_.emplace_back(controlId, why);
    if (barred_.size() > kMostBarred)
        barred_.pop_front();
}

void CoordinatorSession::refuse(const std::string& controlId, const std::string& reason,
                                bool final) {
    // Session 0: strangers do not learn this run's.
    FrameHeader stranger;
    stranger.rank = engine::kNoRank;
    sockets_.trySendControl(controlId, encodeControl(stranger, Refuse{reason, final}));
}

std::uint32_t CoordinatorSession::threadsFor(const Hello& hello) const {
    const std::int64_t cores = std::clamp<std::int64_t>(hello.cores, 1, 1024);
    const std::int64_t share = hello.bootId == bootId()
                                   ? cluster_.threads / std::max<std::int64_t>(1, cluster_.workers)
                                   : cores;
    return static_cast<std::uint32_t>(std::max<std::int64_t>(1, share));
}

void CoordinatorSession::welcome(Peer& peer, std::uint32_t rank) {
    peer.rank = rank;
    peer.welcomed = steady_clock::now();
    say(peer, Welcome{peer.member, setup_.workers, sockets_.dataPort(), mostDataBytes_,
                      threadsFor(peer.hello), bootId()});
}

void CoordinatorSession::dataHello(const std::string& dataId, const FrameHeader& header) {
    Peer* peer = members_.byMember(header.step);
    if (header.session != setup_.session || peer == nullptr || peer->rank == engine::kNoRank ||
        !peer->dataId.empty())
        return;
    peer->dataId = dataId;
    inbox_.change([&](InboxState& state) {
        state.snapshotsWanted.push_back({peer->member, peer->rank});
    });
}

void CoordinatorSession::giveSnapshot(engine::MemberId member, const SharedBytes& frame) {
    if (const Peer* peer = members_.byMember(member))
        sockets_.sendData(peer->dataId, frame, {});
}

void CoordinatorSession::openBoundary(std::uint64_t number) {
    boundary_ = number;
    boundaryOpen_ = true;
    advanceBoundary();
}

void CoordinatorSession::advanceBoundary() {
    if (!boundaryOpen_ || !reporting_.empty() || stepRunning_)
        return;
    waiting_ = true;
    if (gathersItsOwn())
        return;
    engine::MembershipActions actions;
    membership_.boundary(actions);
    apply(actions);
    std::size_t active = 0;
    bool joining = false;
    for (std::uint32_t rank = 0; rank < membership_.slotCount(); ++rank) {
        const engine::SlotState state = membership_.slotState(rank);
        joining |= state == engine::SlotState::Joining;
        active += state == engine::SlotState::Active || state == engine::SlotState::Stalled;
    }
    waiting_ = active < needed_;
    if (joining || waiting_)
        return;
    boundaryOpen_ = false;
    // Later boundaries wait for somebody only after a pause because nobody was left.
    needed_ = 1;
    gathered_ = true;
    publish(steady_clock::now());
    inbox_.change([&](InboxState& state) { state.boundariesDone = boundary_; });
}

void CoordinatorSession::say(const Peer& peer, const ControlMessage& message) {
    sockets_.sendControl(peer.controlId, encodeControl(header(peer.rank), message));
}

FrameHeader CoordinatorSession::header(std::uint32_t rank) const {
    FrameHeader header;
    header.session = setup_.session;
    header.epoch = membership_.epoch();
    header.step = membership_.step();
    header.rank = rank;
    return header;
}

} // namespace gradlab::transport
