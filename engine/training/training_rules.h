// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment means for one step: the same answers for the trainer and for every worker
// process, so that their bits agree. Pure functions of the resolved experiment.
#pragma once

#include "engine/compression/message_plan.h"
#include "engine/core/export.h"
#include "engine/model/language_model.h"
#include "engine/training/aggregator.h"
#include "engine/training/experiment.h"
#include "engine/training/gradient_exchange.h"
#include "engine/training/sgd_optimizer.h"
#include "engine/training/step_accounting.h"
#include "engine/training/worker.h"

#include <cstdint>

namespace gradlab::engine {

[[nodiscard]] GRADLAB_ENGINE_EXPORT ModelShape modelShape(const Experiment& experiment,
                                                          std::size_t vocabulary);
[[nodiscard]] GRADLAB_ENGINE_EXPORT CompressionScope compressionScope(const Experiment& experiment);
/// How the model's products are done.
[[nodiscard]] ProductType productType(const Experiment& experiment);
[[nodiscard]] AggregatorSettings aggregatorSettings(const Experiment& experiment);
/// Whether parts are sent during backward: not with scope model and DGC's local clip, which need
/// the whole gradient first.
[[nodiscard]] bool overlapPossible(const Experiment& experiment);
[[nodiscard]] ExchangeForm exchangeForm(const Experiment& experiment);
/// Everything but the ranks of this process and the session.
[[nodiscard]] ExchangeSetup exchangeSetup(const Experiment& experiment, const MessagePlan& plan);
[[nodiscard]] SgdSettings sgdSettings(const Experiment& experiment);
/// The columns of worker `rank`. @throws DataError if they are too short for one window
[[nodiscard]] ColumnBlock workerColumns(const Experiment& experiment, const TokenIds& stream,
                                        std::uint32_t rank);
[[nodiscard]] CompressorIdentity compressorIdentity(const Experiment& experiment,
                                                    std::uint32_t rank);
/// Steps of an epoch. @throws DataError if the text is too short for one window
[[nodiscard]] std::uint64_t windowsPerEpoch(const Experiment& experiment, std::size_t tokens);
/// `step` from 1; `windows` = steps of an epoch.
[[nodiscard]] WorkerStep workerStep(const Experiment& experiment, std::uint64_t step,
                                    std::uint64_t windows);

} // namespace gradlab::engine
