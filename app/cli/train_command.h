// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli train: an experiment or a race from start to end, with progress, run folder and
// Ctrl-C.
#pragma once

#include "app/cli/schema_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::app {

struct TrainArguments {
    std::string file;                        ///< experiment or race; empty: the defaults
    std::string out;                         ///< run folder
    std::string log;                         ///< JSONL alone
    std::string resume;                      ///< run folder to go on with
    std::string fork;                        ///< run folder to go on from, maybe with @STEP
    std::string save;                        ///< final parameters
    std::vector<std::int64_t> gradientSteps; ///< steps whose gradient is kept in the run folder
    std::vector<std::int64_t> seeds;         ///< a run from each; empty: from the experiment's own
    std::string series;               ///< folder of such runs of which this is one; empty: of none
    std::vector<std::string> changes; ///< STEP:[RUN:]FIELD=VALUE, see scripted_change.h
    bool perWorker = false;
    bool quiet = false;
    bool insecure = false; ///< listen beyond loopback without keys
};

/// @return 0, or 130 after Ctrl-C. @throws the engine's errors, which have their own exit codes
[[nodiscard]] int runTrain(const TrainArguments& arguments,
                           const std::vector<FieldOverride>& overrides);

} // namespace gradlab::app
