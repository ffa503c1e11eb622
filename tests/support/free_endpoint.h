// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// An address for a coordinator that workers may know before it is there.
#pragma once

#include "transport/zmq/sockets.h"

#include <QString>

#include <string>

namespace gradlab::tests {

/// Nobody listens there, nor on the port after it, at this moment.
inline QString freeEndpoint() {
    zmq::context_t context;
    while (true) {
        zmq::socket_t first(context, zmq::socket_type::rep);
        first.bind("tcp://127.0.0.1:*");
        const auto endpoint = transport::Endpoint::parse("", transport::boundEndpoint(first));
        zmq::socket_t second(context, zmq::socket_type::rep);
        try {
            second.bind("tcp://127.0.0.1:" + std::to_string(std::stoi(endpoint.port) + 1));
            return QString::fromStdString(endpoint.text());
        } catch (const zmq::error_t&) {
            continue; // taken, or there is none
        }
    }
}

} // namespace gradlab::tests
