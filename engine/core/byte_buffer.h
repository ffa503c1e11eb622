// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of a message. Growing does not clear: encoders write every byte that they claim.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace gradlab::engine {

/// std::allocator whose value-initialisation leaves bytes as they are.
template <class T>
struct UninitialisedAllocator : std::allocator<T> {
    template <class U>
    struct rebind { // NOLINT(readability-identifier-naming): the allocator requirements' name
        using other = UninitialisedAllocator<U>;
    };
    template <class U>
    void construct(U* pointer) noexcept {
        ::new (static_cast<void*>(pointer)) U;
    }
    template <class U, class... Arguments>
    void construct(U* pointer, Arguments&&... arguments) {
        ::new (static_cast<void*>(pointer)) U(std::forward<Arguments>(arguments)...);
    }
};

using ByteBuffer = std::vector<std::byte, UninitialisedAllocator<std::byte>>;
using ByteView = std::span<const std::byte>;

} // namespace gradlab::engine
