// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/worker_sockets.h"

#include "engine/core/errors.h"
#include "transport/zmq/control_message.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

namespace gradlab::transport {
namespace {

using std::chrono::steady_clock;

constexpr int kDataHighWater = 64;
constexpr std::chrono::milliseconds kBindAgain{5};
/// Sent to the neighbour and not acknowledged by its machine for so long: the connection is dead.
constexpr std::chrono::milliseconds kUnacknowledged{2000};

SocketLimits controlLimits() {
    SocketLimits limits;
    limits.mostBytes = kMostControlBytes;
    return limits;
}

SocketLimits dataLimits(int highWater, std::uint64_t mostBytes) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return {highWater, static_cast<std::int64_t>(std::min(mostBytes, most))};
}

bool canSend(const zmq::socket_t& socket) {
    return (socket.get(zmq::sockopt::events) & ZMQ_POLLOUT) != 0;
}

} // namespace

WorkerSockets::WorkerSockets(WorkerSocketSettings settings) : settings_(std::move(settings)) {
    if (settings_.keys) {
        own_ = settings_.keys->worker(settings_.name);
        admission_.emplace(context_, settings_.keys->admitted());
    }
    // Whether it can be listened on is said now, though nobody is let in before there is a ring.
    zmq::socket_t trial = listener(controlLimits());
    (void)bindTo(trial);
    trial.close();
    control_ = makeSocket(context_, zmq::socket_type::dealer, controlLimits());
    if (own_)
        connectWithKey(control_, *own_, settings_.keys->server.publicKey);
    control_.connect(settings_.coordinator.text());
}

std::string WorkerSockets::ringKey() const {
    return own_ ? own_->publicKey : std::string();
}

zmq::socket_t WorkerSockets::listener(const SocketLimits& limits) {
    zmq::socket_t socket = makeSocket(context_, zmq::socket_type::pull, limits);
    if (own_)
        listenWithKey(socket, *own_);
    return socket;
}

void WorkerSockets::connectData(std::uint16_t port, std::uint64_t mostBytes) {
    data_ = makeSocket(context_, zmq::socket_type::dealer, dataLimits(kDataHighWater, mostBytes));
    if (own_)
        connectWithKey(*data_, *own_, settings_.keys->server.publicKey);
    dataEvents_.emplace(context_, *data_, "inproc://data-events", ZMQ_EVENT_DISCONNECTED);
    Endpoint where = settings_.coordinator;
    where.port = std::to_string(port);
    data_->connect(where.text());
}

void WorkerSockets::openRing(int highWater, std::uint64_t mostBytes) {
    // A listener's limits are those that it was bound with, so it is bound only now.
    closeRing();
    ring_ = listener(dataLimits(highWater, mostBytes));
    ringBound_ = false;
    tryBindRing();
}

void WorkerSockets::closeRing() {
    ring_.reset();
    ringEndpoint_.clear();
    ringBound_ = true;
}

bool WorkerSockets::bindTo(zmq::socket_t& socket) const {
    try {
        socket.bind(settings_.listen.text());
        return true;
    } catch (const zmq::error_t& error) {
        // A given port may still be that of this process's earlier stay, which ZeroMQ's own thread
        // is closing.
        if (error.num() == EADDRINUSE)
            return false;
        throw engine::ExperimentError("", "cannot listen on " + settings_.listen.text() + " (" +
                                              error.what() +
                                              "): --listen; give an address of this "
                                              "machine, tcp://HOST:PORT or tcp://HOST:*");
    }
}

void WorkerSockets::tryBindRing() {
    if (ringBound_ || !bindTo(*ring_))
        return;
    ringBound_ = true;
    // The host as it was given, not as the bound socket spells it.
    Endpoint reached = settings_.listen;
    reached.port = Endpoint::parse("--listen", boundEndpoint(*ring_)).port;
    ringEndpoint_ = reached.text();
}

void WorkerSockets::connectNext(const std::string& endpoint, const std::string& key) {
    if (endpoint == nextEndpoint_)
        return;
    nextOut_.clear();
    nextEvents_.reset();
    next_.reset();
    nextConnected_ = false;
    nextEndpoint_ = endpoint;
    if (endpoint.empty())
        return;
    next_ =
        makeSocket(context_, zmq::socket_type::push, dataLimits(kDataHighWater, kMostControlBytes));
    if (own_)
        connectWithKey(*next_, *own_, key);
    next_->set(zmq::sockopt::tcp_maxrt, static_cast<int>(kUnacknowledged.count()));
    nextEvents_.emplace(context_, *next_, "inproc://next-events-" + std::to_string(++nextNumber_),
                        ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED);
    try {
        next_->connect(Endpoint::parse("neighbour", endpoint).text());
    } catch (const engine::ExperimentError& error) {
        throw engine::ProtocolError(std::string("order refused: ") + error.what());
    } catch (const zmq::error_t& error) {
        throw engine::ProtocolError("order refused: cannot connect to " + endpoint + " (" +
                                    error.what() + "): next neighbour");
    }
}

void WorkerSockets::sendControl(engine::ByteBuffer frame) {
    controlOut_.push_back({zmq::message_t(frame.data(), frame.size()), {}});
    flush(control_, controlOut_);
}

void WorkerSockets::trySendControl(const engine::ByteBuffer& frame) {
    if (controlOut_.empty() && canSend(control_))
        (void)trySend(control_, zmq::message_t(frame.data(), frame.size()));
}

void WorkerSockets::sendData(zmq::message_t message, std::optional<std::int64_t> readyNs) {
    dataOut_.push_back({std::move(message), readyNs});
    if (data_)
        flush(*data_, dataOut_);
}

void WorkerSockets::sendNext(zmq::message_t message, std::optional<std::int64_t> readyNs) {
    nextOut_.push_back({std::move(message), readyNs});
    if (next_)
        flush(*next_, nextOut_);
}

void WorkerSockets::flush(zmq::socket_t& socket, Outbox& outbox) {
    while (!outbox.empty() && canSend(socket)) {
        (void)trySend(socket, std::move(outbox.front().message), outbox.front().readyNs);
        outbox.pop_front();
    }
}

void WorkerSockets::flush() {
    flush(control_, controlOut_);
    if (data_)
        flush(*data_, dataOut_);
    if (next_)
        flush(*next_, nextOut_);
    tryBindRing();
}

std::optional<ReceivedBytes> WorkerSockets::receiveControl() {
    return tryReceive(control_);
}

std::optional<ReceivedBytes> WorkerSockets::receiveData() {
    return data_ ? tryReceive(*data_) : std::nullopt;
}

bool WorkerSockets::lostData() {
    return dataEvents_ && dataEvents_->next().has_value();
}

WorkerSockets::NextLine WorkerSockets::lookAtNext() {
    NextLine line;
    while (const auto event = nextEvents_ ? nextEvents_->next() : std::nullopt) {
        nextConnected_ = *event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED;
        line.broke |= !nextConnected_;
    }
    line.connected = nextConnected_;
    return line;
}

std::optional<ReceivedBytes> WorkerSockets::receiveRing() {
    return ring_ ? tryReceive(*ring_) : std::nullopt;
}

void WorkerSockets::wait(const Wakeup& wakeup, steady_clock::time_point deadline) {
    if (!ringBound_)
        deadline = std::min(deadline, steady_clock::now() + kBindAgain);
    timer_.set(deadline);
    const auto events = [](const Outbox& outbox) {
        return static_cast<short>(outbox.empty() ? ZMQ_POLLIN : ZMQ_POLLIN | ZMQ_POLLOUT);
    };
    std::vector<zmq::pollitem_t> items = {{nullptr, wakeup.descriptor(), ZMQ_POLLIN, 0},
                                          {nullptr, timer_.descriptor(), ZMQ_POLLIN, 0},
                                          {control_.handle(), 0, events(controlOut_), 0}};
    if (ring_)
        items.push_back({ring_->handle(), 0, ZMQ_POLLIN, 0});
    if (data_) {
        items.push_back({data_->handle(), 0, events(dataOut_), 0});
        items.push_back(dataEvents_->pollItem());
    }
    if (next_) {
        items.push_back(nextEvents_->pollItem());
        if (!nextOut_.empty())
            items.push_back({next_->handle(), 0, ZMQ_POLLOUT, 0});
    }
    try {
        zmq::poll(items, std::chrono::milliseconds(-1));
    } catch (const zmq::error_t& error) {
        if (error.num() != EINTR)
            throw;
    }
}

void WorkerSockets::lingerFor(std::chrono::milliseconds time) {
    control_.set(zmq::sockopt::linger, static_cast<int>(time.count()));
}

} // namespace gradlab::transport
