// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace gradlab::app {

void openStandardStreams() {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
        if (::fcntl(stream, F_GETFD) < 0)
            (void)::open("/dev/null", O_RDWR); // the lowest free number: this one
}

} // namespace gradlab::app
