// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The threads of a process's workers: one each, idle between rounds, at most `permits` of them
// computing at once. A permit is taken before a round's work and given back after it, never inside
// a TBB task, and nobody waits for a peer while holding one. Leaves out: what the work is.
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

class WorkerTeam {
public:
    /// `threads` = cores to use: each worker's arena gets max(1, threads / workers) of them.
    WorkerTeam(std::size_t workers, std::size_t threads);
    ~WorkerTeam();
    WorkerTeam(const WorkerTeam&) = delete;
    WorkerTeam& operator=(const WorkerTeam&) = delete;

    /// work(index, arena, secondsWaitedForAPermit), in worker `index`'s thread.
    using Work = std::function<void(std::size_t index, ComputeArena& arena, double turn)>;
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
    double takePermit();
    void givePermit();

    std::mutex mutex_; ///< guards everything down to done_
    std::condition_variable_any roundStarted_;
    std::condition_variable_any roundDone_;
    std::condition_variable_any permitFree_;
    Work work_;
    Failed failed_;
    std::vector<std::exception_ptr> errors_;
    std::size_t round_ = 0;
    std::size_t busy_ = 0;
    std::size_t permits_;
    std::vector<std::unique_ptr<ComputeArena>> arenas_;
    std::vector<std::jthread> threads_; ///< last: joined before anything they use goes
};

} // namespace gradlab::engine
