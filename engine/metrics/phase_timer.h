// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where one worker's step spends its time, by wall clock and by CPU clock, phase by phase. A
// phase's CPU time is that of the thread that times it; what the phase's tasks burn on other
// threads is added by addCpu(). Leaves out: the modelled link (link_model.h).
#pragma once

#include "engine/core/cpu_clock.h"
#include "engine/core/export.h"
#include "engine/metrics/step_record.h"

#include <chrono>

namespace gradlab::engine {

/// One for each field of StepTimes.
enum class Phase {
    Forward,
    Backward,
    Compress,
    Encode,
    Transfer,
    Wait,
    Turn,
    Decode,
    Update,
    TransferHidden
};

[[nodiscard]] GRADLAB_ENGINE_EXPORT double& phaseSeconds(StepTimes& times, Phase phase);
/// Sum, phase by phase.
GRADLAB_ENGINE_EXPORT void addTimes(StepTimes& into, const StepTimes& more);
/// Every phase times `factor` (1/N makes a mean of a sum).
GRADLAB_ENGINE_EXPORT void scaleTimes(StepTimes& times, double factor);

/// Accumulates one worker's step. Not thread-safe: one object a worker, used by whoever runs its
/// phase; other threads measure by themselves and hand in their sums by addWall() and addCpu()
/// through their owner.
class GRADLAB_ENGINE_EXPORT PhaseTimer {
public:
    /// Starts the next step from zero.
    void reset();
    void addWall(Phase phase, double seconds);
    void addCpu(Phase phase, double seconds);
    [[nodiscard]] const StepTimes& wall() const noexcept { return wall_; }
    [[nodiscard]] const StepTimes& cpu() const noexcept { return cpu_; }

private:
    StepTimes wall_;
    StepTimes cpu_;
};

/// Times one phase from construction to stop() or the end of the scope, in one thread. Phases may
/// follow each other by next(); a phase inside a phase is counted in both, so end the outer one
/// first.
class GRADLAB_ENGINE_EXPORT ScopedPhase {
public:
    ScopedPhase(PhaseTimer& timer, Phase phase);
    ~ScopedPhase();
    ScopedPhase(const ScopedPhase&) = delete;
    ScopedPhase& operator=(const ScopedPhase&) = delete;
    /// Ends this phase and starts another at the same instant.
    void next(Phase phase);
    void stop();

private:
    void account();

    PhaseTimer& timer_; ///< the worker's, outlives this
    Phase phase_;
    std::chrono::steady_clock::time_point wallStart_;
    double cpuStart_;
    bool running_ = true;
};

} // namespace gradlab::engine
