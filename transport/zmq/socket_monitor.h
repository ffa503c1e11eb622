// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of a socket's connections. ZeroMQ's own thread tells it, and would wait for ever for
// a listener that is gone, and with it every socket of the context: so the telling is ended before
// the listening. Leaves out: which event means what.
#pragma once

#include <zmq.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace gradlab::transport {

/// Of the socket's thread.
class SocketMonitor {
public:
    /// `address`: inproc, used once in the context. `socket` outlives this.
    SocketMonitor(zmq::context_t& context, zmq::socket_t& socket, const std::string& address,
                  int events);
    ~SocketMonitor();
    SocketMonitor(const SocketMonitor&) = delete;
    SocketMonitor& operator=(const SocketMonitor&) = delete;

    /// The next event's ZMQ_EVENT_…, without waiting.
    [[nodiscard]] std::optional<std::uint16_t> next();
    /// Readable when next() has something to give.
    [[nodiscard]] zmq::pollitem_t pollItem();

private:
    zmq::socket_t& socket_;
    zmq::socket_t told_;
};

} // namespace gradlab::transport
