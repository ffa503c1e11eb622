// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Threads that work for microseconds at a time while others wait for them ask the scheduler for
// short slices of time: then they need not wait until a computing thread has used up its long one.
// It is a wish, and no higher priority; where the system does not know it (Linux before 6.12)
// nothing changes.
#pragma once

#include <zmq.hpp>

namespace gradlab::transport {

/// The calling thread, from now on; threads and processes that it starts are as usual.
void becomePrompt() noexcept;
/// Its own threads, which read and write for its sockets, are prompt.
[[nodiscard]] zmq::context_t promptContext();

} // namespace gradlab::transport
