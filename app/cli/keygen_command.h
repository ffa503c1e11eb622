// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli keygen: the file of keys by which a cluster knows its members.
#pragma once

#include <cstdint>
#include <string>

namespace gradlab::app {

struct KeygenArguments {
    std::string out;
    std::int64_t workers = 4;
};

[[nodiscard]] std::string keygenHelp();

/// @return the exit code. @throws the engine's errors
[[nodiscard]] int runKeygen(const KeygenArguments& arguments);

} // namespace gradlab::app
