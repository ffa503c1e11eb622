// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A coordinator that does only what a test says: plain ROUTERs that speak control messages.
#pragma once

#include "engine/training/aggregator.h"
#include "engine/training/gradient_exchange.h"
#include "transport/wire_format.h"
#include "transport/zmq/control_message.h"
#include "transport/zmq/curve_keys.h"
#include "transport/zmq/sockets.h"
#include "transport/zmq/worker_clock.h"
#include "transport/zmq/zap_handler.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gradlab::test {

inline constexpr std::uint64_t kSession = 0x5E5510;
inline constexpr std::chrono::seconds kDeadline{30};

/// The test's thread only.
class ScriptedCoordinator {
public:
    explicit ScriptedCoordinator(const std::optional<transport::ClusterKeys>& keys = {})
        : keys_(keys) {
        if (keys)
            admission_.emplace(context_, keys->admitted());
        listen(control_);
        listen(data_);
    }
    /// Cuts every data connection; later joiners are given another one.
    void cutData() { listen(data_); }

    [[nodiscard]] std::string endpoint() const { return transport::boundEndpoint(control_); }

    struct Control {
        std::string peer;
        transport::FrameHeader header;
        transport::ControlMessage message;
    };
    struct Data {
        std::string peer;
        transport::FrameHeader header;
        transport::ReceivedBytes bytes;
    };

    /// Takes in what there is, answering heartbeats; waits a little if there is nothing.
    void pump() {
        transport::waitForAny({&control_, &data_}, wakeup_, 5);
        while (auto received = transport::tryReceive(control_)) {
            auto [header, message] = transport::decodeControl(received->view());
            if (const auto* beat = std::get_if<transport::Heartbeat>(&message)) {
                beats[received->peer] = *beat;
                if (answersHeartbeats)
                    say(received->peer,
                        transport::HeartbeatAnswer{beat->sentNs, transport::steadyNs() + clockNs});
                continue;
            }
            control.push_back({received->peer, header, message});
        }
        while (auto received = transport::tryReceive(data_)) {
            const transport::Frame frame = transport::decodeFrame(received->view());
            data.push_back({received->peer, frame.header, *received});
        }
    }
    template <class Condition>
    void pumpUntil(Condition condition) {
        const auto end = std::chrono::steady_clock::now() + kDeadline;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("what the test waits for does not happen");
            pump();
        }
    }
    /// The first message of this kind (from this peer); it is taken out.
    template <class Message>
    Control expect(const std::string& peer = {}) {
        return expectControl([&peer](const Control& one) {
            return std::holds_alternative<Message>(one.message) &&
                   (peer.empty() || one.peer == peer);
        });
    }
    template <class Match>
    Control expectControl(Match match) {
        std::optional<Control> found;
        pumpUntil([&] {
            const auto it = std::find_if(control.begin(), control.end(), match);
            if (it == control.end())
                return false;
            found = *it;
            control.erase(it);
            return true;
        });
        return *found;
    }
    template <class Match>
    Data expectData(Match match) {
        std::optional<Data> found;
        pumpUntil([&] {
            for (auto it = data.begin(); it != data.end(); ++it)
                if (match(it->header)) {
                    found = *it;
                    data.erase(it);
                    return true;
                }
            return false;
        });
        return *found;
    }

    void say(const std::string& peer, const transport::ControlMessage& message,
             std::uint64_t step = 0, std::uint32_t rank = 0) {
        transport::FrameHeader header;
        header.session = kSession;
        header.epoch = epoch;
        header.step = step;
        header.rank = rank;
        const engine::ByteBuffer frame = transport::encodeControl(header, message);
        sayBytes(peer, frame);
    }
    void sayBytes(const std::string& peer, const engine::ByteBuffer& frame) {
        if (!transport::trySend(control_, peer, zmq::message_t(frame.data(), frame.size())))
            throw std::runtime_error("a worker is gone");
    }
    void sendData(const std::string& peer, const engine::ByteBuffer& frame,
                  std::optional<std::int64_t> readyNs = {}) {
        if (!transport::trySend(data_, peer, zmq::message_t(frame.data(), frame.size()), readyNs))
            throw std::runtime_error("a worker is gone");
    }
    [[nodiscard]] static engine::ByteBuffer frameOf(transport::FrameHeader header,
                                                    const std::string& body) {
        engine::ByteBuffer frame(engine::kFrameHeaderBytes + body.size());
        std::memcpy(frame.data() + engine::kFrameHeaderBytes, body.data(), body.size());
        transport::encodeFrame(header, frame);
        return frame;
    }
    [[nodiscard]] transport::FrameHeader header(transport::FrameType type,
                                                std::uint64_t step) const {
        transport::FrameHeader header;
        header.type = type;
        header.session = kSession;
        header.epoch = epoch;
        header.step = step;
        return header;
    }

    /// A member as the coordinator knows it.
    struct Member {
        std::string control;
        std::string data;
        std::string ring;
        std::string ringKey;
    };
    /// Takes the hello of the worker called w<rank> and gives it that rank.
    Member invite(std::uint32_t rank, std::uint32_t workers) {
        const std::string name = "w" + std::to_string(rank);
        const Control hello = expectControl([&name](const Control& one) {
            const auto* said = std::get_if<transport::Hello>(&one.message);
            return said != nullptr && said->name == name;
        });
        Member member{hello.peer, "", "", ""};
        const std::uint64_t number = ++lastMember_;
        const std::string text = transport::boundEndpoint(data_);
        transport::Welcome message;
        message.member = number;
        message.workers = workers;
        message.dataPort = static_cast<std::uint16_t>(std::stoul(text.substr(text.rfind(':') + 1)));
        message.mostDataBytes = 64U << 20U;
        message.bootId = sharesClock ? transport::bootId() : "elsewhere";
        say(member.control, message, 0, rank);
        member.data =
            expectData([number](const transport::FrameHeader& frame) {
                return frame.type == transport::FrameType::DataHello && frame.step == number;
            }).peer;
        sendData(member.data, frameOf(header(transport::FrameType::Snapshot, 0), name));
        return member;
    }
    /// Until it is ready.
    void welcome(std::uint32_t rank, std::uint32_t workers) {
        Member member = invite(rank, workers);
        const Control ready = expect<transport::Ready>(member.control);
        member.ring = std::get<transport::Ready>(ready.message).ringEndpoint;
        member.ringKey = std::get<transport::Ready>(ready.message).ringKey;
        members[rank] = member;
    }

    [[nodiscard]] transport::StepOrder order(const std::vector<std::uint32_t>& ranks,
                                             std::uint32_t rank) const {
        transport::StepOrder made{ranks, "", ""};
        const auto self = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
        const std::uint32_t next = ranks[(static_cast<std::size_t>(self) + 1) % ranks.size()];
        made.nextEndpoint = members.at(next).ring;
        made.nextKey = members.at(next).ringKey;
        return made;
    }
    void begin(std::uint64_t step, const std::vector<std::uint32_t>& ranks) {
        for (const std::uint32_t rank : ranks)
            say(members.at(rank).control, transport::Begin{order(ranks, rank), true}, step, rank);
    }
    /// The next epoch.
    void abort(std::uint64_t step, const std::vector<std::uint32_t>& ranks) {
        ++epoch;
        for (const std::uint32_t rank : ranks)
            say(members.at(rank).control, transport::Abort{order(ranks, rank)}, step, rank);
    }
    template <class Message>
    void sayToAll(const std::vector<std::uint32_t>& ranks, const Message& message,
                  std::uint64_t step) {
        for (const std::uint32_t rank : ranks)
            say(members.at(rank).control, message, step, rank);
    }
    template <class Message>
    std::vector<Control> expectFromAll(const std::vector<std::uint32_t>& ranks) {
        std::vector<Control> all;
        for (const std::uint32_t rank : ranks)
            all.push_back(expect<Message>(members.at(rank).control));
        return all;
    }
    /// Server topology: takes in everybody's parts of the current epoch and sends the means down.
    void serve(const engine::ExchangeSetup& setup, std::uint64_t step,
               const std::vector<std::uint32_t>& ranks) {
        const auto server = engine::Aggregator::create(setup.plan, setup.aggregator);
        for (std::size_t part = 0; part < setup.plan.parts().size(); ++part) {
            std::vector<Data> frames;
            std::vector<engine::ByteView> bodies;
            for (const std::uint32_t rank : ranks) {
                frames.push_back(expectData([&](const transport::FrameHeader& frame) {
                    return frame.type == transport::FrameType::Gradient && frame.rank == rank &&
                           frame.part == part && frame.step == step && frame.epoch == epoch;
                }));
                bodies.push_back(frames.back().bytes.view().subspan(engine::kFrameHeaderBytes));
            }
            engine::ByteBuffer mean;
            server->aggregate(part, bodies, step, engine::kFrameHeaderBytes, mean);
            transport::encodeFrame(meanHeader(setup, step, part), mean);
            for (const std::uint32_t rank : ranks)
                sendData(members.at(rank).data, mean,
                         setup.link.emulate ? std::optional(transport::steadyNs() + clockNs)
                                            : std::nullopt);
        }
    }
    [[nodiscard]] transport::FrameHeader meanHeader(const engine::ExchangeSetup& setup,
                                                    std::uint64_t step, std::size_t part) const {
        transport::FrameHeader made = header(transport::FrameType::Mean, step);
        made.rank = transport::kServerRank;
        made.part = static_cast<std::uint16_t>(part);
        made.parts = static_cast<std::uint16_t>(setup.plan.parts().size());
        made.tensors = static_cast<std::uint32_t>(setup.plan.parts()[part].size());
        return made;
    }
    /// From the votes to everybody's report.
    std::vector<Control> finishStep(std::uint64_t step, const std::vector<std::uint32_t>& ranks) {
        for (const std::uint32_t rank : ranks)
            expectControl([&](const Control& one) { // votes of aborted rounds do not count
                return std::holds_alternative<transport::Holds>(one.message) &&
                       one.peer == members.at(rank).control && one.header.epoch == epoch &&
                       one.header.step == step;
            });
        sayToAll(ranks, transport::Commit{}, step);
        return expectFromAll<transport::Done>(ranks);
    }

    std::deque<Control> control; ///< not yet expected
    std::deque<Data> data;
    std::map<std::string, transport::Heartbeat> beats; ///< the last one, by peer
    std::map<std::uint32_t, Member> members;           ///< by rank
    std::uint64_t epoch = 1;
    bool answersHeartbeats = true;
    bool sharesClock = true;
    std::int64_t clockNs = 0; ///< how much this clock is ahead

private:
    void listen(zmq::socket_t& socket) {
        socket =
            transport::makeSocket(context_, zmq::socket_type::router, {256, std::int64_t{1} << 30});
        if (keys_)
            transport::listenWithKey(socket, keys_->server);
        socket.bind("tcp://127.0.0.1:*");
    }

    std::optional<transport::ClusterKeys> keys_;
    zmq::context_t context_;
    std::optional<transport::ZapHandler> admission_;
    zmq::socket_t control_;
    zmq::socket_t data_;
    transport::Wakeup wakeup_;
    std::uint64_t lastMember_ = 0;
};

} // namespace gradlab::test
