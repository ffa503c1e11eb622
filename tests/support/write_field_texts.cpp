// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Prints the texts of the experiment's fields in a form that lupdate finds: they come from the
// engine's registry and are in no source of the window (widgets/field_text.h).
#include "engine/training/experiment_schema.h"

#include <cstdio>
#include <set>
#include <string>

namespace {

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char character : text) {
        if (character == '"' || character == '\\')
            result += '\\';
        result += character;
    }
    return result + '"';
}

} // namespace

int main() {
    std::set<std::string> texts;
    for (const auto& field : gradlab::engine::experimentSchema())
        for (const std::string& text : {field.label, field.help, field.unit})
            if (!text.empty())
                texts.insert(text);
    for (const std::string& text : texts)
        std::printf("QT_TRANSLATE_NOOP(\"FieldSpec\", %s)\n", quoted(text).c_str());
    return 0;
}
