// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/parallel.h"

#include "engine/core/allocation_count.h"
#include "engine/core/cpu_clock.h"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

namespace gradlab::engine {

#ifdef GRADLAB_SERIAL_EXECUTOR
constexpr bool kSerial = true;
#else
constexpr bool kSerial = false;
#endif

struct ComputeArena::Impl {
    tbb::task_arena arena;
    std::atomic<std::int64_t> helpersNanoseconds{0};
};

namespace {
// The arena in force in this thread; null where loops run serially.
thread_local ComputeArena* currentArena = nullptr;
} // namespace

ComputeArena::ComputeArena(int concurrency)
    : impl_(std::make_unique<Impl>()),
      concurrency_(kSerial ? 1 : std::clamp(concurrency, 1, tbb::info::default_concurrency())) {
    if (concurrency_ > 1)
        impl_->arena.initialize(concurrency_, 1);
}

ComputeArena::~ComputeArena() = default;

void ComputeArena::run(const std::function<void()>& work) {
    if (concurrency_ == 1) {
        work();
        return;
    }
    struct Restore {
        ComputeArena* previous;
        ~Restore() { currentArena = previous; }
    } restore{std::exchange(currentArena, this)};
    impl_->arena.execute([&] { work(); });
}

double ComputeArena::takeHelpersCpu() noexcept {
    return 1e-9 * static_cast<double>(impl_->helpersNanoseconds.exchange(0));
}

void parallelBlocks(std::size_t blocks, const std::function<void(std::size_t)>& body) {
    ComputeArena* const arena = currentArena;
    if (arena == nullptr || blocks < 2) {
        for (std::size_t block = 0; block < blocks; ++block)
            body(block);
        return;
    }
    const auto caller = std::this_thread::get_id();
    const bool counted = AllocationScope::inside();
    auto& helpers = arena->impl_->helpersNanoseconds;
    tbb::parallel_for(std::size_t{0}, blocks, [&](std::size_t block) {
        if (std::this_thread::get_id() == caller) {
            body(block);
            return;
        }
        const AllocationScope scope(counted);
        const double before = threadCpuSeconds();
        body(block);
        helpers += static_cast<std::int64_t>(1e9 * (threadCpuSeconds() - before));
    });
}

} // namespace gradlab::engine
