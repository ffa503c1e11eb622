// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The program's operator new: the usual memory, and a note of each request for `gradlab-cli bench`.
// Sanitizers bring their own, which must stay.
#include "engine/core/allocation_count.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // GCC's way to say so
#define GRADLAB_SANITIZED
#elif defined(__has_feature) // Clang's
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GRADLAB_SANITIZED
#endif
#endif

#ifndef GRADLAB_SANITIZED

#include <cstdlib>
#include <new>

void* operator new(std::size_t size) {
    gradlab::engine::noteAllocation();
    if (void* const memory = std::malloc(size > 0 ? size : 1))
        return memory;
    throw std::bad_alloc();
}

void* operator new(std::size_t size, std::align_val_t alignment) {
    gradlab::engine::noteAllocation();
    const auto unit = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(unit, (size + unit - 1) / unit * unit))
        return memory;
    throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}

#endif
