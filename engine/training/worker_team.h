// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of a process's workers: one each, idle between rounds, no more of them computing at
// once than there are seats. A seat is taken before a round's work and given back after it, never
// inside a TBB task, and nobody waits for a peer while holding one. What only computing needs
// (arena, scratch memory) belongs to the seat. Leaves out: what the work is.
#pragma once

#include "engine/core/parallel.h"

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace gradlab::engine {

/// A worker's turn to compute.
struct ComputeTurn {
    std::size_t seat; ///< below seats(); nobody else's meanwhile
    ComputeArena& arena;
    double waitedS; ///< for the seat
};

class WorkerTeam {
public:
    /// `threads` = cores to use: so many seats, but no more than workers; a seat's arena gets
    /// max(1, threads / workers) of the cores.
    WorkerTeam(std::size_t workers, std::size_t threads);
    ~WorkerTeam();
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;

    [[nodiscard]] std::size_t seats() const noexcept { return arenas_.size(); }

    /// In worker `index`'s thread.
    using Work = std::function<void(std::size_t index, const ComputeTurn& turn)>;
    /// Called in a worker's thread when its work has thrown; may be empty.
    using Failed = std::function<void()>;

    /// Starts a round; returns at once. Every round must be joined.
    void start(Work work, Failed failed = {});
    /// Blocks until everybody is done; the exception of the lowest index, or null. Cancelled counts
    /// only if nobody threw anything else: it is what the others throw once one has failed.
    [[nodiscard]] std::exception_ptr join();
    /// start and join; throws what the work threw.
    void run(Work work);

private:
    void loop(std::size_t index, const std::stop_token& stop);
    [[nodiscard]] ComputeTurn takeSeat();
    void giveSeat(std::size_t seat);

    std::mutex mutex_; ///< guards everything down to done_
    std::condition_variable_any roundStarted_;
    std::condition_variable_any roundDone_;
    std::condition_variable_any seatFree_;
    Work work_;
    Failed failed_;
    std::vector<std::exception_ptr> errors_;
    std::size_t round_ = 0;
    std::size_t busy_ = 0;
    std::vector<std::size_t> freeSeats_;
    std::vector<std::unique_ptr<ComputeArena>> arenas_; ///< by seat
    std::vector<std::jthread> threads_; ///< last: joined before anything they use goes
};

} // namespace gradlab::engine
