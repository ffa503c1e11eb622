// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// GRADLAB_CHECK(condition, values…): an invariant that is always checked; failing it is a bug.
#pragma once

#include "engine/core/export.h"

#include <sstream>
#include <stdexcept>
#include <string>

namespace gradlab::engine {

/// Thrown when an invariant does not hold; the message has the condition and the values.
class GRADLAB_ENGINE_EXPORT CheckFailure : public std::logic_error {
public:
    using std::logic_error::logic_error;
    ~CheckFailure() override;
};

[[noreturn]] GRADLAB_ENGINE_EXPORT void failCheck(const char* condition, const char* file, int line,
                                                  const std::string& values);

template <class... Values>
[[nodiscard]] std::string describeValues(const Values&... values) {
    std::ostringstream text;
    ((text << ' ' << values), ...);
    return text.str();
}

} // namespace gradlab::engine

#define GRADLAB_CHECK(condition, ...)                                                              \
    do {                                                                                           \
        if (!(condition)) [[unlikely]]                                                             \
            ::gradlab::engine::failCheck(#condition, __FILE__, __LINE__,                           \
                                         ::gradlab::engine::describeValues(__VA_ARGS__));          \
    } while (false)
