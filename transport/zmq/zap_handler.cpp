// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/zap_handler.h"

#include "engine/core/check.h"

#include <array>
#include <cstdint>

namespace gradlab::transport {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kRequestFrames = 7; // version, id, domain, address, identity, mechanism, key
constexpr std::size_t kIdFrame = 1;
constexpr std::size_t kMechanismFrame = 5;
constexpr std::size_t kKeyFrame = 6;

std::string decodeKey(const std::string& text) {
    std::array<std::uint8_t, kKeyBytes> bytes{};
    GRADLAB_CHECK(::zmq_z85_decode(bytes.data(), text.c_str()) != nullptr, text.size());
    return {bytes.begin(), bytes.end()};
}

} // namespace

ZapHandler::ZapHandler(zmq::context_t& context, const std::vector<std::string>& publicKeys)
    : socket_(context, zmq::socket_type::rep) {
    for (const std::string& key : publicKeys)
        admitted_.insert(decodeKey(key));
    socket_.set(zmq::sockopt::linger, 0);
    socket_.bind("inproc://zeromq.zap.01");
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

ZapHandler::~ZapHandler() {
    thread_.request_stop();
    wakeup_.signal();
    thread_.join();
}

void ZapHandler::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        waitForAny({&socket_}, wakeup_, -1);
        wakeup_.drain();
        while (!stop.stop_requested() && (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0)
            answerOne();
    }
}

void ZapHandler::answerOne() {
    std::vector<std::string> request;
    bool more = true;
    while (more) {
        zmq::message_t frame;
        if (!socket_.recv(frame, zmq::recv_flags::dontwait))
            return;
        more = frame.more();
        request.push_back(frame.to_string());
    }
    const bool known = request.size() == kRequestFrames && request[kMechanismFrame] == "CURVE" &&
                       admitted_.contains(request[kKeyFrame]);
    const std::string id = request.size() > kIdFrame ? request[kIdFrame] : "";
    // version, id, status, reason, user, metadata
    const std::array<std::string, 6> answer = {
        "1.0", id, known ? "200" : "400", known ? "" : "not a key of this cluster", "", ""};
    for (std::size_t i = 0; i < answer.size(); ++i)
        (void)socket_.send(zmq::buffer(answer[i]), i + 1 < answer.size() ? zmq::send_flags::sndmore
                                                                         : zmq::send_flags::none);
}

} // namespace gradlab::transport
