// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// gradlab-cli bench: what this machine can do, and how near the lab's own work comes to it, as
// JSON. Parts can be asked for alone: bench compress, bench train.
#pragma once

#include "app/cli/bench_suite.h"
#include "app/cli/schema_options.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::app {

struct BenchCompressArguments {
    std::int64_t elements = 4'444'800; ///< the study's medium model
    std::string gradient;              ///< a safetensors file in place of generated numbers
    std::int64_t rounds = 15;
};

/// The experiment's fields that each part has options for, as prefixes of their paths.
[[nodiscard]] const std::vector<std::string>& benchCompressFields();
[[nodiscard]] const std::vector<std::string>& benchTrainFields();

struct BenchArguments {
    std::string models = "small,medium,large";
    std::string workers = "1,2,4";
    BenchSuite suite;
};

/// Prints one JSON document. @return the exit code. @throws the engine's errors
[[nodiscard]] int runBench(const BenchArguments& arguments);

/// Each prints one line. @return the exit code. @throws the engine's errors
[[nodiscard]] int runBenchCompress(const BenchCompressArguments& arguments,
                                   const std::vector<FieldOverride>& overrides);
[[nodiscard]] int runBenchTrain(const std::vector<FieldOverride>& overrides);

} // namespace gradlab::app
