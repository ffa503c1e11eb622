// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/allocation_count.h"

#include <atomic>

namespace gradlab::engine {

namespace {

thread_local unsigned depth = 0;
std::atomic<bool> hooked{false};
std::atomic<std::uint64_t> counted{0};

} // namespace

void noteAllocation() noexcept {
    hooked.store(true, std::memory_order_relaxed);
    if (depth > 0)
        counted.fetch_add(1, std::memory_order_relaxed);
}

std::optional<std::uint64_t> countedAllocations() noexcept {
    if (!hooked.load(std::memory_order_relaxed))
        return std::nullopt;
    return counted.load(std::memory_order_relaxed);
}

AllocationScope::AllocationScope(bool active) noexcept : active_(active) {
    depth += active ? 1 : 0;
}

AllocationScope::~AllocationScope() {
    depth -= active_ ? 1 : 0;
}

bool AllocationScope::inside() noexcept {
    return depth > 0;
}

} // namespace gradlab::engine
