// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// An experiment as the options that make it, ready for a shell.
#include "engine/training/experiment_schema.h"

namespace gradlab::engine {

namespace {

bool needsNoQuotes(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+=:,./%@").find(c) != std::string_view::npos;
}

/// In single quotes where a POSIX shell would read something into it.
std::string shellWord(const std::string& text) {
    bool plain = !text.empty();
    for (const char c : text)
        plain = plain && needsNoQuotes(c);
    if (plain)
        return text;
    std::string word = "'";
    for (const char c : text)
        word += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return word + "'";
}

} // namespace

std::string commandLineOptions(const Experiment& experiment) {
    std::string options;
    for (const FieldSpec& field : experimentSchema()) {
        const FieldValue value = getField(experiment, field.path);
        if (value == field.defaultValue)
            continue;
        if (!options.empty())
            options += " ";
        options += field.option;
        if (field.type == FieldType::Boolean)
            continue;
        options += ' ';
        options += shellWord(formatFieldValue(field, value));
    }
    return options;
}

} // namespace gradlab::engine
