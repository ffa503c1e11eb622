// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Buffers that come back: the last one who lets go of a message, be it a redone step or ZeroMQ's
// thread, puts its memory here, and the next step writes into it.
#pragma once

#include "engine/core/byte_buffer.h"
#include "transport/zmq/sockets.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace gradlab::transport {

/// Any thread. One slot for messages of about one size, a part's for example.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
public:
    [[nodiscard]] static std::shared_ptr<BufferPool> create(std::size_t slots);

    /// Whatever it holds is old; empty if none has come back.
    [[nodiscard]] engine::ByteBuffer take(std::size_t slot);
    /// Comes back to the slot when nobody holds it any more; outliving the pool is fine.
    [[nodiscard]] SharedBytes share(std::size_t slot, engine::ByteBuffer bytes);

private:
    explicit BufferPool(std::size_t slots) : free_(slots) {}
    void giveBack(std::size_t slot, engine::ByteBuffer&& bytes);

    std::mutex mutex_; ///< guards free_
    std::vector<std::vector<engine::ByteBuffer>> free_;
};

} // namespace gradlab::transport
