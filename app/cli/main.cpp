// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli: everything that needs no window.
#include "app/cli/command_line.h"
#include "app/cli/standard_streams.h"

int main(int argc, char** argv) {
    gradlab::app::openStandardStreams();
    return gradlab::app::runCommandLine(argc, argv);
}
