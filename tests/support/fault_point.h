// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Where a worker process of a test harms itself, as a text: ACTION@PHASE[.N]@STEP@NAME.
#pragma once

#include "engine/core/errors.h"
#include "transport/zmq/worker_phase.h"

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace gradlab::tests {

struct FaultPoint {
    std::string action = "kill"; ///< kill, stop, cut, sever
    transport::WorkerPhase phase = transport::WorkerPhase::Computing;
    unsigned nth = 1; ///< time that the worker enters the phase in the step
    std::uint64_t step = 1;
    std::string name; ///< of the worker

    [[nodiscard]] std::string text() const;
    /// @throws engine::ExperimentError
    [[nodiscard]] static FaultPoint parse(const std::string& text);
};

/// In the order in which a worker passes them.
inline constexpr std::array<std::pair<transport::WorkerPhase, const char*>, 8> kPhases = {
    {{transport::WorkerPhase::Loading, "loading"},
     {transport::WorkerPhase::Computing, "computing"},
     {transport::WorkerPhase::HandingOver, "handing-over"},
     {transport::WorkerPhase::Exchanging, "exchanging"},
     {transport::WorkerPhase::Voting, "voting"},
     {transport::WorkerPhase::Committed, "committed"},
     {transport::WorkerPhase::Updating, "updating"},
     {transport::WorkerPhase::Idle, "idle"}}};

inline std::string nameOf(transport::WorkerPhase phase) {
    for (const auto& [one, name] : kPhases)
        if (one == phase)
            return name;
    return "";
}

inline std::string FaultPoint::text() const {
    return action + "@" + nameOf(phase) + "." + std::to_string(nth) + "@" + std::to_string(step) +
           "@" + name;
}

inline FaultPoint FaultPoint::parse(const std::string& text) {
    std::vector<std::string> words = {""};
    for (const char c : text)
        if (c == '@')
            words.emplace_back();
        else
            words.back() += c;
    if (words.size() != 4)
        throw engine::ExperimentError("", "not ACTION@PHASE[.N]@STEP@NAME: --fault " + text);
    FaultPoint point;
    point.action = words[0];
    const std::size_t dot = words[1].find('.');
    if (dot != std::string::npos)
        point.nth = static_cast<unsigned>(std::stoul(words[1].substr(dot + 1)));
    point.step = std::stoull(words[2]);
    point.name = words[3];
    for (const auto& [phase, name] : kPhases)
        if (words[1].substr(0, dot) == name) {
            point.phase = phase;
            return point;
        }
    throw engine::ExperimentError("", "unknown phase " + words[1] + ": --fault " + text);
}

} // namespace gradlab::tests
