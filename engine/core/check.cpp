// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/core/check.h"

namespace gradlab::engine {

CheckFailure::~CheckFailure() = default;

void failCheck(const char* condition, const char* file, int line, const std::string& values) {
    std::ostringstream text;
    text << "internal error: (" << condition << ") does not hold:" << values << " at " << file
         << ':' << line;
    throw CheckFailure(text.str());
}

} // namespace gradlab::engine
