// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// ZeroMQ sockets with this project's options, and bytes in and out of them without copies. A socket
// belongs to the thread that made it. Leaves out: keys (curve_keys.h), protocol.
#pragma once

#include "engine/core/byte_buffer.h"

#include <zmq.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::transport {

struct SocketLimits {
    int highWater = 64;                   ///< messages, each way
    std::int64_t mostBytes = 64LL * 1024; ///< of one received frame; more ends the connection
};

/// Linger 0, handshake and connect time-outs, keep-alive, IPv6, reconnection with back-off, no
/// queueing for peers that are not there; a ROUTER reports what it cannot route.
[[nodiscard]] zmq::socket_t makeSocket(zmq::context_t& context, zmq::socket_type type,
                                       const SocketLimits& limits);
/// Like "tcp://127.0.0.1:40123": what a bound socket really listens on.
[[nodiscard]] std::string boundEndpoint(const zmq::socket_t& socket);

/// Bytes that are sent and kept: a redone step sends them again.
using SharedBytes = std::shared_ptr<engine::ByteBuffer>;
/// A message that shares `bytes` until ZeroMQ's own thread has sent it; then use_count() falls.
[[nodiscard]] zmq::message_t shareBytes(const SharedBytes& bytes);

/// `readyNs`: when the frame entered the sender's emulated link; travels beside it.
/// False when the socket's queue is full or (ROUTER) the peer is gone; nothing is sent then.
[[nodiscard]] bool trySend(zmq::socket_t& socket, zmq::message_t message,
                           std::optional<std::int64_t> readyNs = {});
/// To one peer of a ROUTER.
[[nodiscard]] bool trySend(zmq::socket_t& router, const std::string& peer, zmq::message_t message,
                           std::optional<std::int64_t> readyNs = {});

struct ReceivedBytes {
    std::string peer; ///< of a ROUTER; else empty
    std::shared_ptr<zmq::message_t> bytes;
    std::optional<std::int64_t> readyNs;
    [[nodiscard]] engine::ByteView view() const {
        return {static_cast<const std::byte*>(bytes->data()), bytes->size()};
    }
};
/// What is there, without waiting. Messages with another number of frames than the protocol's are
/// dropped here.
[[nodiscard]] std::optional<ReceivedBytes> tryReceive(zmq::socket_t& socket);

/// Ends a poll from another thread. Any thread may signal.
class Wakeup {
public:
    Wakeup();
    ~Wakeup();
    Wakeup(const Wakeup&) = delete;
    Wakeup& operator=(const Wakeup&) = delete;
    void signal() noexcept;
    void drain() noexcept;
    [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

private:
    int descriptor_ = -1; ///< an eventfd
};

/// Waits until a socket can be read, `wakeup` was signalled, or the time is over.
void waitForAny(const std::vector<zmq::socket_t*>& sockets, const Wakeup& wakeup,
                std::int64_t milliseconds);

/// Endpoint "tcp://host:port", parts checked. @throws engine::ExperimentError naming the field
struct Endpoint {
    std::string host; ///< without brackets; "*" = every address
    std::string port; ///< digits, or "*" = any free one
    [[nodiscard]] bool isLoopback() const;
    [[nodiscard]] std::string text() const;
    [[nodiscard]] static Endpoint parse(const std::string& field, const std::string& text);
};

/// This boot of this machine: processes with the same one share a steady clock.
[[nodiscard]] std::string bootId();

} // namespace gradlab::transport
