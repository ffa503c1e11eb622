// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Scratch memory that is allocated for the largest window seen and then reused.
#pragma once

#include "engine/core/aligned_buffer.h"

#include <cstddef>
#include <span>

namespace gradlab::engine {

/// The first `size` elements of `buffer`, which grows when it is too small; growing drops its
/// contents.
template <class T>
[[nodiscard]] std::span<T> grow(AlignedBuffer<T>& buffer, std::size_t size) {
    if (buffer.size() < size)
        buffer = AlignedBuffer<T>(size);
    return buffer.span().first(size);
}

} // namespace gradlab::engine
