// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_network.h"

#include "engine/core/errors.h"
#include "transport/wire_format.h"
#include "transport/zmq/prompt_thread.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace gradlab::transport {
namespace {

constexpr int kFramesARound = 16; ///< then heartbeats have their turn
constexpr int kMostBroken = 5;
constexpr std::chrono::milliseconds kUnreachableAfter{2000}; ///< the neighbour, while it is needed
constexpr std::chrono::milliseconds kFarewell{500};
/// A round that took longer was one in which the process slept: no reason to call others silent.
constexpr int kLongestRound = 2; // heartbeats

} // namespace

WorkerNetwork::WorkerNetwork(WorkerBoard& board, WorkerClock& clock,
                             std::unique_ptr<WorkerSockets> sockets, WorkerNetworkSettings settings)
    : board_(board), clock_(clock), settings_(std::move(settings)), sockets_(std::move(sockets)),
      step_(board, *sockets_, clock), nextHeartbeat_(Clock::now()), lastRound_(nextHeartbeat_),
      thread_([this] { run(); }) {}

WorkerNetwork::~WorkerNetwork() {
    board_.post(PostLeave{"the worker ends"});
    thread_.join();
}

void WorkerNetwork::run() {
    becomePrompt();
    try {
        sayHello();
        while (!end_)
            round();
    } catch (...) {
        end_ = SessionEnd{SessionEnd::Kind::Failed, "", std::current_exception(), {}, member_};
    }
    // From here on nothing of a step is touched any more.
    board_.finish(std::move(*end_));
    sockets_->lingerFor(kFarewell);
    sockets_.reset();
}

void WorkerNetwork::end(SessionEnd::Kind kind, const std::string& reason) {
    if (!end_)
        end_ = SessionEnd{kind, reason, nullptr, lastHeard_, member_};
}

void WorkerNetwork::round() {
    sockets_->wait(board_.wakeup(), std::min(nextHeartbeat_, step_.nextTime()));
    board_.wakeup().drain();
    takePosts();
    receiveControl();
    receiveFrames();
    step_.deliver();
    sockets_->flush();
    sayReadyIfListening();
    tick();
}

void WorkerNetwork::tick() {
    const auto now = Clock::now();
    const Clock::duration most = kLongestRound * settings_.heartbeatEvery;
    const auto awake = std::min<Clock::duration>(now - std::exchange(lastRound_, now), most);
    silence_ += awake;
    watchNeighbour(awake);
    if (silence_ >= settings_.lostAfter)
        end(SessionEnd::Kind::Lost, "the coordinator is silent");
    if (sockets_->lostData())
        end(SessionEnd::Kind::Lost, "the connection to the coordinator broke");
    if (settings_.parentPid != 0 && ::getppid() != settings_.parentPid)
        end(SessionEnd::Kind::Orphaned, "the program that started this worker is gone");
    if (now < nextHeartbeat_)
        return;
    nextHeartbeat_ = now + settings_.heartbeatEvery;
    heartbeat();
}

void WorkerNetwork::watchNeighbour(Clock::duration awake) {
    const WorkerSockets::NextLine line = sockets_->lookAtNext();
    if (!step_.exchangesInRing() || line.connected)
        unreachable_ = {};
    else
        unreachable_ += awake;
    if (!step_.exchangesInRing())
        return;
    if (line.broke)
        say(Cut{false}, step_.step());
    if (unreachable_ < kUnreachableAfter)
        return;
    unreachable_ = {};
    say(Cut{true}, step_.step());
}

void WorkerNetwork::say(const ControlMessage& message, std::uint64_t step) {
    FrameHeader header;
    header.session = session_;
    header.epoch = step_.epoch();
    header.step = step;
    header.rank = rank_;
    sockets_->sendControl(encodeControl(header, message));
}

void WorkerNetwork::sayHello() {
    say(settings_.hello, 0);
}

void WorkerNetwork::heartbeat() {
    FrameHeader header;
    header.session = session_;
    header.epoch = step_.epoch();
    header.step = step_.step();
    header.rank = rank_;
    const Heartbeat beat{steadyNs(), toString(board_.phase()), board_.progress(),
                         clock_.roundTripS()};
    sockets_->trySendControl(encodeControl(header, beat));
}

// — what the compute thread posts —

void WorkerNetwork::takePosts() {
    for (Post& post : board_.takePosts())
        std::visit([this](auto& one) { handle(one); }, post);
}

void WorkerNetwork::handle(PostSetup& post) {
    const bool hadRing = step_.usesRing();
    step_.configure(post.setup, std::move(post.pool));
    const auto parts = static_cast<int>(post.setup.plan.parts().size());
    constexpr int kRoom = 8;
    if (!step_.usesRing())
        sockets_->closeRing();
    else if (!hadRing)
        sockets_->openRing(2 * parts + kRoom, mostDataBytes_);
}

void WorkerNetwork::handle(PostVote& post) {
    if (step_.vote(post))
        say(Holds{}, step_.step());
}

void WorkerNetwork::handle(PostControl& post) {
    if (std::holds_alternative<Ready>(post.message))
        readyPending_ = true;
    else
        say(post.message, post.step);
}

// Others may send to this worker's ring as soon as they know of it.
void WorkerNetwork::sayReadyIfListening() {
    if (!readyPending_ || (step_.usesRing() && sockets_->ringEndpoint().empty()))
        return;
    readyPending_ = false;
    say(Ready{sockets_->ringEndpoint(), sockets_->ringKey()}, 0);
}

void WorkerNetwork::handle(PostSnapshot& post) {
    FrameHeader header;
    header.type = FrameType::Snapshot;
    header.session = session_;
    header.epoch = step_.epoch();
    header.step = post.request;
    header.rank = rank_;
    encodeFrame(header, *post.frame);
    sockets_->sendData(shareBytes(post.frame));
}

void WorkerNetwork::handle(PostLeave& post) {
    if (end_)
        return;
    say(Bye{post.reason}, step_.step());
    end(SessionEnd::Kind::Left, post.reason);
}

// — what the coordinator says —

void WorkerNetwork::receiveControl() {
    while (!end_) {
        const auto received = sockets_->receiveControl();
        if (!received)
            return;
        silence_ = {};
        lastHeard_ = Clock::now();
        std::optional<ReceivedControl> message;
        try {
            message = decodeControl(received->view());
        } catch (const engine::ProtocolError& error) {
            // Another version of the program, most likely: it says which.
            if (!member_)
                return end(SessionEnd::Kind::Refused, error.what());
            broken("the coordinator", error.what());
            continue;
        }
        try {
            takeOrder(*message);
        } catch (const engine::ProtocolError& error) {
            end(SessionEnd::Kind::Lost, error.what());
        }
    }
}

void WorkerNetwork::takeOrder(const ReceivedControl& received) {
    const FrameHeader& header = received.header;
    const ControlMessage& message = received.message;
    if (const auto* answer = std::get_if<HeartbeatAnswer>(&message))
        return clock_.answered(answer->echoNs, answer->coordinatorNs, steadyNs());
    if (const auto* refuse = std::get_if<Refuse>(&message))
        return refused(*refuse);
    if (std::holds_alternative<Finish>(message))
        return end(SessionEnd::Kind::Finished, std::get<Finish>(message).reason);
    if (std::holds_alternative<Wait>(message))
        return settings_.notice("no place is free: waiting as a spare");
    if (std::holds_alternative<Welcome>(message))
        return welcome(received);
    if (!member_ || header.session != session_)
        return; // of another stay
    if (std::holds_alternative<Begin>(message))
        board_.give(step_.begin(received));
    else if (const auto* abort = std::get_if<Abort>(&message))
        step_.abort(header, abort->order);
    else if (std::holds_alternative<Commit>(message))
        step_.commit(header);
    else if (std::holds_alternative<Abandon>(message))
        step_.abandon(header);
    else if (const auto* probe = std::get_if<ProbeOrder>(&message))
        probe_.order(*probe);
    else if (std::holds_alternative<Load>(message)) {
        awaiting_ = received;
        giveIfComplete();
    } else if (std::holds_alternative<Configure>(message) ||
               std::holds_alternative<Fetch>(message) || std::holds_alternative<Inspect>(message))
        board_.give({header, message, {}, 0, std::stop_source(std::nostopstate)});
    else
        throw engine::ProtocolError(std::string("control message refused: a coordinator does not "
                                                "say ") +
                                    kindOf(message) + ": field kind");
    if (const auto result = probe_.takeResult(*sockets_))
        say(*result, header.step);
}

void WorkerNetwork::welcome(const ReceivedControl& received) {
    const auto& message = std::get<Welcome>(received.message);
    if (member_)
        throw engine::ProtocolError("control message refused: a second welcome: field kind");
    member_ = true;
    session_ = received.header.session;
    rank_ = received.header.rank;
    mostDataBytes_ = message.mostDataBytes;
    step_.join(session_, rank_);
    if (!message.bootId.empty() && message.bootId == settings_.hello.bootId)
        clock_.shareClock();
    sockets_->connectData(message.dataPort, message.mostDataBytes);
    FrameHeader header;
    header.type = FrameType::DataHello;
    header.session = session_;
    header.step = message.member;
    header.rank = rank_;
    engine::ByteBuffer frame(engine::kFrameHeaderBytes);
    encodeFrame(header, frame);
    sockets_->sendData(zmq::message_t(frame.data(), frame.size()));
    awaiting_ = received;
    giveIfComplete();
}

void WorkerNetwork::refused(const Refuse& refuse) {
    end(refuse.final ? SessionEnd::Kind::Refused : SessionEnd::Kind::Lost, refuse.reason);
}

// — frames —

void WorkerNetwork::receiveFrames() {
    for (int i = 0; i < kFramesARound && !end_; ++i) {
        const auto data = sockets_->receiveData();
        if (data)
            takeFrame(*data, false);
        const auto ring = sockets_->receiveRing();
        if (ring)
            takeFrame(*ring, true);
        if (!data && !ring)
            return;
    }
    board_.wakeup().signal(); // there may be more
}

void WorkerNetwork::takeFrame(const ReceivedBytes& received, bool fromRing) {
    try {
        const Frame frame = decodeFrame(received.view());
        if (frame.header.session != session_)
            return;
        if (fromRing != step_.usesRing() && frame.header.type < FrameType::Control)
            return;
        if (fromRing || frame.header.type < FrameType::Control)
            step_.receive(frame, received);
        else if (frame.header.type == FrameType::Snapshot)
            takeSnapshot(frame);
        else if (frame.header.type == FrameType::Probe)
            probe_.receive(frame.header, received);
    } catch (const engine::ProtocolError& error) {
        return broken(fromRing ? "a neighbour" : "the coordinator", error.what());
    }
    if (const auto result = probe_.takeResult(*sockets_))
        say(*result, step_.step());
}

void WorkerNetwork::takeSnapshot(const Frame& frame) {
    // Copied: a document wants to begin at an aligned address.
    snapshot_.emplace(frame.header.step, engine::ByteBuffer(frame.body.begin(), frame.body.end()));
    giveIfComplete();
}

void WorkerNetwork::giveIfComplete() {
    if (!awaiting_ || !snapshot_)
        return;
    const auto* load = std::get_if<Load>(&awaiting_->message);
    if (snapshot_->first != (load != nullptr ? load->request : 0))
        return;
    board_.give({awaiting_->header, awaiting_->message, std::move(snapshot_->second), 0,
                 std::stop_source(std::nostopstate)});
    awaiting_.reset();
    snapshot_.reset();
}

void WorkerNetwork::broken(const std::string& where, const std::string& what) {
    if (brokenFrames_++ == 0)
        settings_.notice("dropped what " + where + " sent: " + what);
    if (where == "the coordinator" && brokenFrames_ >= kMostBroken)
        end(SessionEnd::Kind::Lost, what);
}

} // namespace gradlab::transport
