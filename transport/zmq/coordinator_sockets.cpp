// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/coordinator_sockets.h"

#include "engine/core/errors.h"
#include "transport/zmq/control_message.h"
#include "transport/zmq/curve_keys.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace gradlab::transport {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRetry{2};

std::string hostName() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0)
        return "localhost";
    return name.data();
}

Endpoint listeningEndpoint(const engine::ClusterSettings& cluster, bool insecure) {
    Endpoint where = Endpoint::parse("cluster.bind", cluster.bind);
    if (!where.isLoopback() && cluster.keys.empty() && !insecure)
        throw engine::ExperimentError(
            "cluster.bind", "anybody who reaches " + cluster.bind +
                                " could join: cluster.bind; give --keys FILE (gradlab-cli keygen "
                                "makes one), or --insecure on a network that you trust");
    if (where.host == "localhost")
        where.host = "127.0.0.1"; // names cannot be bound
    return where;
}

std::uint16_t portOf(const zmq::socket_t& socket) {
    const std::string text = boundEndpoint(socket);
    return static_cast<std::uint16_t>(std::stoul(text.substr(text.rfind(':') + 1)));
}

void bindTo(zmq::socket_t& socket, const Endpoint& where) {
    try {
        socket.bind(where.text());
    } catch (const zmq::error_t& error) {
        throw engine::ExperimentError("cluster.bind", "cannot listen on " + where.text() + " (" +
                                                          error.what() +
                                                          "): cluster.bind; choose another one, "
                                                          "or port * for any free one");
    }
}

SocketLimits controlLimits() {
    SocketLimits limits;
    limits.mostBytes = kMostControlBytes;
    return limits;
}

} // namespace

CoordinatorSockets::CoordinatorSockets(const engine::ClusterSettings& cluster,
                                       const SocketLimits& data, bool insecure)
    : control_(makeSocket(context_, zmq::socket_type::router, controlLimits())),
      data_(makeSocket(context_, zmq::socket_type::router, data)) {
    const Endpoint where = listeningEndpoint(cluster, insecure);
    if (!cluster.keys.empty())
        requireKeys(cluster.keys);
    bind(where);
}

void CoordinatorSockets::requireKeys(const std::string& file) {
    const ClusterKeys keys = ClusterKeys::load(file);
    if (keys.server.secretKey.empty())
        throw engine::ExperimentError("cluster.keys", "the coordinator's secret key is not in " +
                                                          file +
                                                          ": cluster.keys; give the file that "
                                                          "gradlab-cli keygen made");
    zap_ = std::make_unique<ZapHandler>(context_, keys.admitted());
    listenWithKey(control_, keys.server);
    listenWithKey(data_, keys.server);
}

void CoordinatorSockets::bind(const Endpoint& where) {
    bindTo(control_, where);
    const std::uint16_t port = portOf(control_);
    Endpoint beside = where;
    if (where.port != "*" && port < std::numeric_limits<std::uint16_t>::max())
        beside.port = std::to_string(port + 1);
    bindTo(data_, beside);
    dataPort_ = portOf(data_);
    Endpoint reached{where.host, std::to_string(port)};
    if (where.host == "*" || where.host == "0.0.0.0" || where.host == "::") {
        reached.host = "127.0.0.1";
        localEndpoint_ = reached.text();
        reached.host = hostName();
    } else {
        localEndpoint_ = reached.text();
    }
    endpoint_ = reached.text();
}

void CoordinatorSockets::sendControl(const std::string& peer, const engine::ByteBuffer& frame) {
    send(control_, controlOut_, peer, {std::make_shared<engine::ByteBuffer>(frame), {}});
}

void CoordinatorSockets::trySendControl(const std::string& peer, const engine::ByteBuffer& frame) {
    if (!controlOut_.contains(peer))
        (void)trySend(control_, peer, zmq::message_t(frame.data(), frame.size()));
}

void CoordinatorSockets::sendData(const std::string& peer, const SharedBytes& frame,
                                  std::optional<std::int64_t> readyNs) {
    send(data_, dataOut_, peer, {frame, readyNs});
}

void CoordinatorSockets::send(zmq::socket_t& socket, Outbox& outbox, const std::string& peer,
                              Waiting waiting) {
    const auto queue = outbox.find(peer);
    if (queue != outbox.end())
        queue->second.push_back(std::move(waiting)); // after what waits already
    else if (!trySend(socket, peer, shareBytes(waiting.frame), waiting.readyNs))
        outbox[peer].push_back(std::move(waiting));
}

void CoordinatorSockets::flush(zmq::socket_t& socket, Outbox& outbox) {
    for (auto entry = outbox.begin(); entry != outbox.end();) {
        auto& [peer, queue] = *entry;
        while (!queue.empty() &&
               trySend(socket, peer, shareBytes(queue.front().frame), queue.front().readyNs))
            queue.pop_front();
        entry = queue.empty() ? outbox.erase(entry) : std::next(entry);
    }
}

void CoordinatorSockets::flush() {
    flush(control_, controlOut_);
    flush(data_, dataOut_);
}

void CoordinatorSockets::forget(const std::string& peer) {
    controlOut_.erase(peer);
    dataOut_.erase(peer);
}

void CoordinatorSockets::wait(const Wakeup& wakeup, steady_clock::time_point deadline) {
    if (!controlOut_.empty() || !dataOut_.empty())
        deadline = std::min(deadline, steady_clock::now() + kRetry);
    timer_.set(deadline);
    std::vector<zmq::pollitem_t> items = {{control_.handle(), 0, ZMQ_POLLIN, 0},
                                          {data_.handle(), 0, ZMQ_POLLIN, 0},
                                          {nullptr, wakeup.descriptor(), ZMQ_POLLIN, 0},
                                          {nullptr, timer_.descriptor(), ZMQ_POLLIN, 0}};
    try {
        zmq::poll(items, std::chrono::milliseconds(-1));
    } catch (const zmq::error_t& error) {
        if (error.num() != EINTR)
            throw;
    }
}

void CoordinatorSockets::lingerFor(std::chrono::milliseconds time) {
    control_.set(zmq::sockopt::linger, static_cast<int>(time.count()));
}

} // namespace gradlab::transport
