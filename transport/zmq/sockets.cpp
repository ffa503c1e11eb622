// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/sockets.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

namespace gradlab::transport {
namespace {

constexpr int kHandshakeMs = 4000;
constexpr int kConnectMs = 3000;
constexpr int kReconnectMs = 100;
constexpr int kReconnectMostMs = 2000;
constexpr int kKeepAliveIdleS = 5;
constexpr int kKeepAliveIntervalS = 2;
constexpr int kKeepAliveCount = 3;
constexpr std::size_t kMostFrames = 4; ///< of one message that are looked at

void releaseShared(void* /*data*/, void* hint) {
    delete static_cast<SharedBytes*>(hint);
}

bool sent(const zmq::send_result_t& result) {
    return result.has_value();
}

} // namespace

zmq::socket_t makeSocket(zmq::context_t& context, zmq::socket_type type,
                         const SocketLimits& limits) {
    zmq::socket_t socket(context, type);
    socket.set(zmq::sockopt::linger, 0);
    socket.set(zmq::sockopt::sndhwm, limits.highWater);
    socket.set(zmq::sockopt::rcvhwm, limits.highWater);
    socket.set(zmq::sockopt::maxmsgsize, limits.mostBytes);
    socket.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
    socket.set(zmq::sockopt::connect_timeout, kConnectMs);
    socket.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
    socket.set(zmq::sockopt::reconnect_ivl_max, kReconnectMostMs);
    socket.set(zmq::sockopt::tcp_keepalive, 1);
    socket.set(zmq::sockopt::tcp_keepalive_idle, kKeepAliveIdleS);
    socket.set(zmq::sockopt::tcp_keepalive_intvl, kKeepAliveIntervalS);
    socket.set(zmq::sockopt::tcp_keepalive_cnt, kKeepAliveCount);
    socket.set(zmq::sockopt::ipv6, true);
    if (type == zmq::socket_type::router)
        socket.set(zmq::sockopt::router_mandatory, true);
    else
        socket.set(zmq::sockopt::immediate, true);
    return socket;
}

std::string boundEndpoint(const zmq::socket_t& socket) {
    return socket.get(zmq::sockopt::last_endpoint);
}

zmq::message_t shareBytes(const SharedBytes& bytes) {
    auto* reference = new SharedBytes(bytes);
    return {bytes->data(), bytes->size(), releaseShared, reference};
}

bool trySend(zmq::socket_t& socket, zmq::message_t message, std::optional<std::int64_t> readyNs) {
    if (!readyNs)
        return sent(socket.send(message, zmq::send_flags::dontwait));
    if (!sent(socket.send(message, zmq::send_flags::sndmore | zmq::send_flags::dontwait)))
        return false;
    // A message is queued as a whole: once its first frame was taken, the others are.
    zmq::message_t beside(&*readyNs, sizeof(*readyNs));
    return sent(socket.send(beside, zmq::send_flags::dontwait));
}

bool trySend(zmq::socket_t& router, const std::string& peer, zmq::message_t message,
             std::optional<std::int64_t> readyNs) {
    try {
        zmq::message_t address(peer.data(), peer.size());
        if (!sent(router.send(address, zmq::send_flags::sndmore | zmq::send_flags::dontwait)))
            return false;
        return trySend(router, std::move(message), readyNs);
    } catch (const zmq::error_t& error) {
        if (error.num() == EHOSTUNREACH)
            return false;
        throw;
    }
}

std::optional<ReceivedBytes> tryReceive(zmq::socket_t& socket) {
    const bool router = socket.get(zmq::sockopt::type) == ZMQ_ROUTER;
    while (true) {
        // [peer] frame [ready time]
        std::vector<std::shared_ptr<zmq::message_t>> frames;
        bool more = true;
        while (more) {
            auto frame = std::make_shared<zmq::message_t>();
            if (!socket.recv(*frame, zmq::recv_flags::dontwait))
                return std::nullopt; // only before the first frame: messages arrive whole
            more = frame->more();
            if (frames.size() < kMostFrames)
                frames.push_back(std::move(frame));
        }
        const std::size_t first = router ? 1 : 0;
        ReceivedBytes received;
        if (frames.size() <= first || frames.size() > first + 2)
            continue;
        if (router)
            received.peer = frames.front()->to_string();
        received.bytes = frames[first];
        if (frames.size() == first + 2) {
            if (frames.back()->size() != sizeof(std::int64_t))
                continue;
            std::int64_t ready = 0;
            std::memcpy(&ready, frames.back()->data(), sizeof(ready));
            received.readyNs = ready;
        }
        return received;
    }
}

Wakeup::Wakeup() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    GRADLAB_CHECK(descriptor_ >= 0, errno);
}

Wakeup::~Wakeup() {
    ::close(descriptor_);
}

void Wakeup::signal() noexcept {
    const std::uint64_t one = 1;
    // Fails only when the counter is full: then the poll wakes anyway.
    [[maybe_unused]] const auto written = ::write(descriptor_, &one, sizeof(one));
}

void Wakeup::drain() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(descriptor_, &count, sizeof(count));
}

void waitForAny(const std::vector<zmq::socket_t*>& sockets, const Wakeup& wakeup,
                std::int64_t milliseconds) {
    std::vector<zmq::pollitem_t> items;
    items.reserve(sockets.size() + 1);
    for (zmq::socket_t* socket : sockets)
        items.push_back({socket->handle(), 0, ZMQ_POLLIN, 0});
    items.push_back({nullptr, wakeup.descriptor(), ZMQ_POLLIN, 0});
    try {
        zmq::poll(items, std::chrono::milliseconds(milliseconds));
    } catch (const zmq::error_t& error) {
        if (error.num() != EINTR)
            throw;
    }
}

bool Endpoint::isLoopback() const {
    return host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::string Endpoint::text() const {
    const bool six = host.find(':') != std::string::npos;
    return "tcp://" + (six ? "[" + host + "]" : host) + ":" + port;
}

Endpoint Endpoint::parse(const std::string& field, const std::string& text) {
    const auto refuse = [&]() -> engine::ExperimentError {
        return {field, "not an address: " + field + " " + text +
                           "; give tcp://HOST:PORT, for example tcp://127.0.0.1:5555"};
    };
    constexpr std::string_view scheme = "tcp://";
    if (!text.starts_with(scheme))
        throw refuse();
    const std::string rest = text.substr(scheme.size());
    const std::size_t colon = rest.rfind(':');
    if (colon == std::string::npos || colon == 0)
        throw refuse();
    Endpoint endpoint{rest.substr(0, colon), rest.substr(colon + 1)};
    if (endpoint.host.starts_with('[') && endpoint.host.ends_with(']'))
        endpoint.host = endpoint.host.substr(1, endpoint.host.size() - 2);
    else if (endpoint.host.find(':') != std::string::npos)
        throw refuse();
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ||
               c == ':' || c == '%' || c == '_';
    };
    if (endpoint.host != "*" &&
        (endpoint.host.empty() || !std::all_of(endpoint.host.begin(), endpoint.host.end(), plain)))
        throw refuse();
    if (endpoint.port == "*")
        return endpoint;
    unsigned port = 0;
    const char* end = endpoint.port.data() + endpoint.port.size();
    const auto result = std::from_chars(endpoint.port.data(), end, port);
    if (result.ec != std::errc() || result.ptr != end || port == 0 || port > 65535)
        throw refuse();
    return endpoint;
}

std::string bootId() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id;
}

} // namespace gradlab::transport
