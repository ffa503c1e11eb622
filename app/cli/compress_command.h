// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli compress: one method on gradients of the user's own, a JSON line a tensor.
#pragma once

#include "app/cli/schema_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::app {

struct CompressArguments {
    std::string input;
    std::string output;
    std::string stateIn;
    std::string stateOut;
    std::string uniforms;
    std::int64_t step = 1;  ///< from 1
    std::int64_t epoch = 0; ///< from 0
};

/// Which of the experiment's fields the command has options for, as prefixes of their paths.
[[nodiscard]] const std::vector<std::string>& compressFields();

/// @return the exit code. @throws the engine's errors
[[nodiscard]] int runCompress(const CompressArguments& arguments,
                              const std::vector<FieldOverride>& overrides);

} // namespace gradlab::app
