// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Reads STEP:[RUN:]FIELD=VALUE[,keep|flush|drop]. The schema says which fields are live and what
// they take.
#include "app/cli/scripted_change.h"

#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace gradlab::app {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw engine::ExperimentError("", why + ": --change " + std::string(text) +
                                          "; write STEP:FIELD=VALUE or STEP:RUN:FIELD=VALUE, for "
                                          "example 400:compression.memory=none,flush");
}

template <class Number>
bool readNumber(std::string_view digits, Number& number) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size();
}

std::uint64_t parseStep(std::string_view text, std::string_view digits) {
    std::uint64_t step = 0;
    if (!readNumber(digits, step) || step == 0)
        refuse(text, "'" + std::string(digits) + "' is not a step (1, 2, …)");
    return step;
}

/// Takes ",flush" off the value of a method or a memory.
engine::MemoryChange takeMemoryChange(std::string_view text, std::string_view& value) {
    const std::size_t comma = value.find(',');
    if (comma == std::string_view::npos)
        return engine::MemoryChange::Keep;
    const std::string_view name = value.substr(comma + 1);
    const auto change = engine::memoryChangeOf(name);
    if (!change)
        refuse(text, "'" + std::string(name) + "' is not keep, flush or drop");
    value = value.substr(0, comma);
    return *change;
}

} // namespace

ScriptedChange parseScriptedChange(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos)
        refuse(text, "no step");
    const std::size_t equals = text.find('=', colon);
    if (equals == std::string_view::npos)
        refuse(text, "no value");
    ScriptedChange result;
    result.step = parseStep(text, text.substr(0, colon));
    std::string_view path = text.substr(colon + 1, equals - colon - 1);
    if (const std::size_t split = path.rfind(':'); split != std::string_view::npos) {
        result.member = path.substr(0, split);
        path.remove_prefix(split + 1);
    }
    const engine::FieldSpec* field = engine::findField(path);
    if (field == nullptr)
        refuse(text, "'" + std::string(path) + "' is not a field");
    if (!field->live)
        refuse(text, field->path + " cannot change during a run");
    result.change.path = field->path;
    std::string_view value = text.substr(equals + 1);
    if (engine::concernsMemory(result.change))
        result.change.memory = takeMemoryChange(text, value);
    result.change.value = engine::parseFieldValue(*field, value);
    return result;
}

void requireKnownRuns(const std::vector<ScriptedChange>& script,
                      const std::vector<engine::Experiment>& race) {
    for (const ScriptedChange& change : script) {
        const bool known = std::any_of(race.begin(), race.end(),
                                       [&](const auto& run) { return concerns(change, run.name); });
        if (!known)
            throw engine::ExperimentError(change.change.path,
                                          "no run has that name: --change …:" + change.member +
                                              ":…; give the start of a run's name");
    }
}

ScriptedAction parseScriptedAction(std::string_view text) {
    constexpr std::array<std::pair<std::string_view, engine::WorkerAction>, 4> kActions = {
        {{"freeze", engine::WorkerAction::Freeze},
         {"thaw", engine::WorkerAction::Thaw},
         {"kill", engine::WorkerAction::Kill},
         {"leave", engine::WorkerAction::Leave}}};
    const std::size_t colon = text.find(':');
    const std::size_t equals = text.find('=');
    ScriptedAction result;
    const auto found =
        equals == std::string_view::npos
            ? kActions.end()
            : std::find_if(kActions.begin(), kActions.end(), [&](const auto& action) {
                  return action.first == text.substr(equals + 1);
              });
    if (colon == std::string_view::npos || found == kActions.end() || colon > equals ||
        !readNumber(text.substr(0, colon), result.step) || result.step == 0 ||
        !readNumber(text.substr(colon + 1, equals - colon - 1), result.rank))
        throw engine::ExperimentError("",
                                      "not understood: --worker " + std::string(text) +
                                          "; write STEP:RANK=ACTION with "
                                          "freeze, thaw, kill or leave, for example 100:2=kill");
    result.action = found->second;
    return result;
}

bool concerns(const ScriptedChange& change, std::string_view runName) noexcept {
    return runName.substr(0, change.member.size()) == change.member;
}

} // namespace gradlab::app
