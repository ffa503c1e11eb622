// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How many times the engine's step asks for heap memory: a program whose operator new calls
// noteAllocation() (gradlab-cli's does) can read what was asked for inside AllocationScopes, by
// the thread of the scope and by the helpers of its loops. Leaves out: sizes, who asked.
#pragma once

#include "engine/core/export.h"

#include <cstdint>
#include <optional>

namespace gradlab::engine {

/// Called by the program's operator new, in any thread.
GRADLAB_ENGINE_EXPORT void noteAllocation() noexcept;

/// Requests inside scopes since the program began; none where no operator new calls
/// noteAllocation().
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::optional<std::uint64_t> countedAllocations() noexcept;

/// While one lives, its thread's requests count. Scopes nest.
class GRADLAB_ENGINE_EXPORT AllocationScope {
public:
    /// Inactive where `active` is false: for a helper whose caller has no scope.
    explicit AllocationScope(bool active = true) noexcept;
    ~AllocationScope();
    AllocationScope(const AllocationScope&) = delete;
    AllocationScope& operator=(const AllocationScope&) = delete;
    /// Whether the calling thread is inside a scope.
    [[nodiscard]] static bool inside() noexcept;

private:
    bool active_;
};

} // namespace gradlab::engine
