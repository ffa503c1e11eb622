// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/aligned_buffer.h"

#include <sys/mman.h>

#include <new>

namespace gradlab::engine {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::align_val_t alignmentOf(std::size_t bytes) {
    return std::align_val_t{bytes >= kHugePage ? kHugePage : kBufferAlignment};
}

} // namespace

void* allocateAligned(std::size_t bytes) {
    void* const memory = ::operator new(bytes, alignmentOf(bytes));
#ifdef MADV_HUGEPAGE
    // Whole ones only: the rest would take memory that nobody asked for. Refused is as good.
    if (bytes >= kHugePage)
        static_cast<void>(madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE));
#endif
    return memory;
}

void freeAligned(void* pointer, std::size_t bytes) noexcept {
    ::operator delete(pointer, alignmentOf(bytes));
}

} // namespace gradlab::engine
