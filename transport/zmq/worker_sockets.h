// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's four sockets: control and data to the coordinator, a listener for the neighbour before
// it in the ring and a line to the one after it. What a full queue or a missing peer holds up waits
// here and goes out as soon as it can. Leaves out: what the frames say.
#pragma once

#include "transport/zmq/curve_keys.h"
#include "transport/zmq/deadline_timer.h"
#include "transport/zmq/prompt_thread.h"
#include "transport/zmq/socket_monitor.h"
#include "transport/zmq/sockets.h"
#include "transport/zmq/zap_handler.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace gradlab::transport {

struct WorkerSocketSettings {
    Endpoint coordinator;
    Endpoint listen;
    std::optional<ClusterKeys> keys;
    std::string name; ///< whose keys are this worker's
};

/// Made in one thread, then used and destroyed by the network thread alone.
class WorkerSockets {
public:
    /// Connects the control socket. @throws engine::ExperimentError naming --name or
    /// --listen
    explicit WorkerSockets(WorkerSocketSettings settings);

    /// What a neighbour connects to; empty while there is no ring, or its address is not free yet.
    [[nodiscard]] const std::string& ringEndpoint() const noexcept { return ringEndpoint_; }
    [[nodiscard]] std::string ringKey() const; ///< empty without keys

    /// To the coordinator's data port; frames up to `mostBytes` from now on.
    void connectData(std::uint16_t port, std::uint64_t mostBytes);
    /// Listens for the neighbour; tries again in flush() while an earlier stay's socket is being
    /// closed. @throws engine::ExperimentError naming --listen
    void openRing(int highWater, std::uint64_t mostBytes);
    /// There is no ring in this run.
    void closeRing();
    /// The neighbour that frames go to from now on; what waits for another one is dropped. Empty:
    /// nobody.
    void connectNext(const std::string& endpoint, const std::string& key);

    void sendControl(engine::ByteBuffer frame);
    /// Now or not at all.
    void trySendControl(const engine::ByteBuffer& frame);
    void sendData(zmq::message_t message, std::optional<std::int64_t> readyNs = {});
    void sendNext(zmq::message_t message, std::optional<std::int64_t> readyNs = {});
    /// Sends what waits, as far as there is room, and tries again to open the ring.
    void flush();
    [[nodiscard]] bool controlIsEmpty() const noexcept { return controlOut_.empty(); }

    [[nodiscard]] std::optional<ReceivedBytes> receiveControl();
    [[nodiscard]] std::optional<ReceivedBytes> receiveData();
    [[nodiscard]] std::optional<ReceivedBytes> receiveRing();
    /// The data connection broke. ZeroMQ makes a new one by itself, but what was under way is gone,
    /// and for the coordinator a stranger is at its end.
    [[nodiscard]] bool lostData();
    /// The neighbour's connection, of a socket that connectNext() has made: whether it is there,
    /// and whether it broke since the last call. ZeroMQ makes a new one by itself, but what was
    /// under way may be gone.
    struct NextLine {
        bool connected = false;
        bool broke = false;
    };
    [[nodiscard]] NextLine lookAtNext();
    /// Until something can be read or sent, `wakeup` was signalled, or `deadline`.
    void wait(const Wakeup& wakeup, std::chrono::steady_clock::time_point deadline);
    /// What is under way to the coordinator reaches it after the sockets are closed, for so long.
    void lingerFor(std::chrono::milliseconds time);

private:
    struct Waiting {
        zmq::message_t message;
        std::optional<std::int64_t> readyNs;
    };
    using Outbox = std::deque<Waiting>;
    static void flush(zmq::socket_t& socket, Outbox& outbox);
    [[nodiscard]] zmq::socket_t listener(const SocketLimits& limits);
    /// False if the address is taken. @throws engine::ExperimentError naming --listen
    [[nodiscard]] bool bindTo(zmq::socket_t& socket) const;
    void tryBindRing();

    WorkerSocketSettings settings_;
    std::optional<KeyPair> own_;
    zmq::context_t context_ = promptContext();
    std::optional<ZapHandler> admission_;
    zmq::socket_t control_;
    std::optional<zmq::socket_t> ring_;
    std::optional<zmq::socket_t> data_;
    std::optional<SocketMonitor> dataEvents_; ///< says when data_ is cut off
    std::optional<zmq::socket_t> next_;
    std::optional<SocketMonitor> nextEvents_; ///< says when next_ is connected and cut off
    unsigned nextNumber_ = 0;                 ///< of its address
    bool nextConnected_ = false;
    std::string nextEndpoint_;
    std::string ringEndpoint_;
    bool ringBound_ = true;
    DeadlineTimer timer_;
    Outbox controlOut_;
    Outbox dataOut_;
    Outbox nextOut_;
};

} // namespace gradlab::transport
