// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/buffer_pool.h"

#include "engine/core/check.h"

#include <utility>

namespace gradlab::transport {
namespace {

// One being sent, one kept for a redo, one being written.
constexpr std::size_t kMostFree = 3;

} // namespace

std::shared_ptr<BufferPool> BufferPool::create(std::size_t slots) {
    return std::shared_ptr<BufferPool>(new BufferPool(slots));
}

engine::ByteBuffer BufferPool::take(std::size_t slot) {
    const std::lock_guard lock(mutex_);
    GRADLAB_CHECK(slot < free_.size(), slot, free_.size());
    if (free_[slot].empty())
        return {};
    engine::ByteBuffer buffer = std::move(free_[slot].back());
    free_[slot].pop_back();
    return buffer;
}

SharedBytes BufferPool::share(std::size_t slot, engine::ByteBuffer bytes) {
    const auto back = [pool = weak_from_this(), slot](engine::ByteBuffer* buffer) {
        const std::unique_ptr<engine::ByteBuffer> owned(buffer);
        if (const auto alive = pool.lock())
            alive->giveBack(slot, std::move(*owned));
    };
    return {new engine::ByteBuffer(std::move(bytes)), back};
}

void BufferPool::giveBack(std::size_t slot, engine::ByteBuffer&& bytes) {
    const std::lock_guard lock(mutex_);
    if (slot < free_.size() && free_[slot].size() < kMostFree)
        free_[slot].push_back(std::move(bytes));
}

} // namespace gradlab::transport
