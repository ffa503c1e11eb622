// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The modelled network behind simulated seconds: bytes to time, nothing measured. Contract's link
// model: rate B, latency a, N workers, u = largest bytes_message, d = bytes down, server rate S:
//   server: 2a + max(u/B, N·u/S) + max(d/B, N·d/S);  ring all-gather: (N−1)·(a + u/B);
//   ring all-reduce of dense data: 2(N−1)·(a + bytes/(N·B)).
// With overlap, parts enter the link at their ready times; only what outlasts computing counts.
#pragma once

#include "engine/core/export.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradlab::engine {

struct LinkModel {
    double bytesPerSecond = 12.5e6;
    double latency = 1e-3;                ///< seconds, one way
    double serverBytesPerSecond = 12.5e6; ///< infinity = unlimited
    std::size_t workers = 1;
};

/// One part of one worker's message: when it was handed over (seconds after the step's start, CPU
/// time) and its size.
struct PartReady {
    double seconds = 0.0;
    double bytes = 0.0;
    double wallS = 0.0; ///< the same instant by wall clock, for the log; the model uses CPU time
};

/// What the uplink of a server exchange adds after `computeEnd`. Without overlap pass one part
/// ready at computeEnd.
/// @return seconds ≥ 0
[[nodiscard]] GRADLAB_ENGINE_EXPORT double
serverUplinkSeconds(const LinkModel& link, std::span<const PartReady> parts, double computeEnd);
[[nodiscard]] GRADLAB_ENGINE_EXPORT double serverDownlinkSeconds(const LinkModel& link,
                                                                 double bytesDown);
/// Sum of both without overlap: the contract's formula.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double serverSeconds(const LinkModel& link, double bytesUp,
                                                         double bytesDown);
[[nodiscard]] GRADLAB_ENGINE_EXPORT double ringGatherSeconds(const LinkModel& link,
                                                             double bytesMessage);
[[nodiscard]] GRADLAB_ENGINE_EXPORT double ringReduceSeconds(const LinkModel& link,
                                                             double bytesDense);
/// What a server exchange takes after `computeEnd` if each part goes down as soon as it has come up
/// and been summed, while later ones are still under way: the whole exchange, `serverS` seconds of
/// summing included. Up and down may differ in rate; what is summed and goes down is shared among
/// the parts as their bytes are.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double
serverPipelineSeconds(const LinkModel& up, const LinkModel& down, std::span<const PartReady> parts,
                      double bytesDown, double serverS, double computeEnd);
/// Ring forms with overlap: the first hop of each part starts when it is ready.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double
ringGatherExposed(const LinkModel& link, std::span<const PartReady> parts, double computeEnd);
[[nodiscard]] GRADLAB_ENGINE_EXPORT double
ringReduceExposed(const LinkModel& link, std::span<const PartReady> parts, double computeEnd);
/// Workers beyond which sparse all-gather loses to dense all-reduce: about 2·dense/message.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double gatherBreakEvenWorkers(double bytesDense,
                                                                  double bytesMessage);
/// Link rate (bytes per second) below which saving `savedBytes` (up and down together, one worker)
/// pays for `extraSeconds` of compressing, server topology without overlap. Infinity: at any rate.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double
serverBreakEvenRate(const LinkModel& link, double savedBytes, double extraSeconds);

} // namespace gradlab::engine
