// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Reads STEP:[RUN:]FIELD=VALUE. The schema says which fields are live and what they take.
#include "app/scripted_change.h"

#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"

#include <charconv>

namespace gradlab::app {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
    throw engine::ExperimentError("", "--change " + std::string(text) + ": " + why +
                                          "; write STEP:FIELD=VALUE or STEP:RUN:FIELD=VALUE, for "
                                          "example 400:compression.memory=residual");
}

std::uint64_t parseStep(std::string_view text, std::string_view digits) {
    std::uint64_t step = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
    if (error != std::errc() || end != digits.data() + digits.size() || step == 0)
        refuse(text, "'" + std::string(digits) + "' is not a step (1, 2, …)");
    return step;
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
    result.change.value = engine::parseFieldValue(*field, text.substr(equals + 1));
    return result;
}

bool concerns(const ScriptedChange& change, std::string_view runName) noexcept {
    return runName.substr(0, change.member.size()) == change.member;
}

} // namespace gradlab::app
