// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// All benchmarks in one JSON document: the machine's limits, the model's kernels, each method's
// compression, whole training steps; and from these where compression pays.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradlab::app {

struct BenchSuite {
    std::vector<std::string> models = {"small", "medium", "large"}; ///< the study's
    std::vector<std::int64_t> workers = {1, 2, 4};
    std::int64_t batch = 256;
    std::int64_t bptt = 35;
    std::int64_t vocabulary = 10'000;
    std::int64_t steps = 5;            ///< measured ones a training cell
    std::int64_t elements = 4'444'800; ///< of the gradient that is compressed
    std::int64_t rounds = 15;          ///< of compressing it
};

/// What is being measured, and the share of the whole work that is done, 0…1.
using BenchProgress = std::function<void(const std::string& what, double done)>;

/// Takes minutes. `progress` is called before each measurement and may throw to end them.
/// @throws ExperimentError for unknown models, a batch that cannot be shared out, …
[[nodiscard]] nlohmann::ordered_json runBenchSuite(const BenchSuite& suite,
                                                   const BenchProgress& progress);

} // namespace gradlab::app
