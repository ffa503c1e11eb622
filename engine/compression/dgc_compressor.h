// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "dgc": the largest elements by a threshold that a sample estimates; never more than k.
//   threshold t: the (share k/n)-quantile of |p| over the sample; up to 10 corrections by 1.3 or
//   0.7 until 0.7k <= #{|p_i| >= t} <= 1.3k; a surplus is cut to k by exact top-k over the
//   survivors; a threshold of 0, or too few left, selects exactly. warm-up: kept ratio of epoch e
//   is ratio^((e+1)/(E+1)) for e < E, then ratio.
// On the wire: as top-k. Random numbers: purpose Sampling, counter (step, worker, tensor, draw).
// Source: Lin, Han, Mao, Wang, Dally 2018, "Deep Gradient Compression", arXiv 1712.01887.
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MethodInfo dgcMethodInfo();

/// Kept ratio in `epoch` (from 0) of a warm-up over `warmupEpochs`.
[[nodiscard]] double warmupRatio(double ratio, std::int64_t warmupEpochs, std::uint64_t epoch);

} // namespace gradlab::engine
