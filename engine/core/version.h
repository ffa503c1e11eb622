// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Which program and machine this is: version, the instruction set that the engine was compiled for,
// host, CPU.
#pragma once

#include "engine/core/export.h"

#include <string>
#include <string_view>

namespace gradlab::engine {

/// "0.1.0".
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string_view version() noexcept;

/// "baseline", "x86-64-v3", "x86-64-v4" or the architecture's name elsewhere: what the compiler was
/// allowed to use, which is the level or more for a build with -march=native.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string_view isaLevel() noexcept;

/// The processor's name as the system gives it, one line; "unknown" if it gives none.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string cpuName();

/// The machine's name, without path separators; "unknown" if it has none.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::string machineName();

} // namespace gradlab::engine
