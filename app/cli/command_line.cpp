// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.h"

#include "engine/core/version.h"

#include <CLI/CLI.hpp>

namespace gradlab::app {

int runCommandLine(int argc, char** argv) {
    CLI::App app("Gradient Lab: what gradient compression does to distributed training");
    app.set_version_flag("--version", "gradlab-cli " + std::string(engine::version()));
    CLI11_PARSE(app, argc, argv);
    return 0;
}

} // namespace gradlab::app
