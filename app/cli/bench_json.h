// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What benchmarks measured, as JSON objects under the names of the contract.
#pragma once

#include "engine/benchmark/compression_benchmark.h"
#include "engine/benchmark/training_benchmark.h"

#include <nlohmann/json.hpp>

namespace gradlab::app {

/// `experiment` is resolved, in both.
[[nodiscard]] nlohmann::ordered_json compressionLine(const engine::Experiment& experiment,
                                                     const engine::CompressionCost& cost);
[[nodiscard]] nlohmann::ordered_json trainingLine(const engine::Experiment& experiment,
                                                  const engine::TrainingCost& cost);

} // namespace gradlab::app
