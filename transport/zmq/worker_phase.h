// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker process is doing, as its heartbeats say.
#pragma once

#include <cstdint>
#include <functional>

namespace gradlab::transport {

enum class WorkerPhase {
    Idle,        ///< waiting for an order
    Loading,     ///< taking or giving a snapshot
    Computing,   ///< the step has begun
    HandingOver, ///< a part is encoded and goes to the network thread
    Exchanging,  ///< waiting for the mean
    Voting,      ///< the mean is complete and finite; before the coordinator hears so
    Committed,   ///< the step is final; before memory and parameters change
    Updating
};

/// "idle", "loading", "computing", "exchanging", "voting" or "updating".
[[nodiscard]] constexpr const char* toString(WorkerPhase phase) noexcept {
    switch (phase) {
    case WorkerPhase::Idle:
        return "idle";
    case WorkerPhase::Loading:
        return "loading";
    case WorkerPhase::Computing:
    case WorkerPhase::HandingOver:
        return "computing";
    case WorkerPhase::Exchanging:
        return "exchanging";
    case WorkerPhase::Voting:
        return "voting";
    case WorkerPhase::Committed:
    case WorkerPhase::Updating:
        return "updating";
    }
    return "";
}

/// Called in the compute thread each time a phase begins (HandingOver: before each part).
using PhaseHook = std::function<void(WorkerPhase, std::uint64_t step)>;

} // namespace gradlab::transport
