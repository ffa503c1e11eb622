// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Decides whose connection is accepted: those who proved to own one of the listed CURVE keys.
// ZeroMQ asks it (RFC 27, ZAP) for every connection to a listening socket of its context; without a
// handler CURVE would accept every key.
#pragma once

#include "transport/zmq/sockets.h"

#include <zmq.hpp>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace gradlab::transport {

class ZapHandler {
public:
    /// Before any socket of `context` listens; ends before the context does. A thread of its own.
    /// @throws zmq::error_t if the context has a handler already
    ZapHandler(zmq::context_t& context, const std::vector<std::string>& publicKeys);
    ~ZapHandler();
    ZapHandler(const ZapHandler&) = delete;
    ZapHandler& operator=(const ZapHandler&) = delete;

private:
    void run(const std::stop_token& stop);
    void answerOne();

    std::set<std::string> admitted_; ///< 32 bytes each
    zmq::socket_t socket_;           ///< of the thread, once it runs
    Wakeup wakeup_;
    std::jthread thread_;
};

} // namespace gradlab::transport
