// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A change of a live field that is due after a given step: "400:compression.memory=residual", or
// for one run of a race "400:Top-k:compression.memory=residual" (the start of its name). A change
// of method or memory may say what happens to the memory's content:
// "400:compression.memory=none,flush" (keep, flush, drop; keep if it says nothing). And what is
// done to worker processes at a step.
#pragma once

#include "engine/training/trainer.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradlab::app {

struct ScriptedChange {
    std::uint64_t step = 0;
    std::string member; ///< the start of a run's name; empty = every run
    engine::ParameterChange change;
};

/// @throws ExperimentError naming the text and the form that is expected, for an unknown field, a
/// field that is not live, or a value that it does not take.
[[nodiscard]] ScriptedChange parseScriptedChange(std::string_view text);

/// A change that no run would ever see is a typing mistake. @throws ExperimentError
void requireKnownRuns(const std::vector<ScriptedChange>& script,
                      const std::vector<engine::Experiment>& race);

/// Something done to a worker process on purpose: "100:2=kill".
struct ScriptedAction {
    std::uint64_t step = 0;
    std::uint32_t rank = 0;
    engine::WorkerAction action = engine::WorkerAction::Freeze;
};

/// STEP:RANK=freeze, thaw, kill or leave. @throws ExperimentError naming the text
[[nodiscard]] ScriptedAction parseScriptedAction(std::string_view text);

/// Whether the change is meant for a run of this name.
[[nodiscard]] bool concerns(const ScriptedChange& change, std::string_view runName) noexcept;

} // namespace gradlab::app
