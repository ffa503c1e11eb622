// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a step of an experiment would take on a network that was measured, with one method or
// another. A few steps on the coordinator's machine give the messages' bytes and everybody's CPU
// time; the link model adds the network. Leaves out: measuring the network (transport/zmq/probe.h).
//
// Where every worker has a machine, they are made with workers as threads:
// step = CPU time of the slowest worker + server's CPU time + exposed communication
//        + 4 · latency (the orders to begin and to commit, the vote and the report)
// Where workers share one, with as many worker processes here: what time slices and caches that
// others empty cost no sum of CPU times tells.
// step = their steps by wall clock without communication + exposed communication + 4 · latency
#pragma once

#include "engine/data/corpus.h"
#include "engine/training/cluster_coordinator.h"
#include "engine/training/experiment.h"
#include "transport/zmq/probe.h"

#include <memory>
#include <stop_token>
#include <string>

namespace gradlab::app {

/// The measured network as the link model's numbers: its slowest worker.
struct PredictionLink {
    double rateUp = 0.0; ///< bits per second
    double rateDown = 0.0;
    double serverRateUp = 0.0;
    double serverRateDown = 0.0;
    double latencyS = 0.0;
    std::size_t workers = 1;
    double workersACore = 1.0;       ///< on the fullest machine; at least 1
    std::size_t workersAMachine = 1; ///< on the fullest one

    [[nodiscard]] double rate() const noexcept { return rateUp < rateDown ? rateUp : rateDown; }
    [[nodiscard]] double serverRate() const noexcept {
        return serverRateUp < serverRateDown ? serverRateUp : serverRateDown;
    }
};

/// Seconds of one step, each the middle one of several, and one worker's bytes.
struct StepPrediction {
    std::string method;
    double bytesMessage = 0.0;
    double bytesUp = 0.0;
    double bytesDown = 0.0;
    double computeS = 0.0;     ///< forward, backward, update: CPU time of the slowest worker
    double compressionS = 0.0; ///< compress, encode, decode: CPU time
    double serverS = 0.0;
    double turnS = 0.0;          ///< what sharing a machine costs: waiting for a core, mostly
    double communicationS = 0.0; ///< not hidden behind computing; orders included
    double stepS = 0.0;          ///< the sum
};

[[nodiscard]] PredictionLink predictionLink(const transport::MeasuredNetwork& network);
/// Communication of one exchange, nothing of it hidden, in seconds.
[[nodiscard]] double exchangeSeconds(const PredictionLink& link, const std::string& topology,
                                     const StepPrediction& step);
/// Trains a few steps. `experiment` must be valid and resolved; its method and memory are replaced.
/// @throws Cancelled
[[nodiscard]] StepPrediction predictStep(const engine::Experiment& experiment,
                                         const std::string& method, const PredictionLink& link,
                                         const std::shared_ptr<const engine::Corpus>& corpus,
                                         const engine::TransportFactories& transports,
                                         const std::stop_token& stop);

} // namespace gradlab::app
