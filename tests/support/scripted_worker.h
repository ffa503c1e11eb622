// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker that is only its protocol: two plain sockets that say what a test wants, and by default
// what a good worker would. No thread of its own: pump() does what is to be done.
#pragma once

#include "engine/core/version.h"
#include "tests/support/gradient_bodies.h"
#include "transport/wire_format.h"
#include "transport/zmq/control_message.h"
#include "transport/zmq/sockets.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gradlab::test {

using transport::ControlMessage;
using transport::FrameHeader;
using transport::FrameType;

/// What it does by itself; a test turns off what it does by hand, or leaves out.
struct Manners {
    bool beats = true;
    bool becomesReady = true;
    std::size_t partsSent = 99; ///< of each exchange
    bool votes = true;
    bool reports = true;
    bool votesWithoutMean = false; ///< a ring's worker, whose neighbours are not there
};

class ScriptedWorker {
public:
    using Clock = std::chrono::steady_clock;

    /// `secure` is done to each socket before it connects.
    ScriptedWorker(std::string endpoint, std::string name, engine::MessagePlan messagePlan,
                   std::function<void(zmq::socket_t&)> secure = {})
        : plan(std::move(messagePlan)), endpoint_(std::move(endpoint)), secure_(std::move(secure)),
          control_(transport::makeSocket(context_, zmq::socket_type::dealer,
                                         transport::SocketLimits())) {
        hello.version = engine::version();
        hello.isa = engine::isaLevel();
        hello.host = "atlas";
        hello.bootId = "another";
        hello.pid = 77;
        hello.cores = 3;
        hello.name = std::move(name);
        if (secure_)
            secure_(control_);
        control_.connect(endpoint_);
    }

    /// Nobody listens there.
    [[nodiscard]] std::string ringEndpoint() const { return "tcp://127.0.0.1:" + hello.name; }

    void say(const ControlMessage& message) { say(header(), message); }
    void say(const FrameHeader& as, const ControlMessage& message) {
        engine::ByteBuffer frame = transport::encodeControl(as, message);
        sendRaw(control_, frame);
    }
    void sayHello() { say(FrameHeader{}, hello); }
    void sendControl(const engine::ByteBuffer& frame) { sendRaw(control_, frame); }
    /// Without waiting for a connection.
    void tryHello() {
        const engine::ByteBuffer frame = transport::encodeControl(FrameHeader{}, hello);
        (void)control_.send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::dontwait);
    }
    void connectData(std::uint16_t port, std::int64_t mostBytes = 1 << 24) {
        transport::SocketLimits limits;
        limits.mostBytes = mostBytes;
        data_.emplace(transport::makeSocket(context_, zmq::socket_type::dealer, limits));
        if (secure_)
            secure_(*data_);
        data_->connect("tcp://127.0.0.1:" + std::to_string(port));
    }
    void sendData(const engine::ByteBuffer& frame) { sendRaw(*data_, frame); }
    /// As of the step at hand.
    [[nodiscard]] FrameHeader header(FrameType type = FrameType::Control) const {
        FrameHeader header;
        header.type = type;
        header.session = session;
        header.epoch = epoch;
        header.step = step;
        header.rank = rank;
        return header;
    }
    [[nodiscard]] engine::ByteBuffer gradient(std::size_t part) const {
        engine::ByteBuffer frame =
            encodeContent<float>(plan, part, content, engine::kFrameHeaderBytes);
        FrameHeader as = header(FrameType::Gradient);
        as.part = static_cast<std::uint16_t>(part);
        as.parts = static_cast<std::uint16_t>(plan.parts().size());
        as.tensors = static_cast<std::uint32_t>(plan.parts()[part].size());
        transport::encodeFrame(as, frame);
        return frame;
    }
    void sendPart(std::size_t part) { sendData(gradient(part)); }

    /// Takes what has arrived, answers it, and sends a heartbeat when one is due.
    void pump() {
        while (const auto received = transport::tryReceive(control_))
            listen(transport::decodeControl(received->view()));
        while (data_) {
            const auto received = transport::tryReceive(*data_);
            if (!received)
                break;
            take(*received);
        }
        constexpr std::chrono::milliseconds kBeat{50};
        if (manners.beats && introduced_ && Clock::now() - lastBeat_ >= kBeat) {
            lastBeat_ = Clock::now();
            beat();
        }
    }
    void beat() {
        transport::Heartbeat heartbeat;
        heartbeat.sentNs = std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
        heartbeat.phase = phase;
        heartbeat.progress = progress;
        const engine::ByteBuffer frame = transport::encodeControl(header(), heartbeat);
        (void)control_.send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::dontwait);
    }
    /// Says hello with the next pump.
    void introduce() {
        sayHello();
        introduced_ = true;
    }
    [[nodiscard]] std::size_t heard(const std::string& kind) const {
        const auto found = counts.find(kind);
        return found == counts.end() ? 0 : found->second;
    }

    engine::MessagePlan plan;
    transport::Hello hello;
    Manners manners;
    std::string phase = "idle";
    std::uint64_t progress = 0;
    WorkerContent<float> content; ///< what it says in a step; drawn at begin
    std::function<WorkerContent<float>(std::uint64_t step, std::uint32_t rank)> draw;
    std::string account = "{}";

    // What it was told.
    std::uint64_t session = 0;
    std::uint64_t epoch = 0;
    std::uint64_t step = 0;
    std::uint32_t rank = 0xFFFFFFFFU;
    transport::Welcome welcome;
    transport::StepOrder order;
    std::optional<transport::Refuse> refused;
    std::optional<transport::Configure> configured;
    std::optional<transport::HeartbeatAnswer> answer;
    engine::ByteBuffer snapshot; ///< the last one
    std::map<std::size_t, engine::ByteBuffer> means;
    std::vector<std::uint64_t> commits;
    std::map<std::string, std::size_t> counts; ///< control messages by kind
    std::uint64_t lastSession = 1;
    bool wantHash = false;

private:
    template <class Bytes>
    static void sendRaw(zmq::socket_t& socket, const Bytes& frame) {
        zmq::message_t message(frame.data(), frame.size());
        // Blocks until there is a connection, though not for ever.
        socket.set(zmq::sockopt::sndtimeo, 5000);
        (void)socket.send(message, zmq::send_flags::none);
    }

    void listen(const transport::ReceivedControl& control) {
        lastSession = control.header.session;
        ++counts[transport::kindOf(control.message)];
        std::visit([&](const auto& message) { on(control.header, message); }, control.message);
    }
    template <class Message>
    void on(const FrameHeader&, const Message&) {}
    void on(const FrameHeader& as, const transport::Welcome& message) {
        welcome = message;
        session = as.session;
        epoch = as.epoch;
        rank = as.rank;
        step = 0;
        connectData(message.dataPort, static_cast<std::int64_t>(message.mostDataBytes));
        FrameHeader first = header(FrameType::DataHello);
        first.step = message.member;
        engine::ByteBuffer frame(engine::kFrameHeaderBytes);
        transport::encodeFrame(first, frame);
        sendData(frame);
    }
    void on(const FrameHeader& as, const transport::Begin& message) {
        epoch = as.epoch;
        step = as.step;
        order = message.order;
        wantHash = message.wantHash;
        if (draw)
            content = draw(step, rank);
        exchange();
    }
    void on(const FrameHeader& as, const transport::Abort& message) {
        epoch = as.epoch;
        order = message.order;
        exchange();
    }
    void on(const FrameHeader& as, const transport::Commit&) {
        commits.push_back(as.step);
        if (manners.reports)
            report();
    }
    void on(const FrameHeader&, const transport::Configure& message) { configured = message; }
    void on(const FrameHeader&, const transport::Refuse& message) { refused = message; }
    void on(const FrameHeader&, const transport::HeartbeatAnswer& message) { answer = message; }
    void on(const FrameHeader&, const transport::Fetch& message) {
        engine::ByteBuffer frame(engine::kFrameHeaderBytes + 3, std::byte{0x42});
        FrameHeader as = header(FrameType::Snapshot);
        as.step = message.request;
        transport::encodeFrame(as, frame);
        if (manners.reports)
            sendData(frame);
    }
    void on(const FrameHeader&, const transport::ProbeOrder& message) {
        probed_ = message;
        answerProbe();
    }
    void on(const FrameHeader&, const transport::Load& message) { loading_ = message.request; }

    void exchange() {
        means.clear();
        for (std::size_t part = 0; part < std::min(manners.partsSent, plan.parts().size()); ++part)
            sendPart(part);
        if (manners.votesWithoutMean)
            say(transport::Holds{});
    }
    void take(const transport::ReceivedBytes& received) {
        const transport::Frame frame = transport::decodeFrame(received.view());
        if (frame.header.type == FrameType::Snapshot)
            return takeSnapshot(frame);
        if (frame.header.type == FrameType::Probe) {
            const engine::ByteView bytes = received.view();
            echoes_.emplace_back(bytes.begin(), bytes.end());
            return answerProbe();
        }
        if (frame.header.type != FrameType::Mean || frame.header.epoch != epoch)
            return;
        means[frame.header.part].assign(frame.body.begin(), frame.body.end());
        if (means.size() == plan.parts().size() && manners.votes)
            say(transport::Holds{});
    }
    void answerProbe() {
        if (!probed_ || echoes_.size() < probed_->frames || !manners.reports)
            return;
        for (const engine::ByteBuffer& echo : echoes_)
            sendData(echo);
        say(transport::ProbeResult{probed_->request, 0.001, probed_->bytes * probed_->frames});
        echoes_.clear();
        probed_.reset();
    }
    void takeSnapshot(const transport::Frame& frame) {
        snapshot.assign(frame.body.begin(), frame.body.end());
        if (frame.header.step == 0 && manners.becomesReady)
            say(transport::Ready{ringEndpoint(), {}});
        else if (frame.header.step != 0 && frame.header.step == loading_ && manners.reports)
            say(transport::Loaded{loading_});
    }

public:
    void report() {
        transport::Done done;
        done.account = account;
        for (std::size_t part = 0; part < plan.parts().size(); ++part)
            done.traffic.bytesUp += gradient(part).size();
        done.traffic.bytesMessage = done.traffic.bytesUp;
        say(done);
    }

private:
    zmq::context_t context_;
    std::string endpoint_;
    std::function<void(zmq::socket_t&)> secure_;
    zmq::socket_t control_;
    std::optional<zmq::socket_t> data_;
    std::uint64_t loading_ = 0;
    std::optional<transport::ProbeOrder> probed_;
    std::vector<engine::ByteBuffer> echoes_;
    bool introduced_ = false;
    Clock::time_point lastBeat_{};
};

} // namespace gradlab::test
