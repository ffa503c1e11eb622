// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a program decides about its coordinator besides the experiment.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace gradlab::transport {

struct CoordinatorOptions {
    /// Program, and arguments before `worker --connect …`, that runs a local worker. Empty: none
    /// can be started.
    std::vector<std::string> workerCommand;
    bool insecure = false; ///< other than loopback addresses without keys, said out loud
    // Of silence, of no progress, and for loading a snapshot. Tests shorten them.
    std::chrono::milliseconds stalledAfter{750};
    std::chrono::milliseconds lostAfter{2000};
    std::chrono::milliseconds stragglesAfter{5000}; ///< or 4 × the usual step time, if longer
    std::chrono::milliseconds readyWithin{60000};
};

} // namespace gradlab::transport
