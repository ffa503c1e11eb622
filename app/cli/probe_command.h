// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli probe: what the network between a coordinator and its workers can carry, and how long
// a step of the experiment would take on it.
#pragma once

#include "app/cli/schema_options.h"

#include <string>
#include <vector>

namespace gradlab::app {

struct ProbeArguments {
    std::string file;
    bool insecure = false;
};

[[nodiscard]] std::string probeHelp();

/// Prints one JSON document. @return the exit code. @throws the engine's errors
[[nodiscard]] int runProbe(const ProbeArguments& arguments,
                           const std::vector<FieldOverride>& overrides);

} // namespace gradlab::app
