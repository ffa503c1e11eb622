// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator's two ROUTERs: bound where the experiment says, and sending what a full queue
// holds up as soon as it has room. Leaves out: what the frames say.
#pragma once

#include "engine/training/experiment.h"
#include "transport/zmq/deadline_timer.h"
#include "transport/zmq/prompt_thread.h"
#include "transport/zmq/sockets.h"
#include "transport/zmq/zap_handler.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace gradlab::transport {

/// Made in one thread, then used and destroyed by the network thread alone.
class CoordinatorSockets {
public:
    /// Binds. @throws engine::ExperimentError naming cluster.bind: no address, not allowed without
    /// keys, taken; engine::DataError for a bad file of keys
    CoordinatorSockets(const engine::ClusterSettings& cluster, const SocketLimits& data,
                       bool insecure);

    /// Where workers connect: the bound port, and this host's name where every address is bound.
    [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
    /// As endpoint(), for processes of this host.
    [[nodiscard]] const std::string& localEndpoint() const noexcept { return localEndpoint_; }
    [[nodiscard]] std::uint16_t dataPort() const noexcept { return dataPort_; }

    void sendControl(const std::string& peer, const engine::ByteBuffer& frame);
    /// For answers that may as well be lost.
    void trySendControl(const std::string& peer, const engine::ByteBuffer& frame);
    void sendData(const std::string& peer, const SharedBytes& frame,
                  std::optional<std::int64_t> readyNs);
    /// Nothing that waits for the peer is sent any more.
    void forget(const std::string& peer);
    void flush();

    [[nodiscard]] std::optional<ReceivedBytes> receiveControl() { return tryReceive(control_); }
    [[nodiscard]] std::optional<ReceivedBytes> receiveData() { return tryReceive(data_); }
    /// Until something can be read, `wakeup` was signalled, or `deadline`.
    void wait(const Wakeup& wakeup, std::chrono::steady_clock::time_point deadline);
    /// Orders that are under way reach their peers after the sockets are closed, for so long.
    void lingerFor(std::chrono::milliseconds time);

private:
    struct Waiting {
        SharedBytes frame;
        std::optional<std::int64_t> readyNs;
    };
    using Outbox = std::map<std::string, std::deque<Waiting>>; ///< by peer

    void requireKeys(const std::string& file);
    void bind(const Endpoint& where);
    static void send(zmq::socket_t& socket, Outbox& outbox, const std::string& peer,
                     Waiting waiting);
    static void flush(zmq::socket_t& socket, Outbox& outbox);

    zmq::context_t context_ = promptContext();
    std::unique_ptr<ZapHandler> zap_; ///< with keys
    zmq::socket_t control_;
    zmq::socket_t data_;
    DeadlineTimer timer_;
    std::string endpoint_;
    std::string localEndpoint_;
    std::uint16_t dataPort_ = 0;
    Outbox controlOut_; ///< only peers that something waits for
    Outbox dataOut_;
};

} // namespace gradlab::transport
