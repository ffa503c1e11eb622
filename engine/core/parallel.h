// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The engine's one way to run a loop on several cores: blocks of a fixed size, so that results do
// not depend on how many threads there are. No task ever waits for a socket, a barrier or another
// task. Leaves out: who may compute when (WorkerTeam's permits).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace gradlab::engine {

/// A TBB arena of `concurrency` threads, the caller included, and no more than there are cores.
/// With one thread nothing of TBB is touched: loops run in the caller. A build with a thread
/// sanitizer always does so (TBB is not instrumented).
class ComputeArena {
public:
    explicit ComputeArena(int concurrency);
    ~ComputeArena();
    ComputeArena(const ComputeArena&) = delete;
    ComputeArena& operator=(const ComputeArena&) = delete;

    /// Runs `work` in the calling thread with this arena in force; exceptions pass through. Not
    /// reentrant.
    template <class Work>
    void execute(const Work& work) {
        run(std::cref(work)); // by reference: a copy would be a heap allocation
    }
    [[nodiscard]] int concurrency() const noexcept { return concurrency_; }
    /// CPU seconds that other threads spent in this arena's loops since the last call.
    [[nodiscard]] double takeHelpersCpu() noexcept;

private:
    void run(const std::function<void()>& work);

    struct Impl;
    std::unique_ptr<Impl> impl_;
    int concurrency_;
    friend void parallelBlocks(std::size_t, const std::function<void(std::size_t)>&);
};

/// Calls body(0) … body(blocks − 1), each once, in any order, on the threads of the calling
/// thread's arena; in order and in the caller without one. Bodies must not depend on each other.
void parallelBlocks(std::size_t blocks, const std::function<void(std::size_t)>& body);

/// parallelBlocks over [0, size) in ranges of `grain`: body(begin, end). Same ranges for any thread
/// count.
template <class Body>
void parallelRanges(std::size_t size, std::size_t grain, Body&& body) {
    const std::size_t blocks = (size + grain - 1) / grain;
    const auto run = [&](std::size_t block) {
        const std::size_t begin = block * grain;
        body(begin, size - begin < grain ? size : begin + grain);
    };
    parallelBlocks(blocks, std::cref(run)); // by reference: a copy would be a heap allocation
}

} // namespace gradlab::engine
