// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From what workers, exchange and replica measured in one step to its record: means, norms, bytes,
// times and the simulated seconds. Pure arithmetic; the contract's definitions live here.
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/metrics/link_model.h"
#include "engine/metrics/step_record.h"
#include "engine/training/gradient_exchange.h"
#include "engine/training/sgd_optimizer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::engine {

/// One local worker's share of a step.
struct WorkerAccount {
    std::uint32_t rank = 0;
    double loss = 0.0;
    double ratio = 1.0;             ///< kept share that the method aimed at
    std::uint64_t bytesMessage = 0; ///< frames as sent
    CompressionStats stats;
    std::vector<PartReady> parts;
    double cpuAtHandOver = 0.0; ///< compute + compression CPU until the last part was handed over
    double commitCpu = 0.0;     ///< memory's commit, counted as compression
    StepTimes t, cpu;
    SgdOutcome sgd; ///< of the process's own update; of the trainer's where they share a replica
    std::optional<std::uint64_t> parameterHash; ///< after the step, where it was asked for

    /// Adds what the process's replica took for decoding and updating.
    void addReplicaTimes(const ExchangeOutcome& outcome, double updateWallS, double updateCpuS);
};

/// How messages travel, for the link model.
enum class ExchangeForm { Server, RingGather, RingReduce };

struct StepInputs {
    std::uint64_t step = 0;
    std::uint64_t epoch = 0;
    double lr = 0.0;
    std::size_t parameters = 0;
    std::size_t valueBytes = 4;
    ExchangeForm form = ExchangeForm::Server;
    LinkModel link;
    SgdOutcome sgd;
};

/// Fills in what belongs to the exchange in each account's times: turn, transfer, wait.
/// `turn` gets the time from a worker's last hand-over to the last one of any worker;
/// `wait` what is left of the time from then until arrival besides the server's own work, and
/// besides what was on the link.
void accountExchange(std::vector<WorkerAccount>& workers, const ExchangeOutcome& outcome);

/// Simulated seconds of the step and, in `linkS`, the link's share: the largest over workers of CPU
/// time, plus the server's, plus what the modelled link adds.
[[nodiscard]] double simulatedSeconds(const std::vector<WorkerAccount>& workers,
                                      const ExchangeOutcome& outcome, const StepInputs& inputs,
                                      double& linkS);

/// A worker process's account as a document, and back: every bit of every number.
[[nodiscard]] std::string accountToJson(const WorkerAccount& account);
/// @throws ProtocolError
[[nodiscard]] WorkerAccount accountFromJson(const std::string& json);

/// Everything but the cumulative fields (tokens, wall, simulated).
[[nodiscard]] StepRecord makeStepRecord(const std::vector<WorkerAccount>& workers,
                                        const ExchangeOutcome& outcome, const StepInputs& inputs);
[[nodiscard]] WorkerRecord makeWorkerRecord(const WorkerAccount& worker, const RankTraffic& traffic,
                                            std::uint64_t step);

} // namespace gradlab::engine
