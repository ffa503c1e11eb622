// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What happens to which worker where, drawn from a seed.
#pragma once

#include "engine/core/random.h"
#include "tests/support/fault_point.h"
#include "tests/support/small_run.h"

#include <array>
#include <cstdint>
#include <string>

namespace gradlab::tests {

enum class FaultKind {
    Kill,    ///< kill -9
    Stall,   ///< stopped for a second: nothing is lost
    Freeze,  ///< stopped until it is lost, then goes on and joins again by itself
    Restart, ///< kill -9, and at once another process of the same name
    Replace, ///< stopped, another process takes its name, then it goes on
    Cut,     ///< the connection from its neighbour in the ring breaks: nothing is lost
    Sever    ///< all of its connections break: it is lost, and joins again by itself
};
inline constexpr std::array<const char*, 7> kFaultKinds = {"kill",    "stall", "freeze", "restart",
                                                           "replace", "cut",   "sever"};

inline constexpr std::uint32_t kParts = 3; ///< of the model's message

struct FaultCase {
    FaultKind kind = FaultKind::Kill;
    FaultPoint point; ///< of a joiner, if it is while loading
    std::string topology = "server";
    std::string method = "none";
    std::uint32_t workers = 3;
    std::uint32_t victim = 0; ///< rank

    [[nodiscard]] bool whileLoading() const noexcept {
        return point.phase == transport::WorkerPhase::Loading;
    }
    /// The step that it happens in is not committed yet.
    [[nodiscard]] bool beforeCommit() const noexcept {
        using transport::WorkerPhase;
        return point.phase == WorkerPhase::Computing || point.phase == WorkerPhase::HandingOver ||
               point.phase == WorkerPhase::Exchanging || point.phase == WorkerPhase::Voting;
    }
    [[nodiscard]] std::string text() const {
        return std::string(kFaultKinds[static_cast<std::size_t>(kind)]) + " " + point.text() + " " +
               topology + " " + method + " x" + std::to_string(workers);
    }
};

/// The kinds in turn, everything else by chance.
inline FaultCase drawFault(std::uint32_t seed, std::uint32_t number) {
    engine::RandomStream random(seed, engine::RandomPurpose::Test, number, 0, 0);
    FaultCase drawn;
    drawn.kind = static_cast<FaultKind>(number % kFaultKinds.size());
    drawn.topology = random.below(2) == 0 ? "server" : "ring";
    drawn.method = random.below(2) == 0 ? "none" : "topk";
    drawn.workers = 3 + random.below(2);
    drawn.victim = random.below(drawn.workers);
    const bool dies = drawn.kind == FaultKind::Kill || drawn.kind == FaultKind::Restart;
    drawn.point.action = dies ? "kill" : drawn.kind == FaultKind::Sever ? "sever" : "stop";
    drawn.point.phase = kPhases[random.below(static_cast<std::uint32_t>(kPhases.size()))].first;
    drawn.point.step = 2 + random.below(5);
    if (drawn.kind == FaultKind::Cut) {
        drawn.topology = "ring";
        drawn.point.action = "cut";
        if (drawn.whileLoading())
            drawn.point.phase = transport::WorkerPhase::Exchanging;
    }
    drawn.point.name = "worker-" + std::to_string(drawn.victim);
    if (drawn.point.phase == transport::WorkerPhase::HandingOver)
        drawn.point.nth = 1 + random.below(kParts);
    return drawn;
}

/// Three parts a message, a few milliseconds a step, hashes compared after each one.
inline engine::Experiment faultExperiment(const std::string& topology, const std::string& method,
                                          std::uint32_t workers) {
    engine::Experiment experiment = smallExperiment("Faults");
    experiment.model.hidden = 96;
    experiment.model.layers = 3;
    experiment.training.batch = 12;
    experiment.training.evalEvery = 1000000;
    experiment.cluster.workers = workers;
    experiment.cluster.topology = topology;
    experiment.cluster.hashEvery = 1;
    setCompression(experiment, method);
    return experiment;
}

} // namespace gradlab::tests
