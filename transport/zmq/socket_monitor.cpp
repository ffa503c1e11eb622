// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/socket_monitor.h"

#include "engine/core/check.h"

#include <algorithm>
#include <cstring>

namespace gradlab::transport {

SocketMonitor::SocketMonitor(zmq::context_t& context, zmq::socket_t& socket,
                             const std::string& address, int events)
    : socket_(socket), told_(context, zmq::socket_type::pair) {
    told_.set(zmq::sockopt::linger, 0);
    GRADLAB_CHECK(::zmq_socket_monitor(socket_.handle(), address.c_str(), events) == 0,
                  ::zmq_errno());
    told_.connect(address);
}

SocketMonitor::~SocketMonitor() {
    (void)::zmq_socket_monitor(socket_.handle(), nullptr, 0); // ends it
}

std::optional<std::uint16_t> SocketMonitor::next() {
    zmq::message_t event; // the kind, then a value
    zmq::message_t address;
    if (!told_.recv(event, zmq::recv_flags::dontwait))
        return std::nullopt;
    (void)told_.recv(address, zmq::recv_flags::dontwait); // messages arrive whole
    std::uint16_t kind = 0;
    std::memcpy(&kind, event.data(), std::min(sizeof(kind), event.size()));
    return kind;
}

zmq::pollitem_t SocketMonitor::pollItem() {
    return {told_.handle(), 0, ZMQ_POLLIN, 0};
}

} // namespace gradlab::transport
