// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How fast whole training steps go: forward, backward, compression, exchange and update of an
// experiment on random tokens, beside what the processor's products can do at best.
#pragma once

#include "engine/core/export.h"
#include "engine/metrics/step_record.h"
#include "engine/training/cluster_coordinator.h"
#include "engine/training/experiment.h"

#include <cstdint>

namespace gradlab::engine {

struct TrainingBenchmark {
    Experiment experiment;   ///< its corpus is not read; its vocabulary's size is
    std::uint64_t steps = 5; ///< measured ones, after two more
};

struct TrainingCost {
    double tokensPerSecond = 0.0;  ///< at the median step
    double secondsPerStep = 0.0;   ///< median
    double compressionShare = 0.0; ///< compression / compute, CPU time over all measured steps
    double peakRssMib = 0.0;
    double productGflops = 0.0; ///< measureProductGflops() in this precision on as many threads
    double shareOfLimit = 0.0;  ///< 6·(V·H + 8·L·H²) flops a token against productGflops
    double allocationsPerStep = 0.0; ///< not a number where none are counted
    double bytesMessage = 0.0;
    double bytesUp = 0.0;
    double bytesDown = 0.0;
    double aggregateCpu = 0.0; ///< the server's, seconds a step
    StepTimes t;               ///< means over the measured steps
    StepTimes cpu;             ///< the same by CPU clock
};

/// @throws ExperimentError, NumericError
[[nodiscard]] GRADLAB_ENGINE_EXPORT TrainingCost
measureTraining(const TrainingBenchmark& request, const TransportFactories& transports);

} // namespace gradlab::engine
