// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's network thread: owns its sockets, says hello, keeps heartbeats going whatever the rest
// of the process does, takes orders and frames in, and sends what the compute thread posts. A piece
// of work here is one frame's, so that nothing waits long. One object a stay in the cluster: who is
// refused or hears nothing starts over with another one. Leaves out: carrying out orders
// (worker_process.h).
#pragma once

#include "transport/zmq/worker_board.h"
#include "transport/zmq/worker_clock.h"
#include "transport/zmq/worker_probe.h"
#include "transport/zmq/worker_sockets.h"
#include "transport/zmq/worker_step.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace gradlab::transport {

struct WorkerNetworkSettings {
    Hello hello; ///< without the ring's address
    std::chrono::milliseconds heartbeatEvery{250};
    std::chrono::milliseconds lostAfter{2000};      ///< of a silent coordinator
    std::int64_t parentPid = 0;                     ///< whose end is this worker's too; 0: nobody's
    std::function<void(const std::string&)> notice; ///< one line for people; network thread
};

class WorkerNetwork {
public:
    /// Starts the thread. `board` and `clock` outlive this.
    WorkerNetwork(WorkerBoard& board, WorkerClock& clock, std::unique_ptr<WorkerSockets> sockets,
                  WorkerNetworkSettings settings);
    /// Asks for an end if there is none yet, and waits for it.
    ~WorkerNetwork();
    WorkerNetwork(const WorkerNetwork&) = delete;
    WorkerNetwork& operator=(const WorkerNetwork&) = delete;

private:
    using Clock = std::chrono::steady_clock;
    void run();
    void round();
    void tick();
    /// Of a ring: tells the coordinator what becomes of the connection to the next one.
    void watchNeighbour(Clock::duration awake);
    void end(SessionEnd::Kind kind, const std::string& reason);

    // — what comes in —
    void receiveControl();
    void takeOrder(const ReceivedControl& received);
    void welcome(const ReceivedControl& received);
    void refused(const Refuse& refuse);
    void receiveFrames();
    void takeFrame(const ReceivedBytes& received, bool fromRing);
    void takeSnapshot(const Frame& frame);
    void giveIfComplete();
    void broken(const std::string& where, const std::string& what);

    // — what goes out —
    void takePosts();
    void handle(PostSetup& post);
    void handle(PostOpen& post) { step_.open(post); }
    void handle(PostPart& post) { step_.handOver(post); }
    void handle(PostVote& post);
    void handle(PostClose& post) { step_.close(post); }
    void handle(PostControl& post);
    void handle(PostSnapshot& post);
    void handle(PostLeave& post);
    void say(const ControlMessage& message, std::uint64_t step);
    void sayHello();
    void sayReady();
    void sayReadyIfListening();
    void heartbeat();

    WorkerBoard& board_;
    WorkerClock& clock_;
    WorkerNetworkSettings settings_;
    std::unique_ptr<WorkerSockets> sockets_;
    WorkerStep step_;
    WorkerProbe probe_;
    bool readyPending_ = false;
    bool member_ = false;
    std::uint64_t session_ = 0;
    std::uint32_t rank_ = 0;
    std::uint64_t mostDataBytes_ = 0;
    std::optional<PostControl> ready_;        ///< said as soon as neighbours can send
    std::optional<ReceivedControl> awaiting_; ///< Welcome or Load whose snapshot is to come
    std::optional<std::pair<std::uint64_t, engine::ByteBuffer>> snapshot_; ///< request, bytes
    std::optional<SessionEnd> end_;
    int brokenFrames_ = 0;
    Clock::time_point nextHeartbeat_;
    Clock::time_point lastRound_;
    std::optional<Clock::time_point> lastHeard_;
    Clock::duration silence_{};     ///< while this process was awake
    Clock::duration unreachable_{}; ///< the neighbour, likewise
    std::jthread thread_;
};

} // namespace gradlab::transport
