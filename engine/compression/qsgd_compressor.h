// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "qsgd": each element rounded at random to one of 2s+1 levels of its bucket's norm,
// unbiased.
//   r = s * (|v_i|/norm);  q_i = floor(r) + [u_i < r - floor(r)], at most s;  D_i =
//   sgn(v_i)*q_i*norm/s
// On the wire: one norm a bucket, then n signed levels by a level code. Random numbers: purpose
// Rounding, counter (step, worker, tensor, element div 4), or those given.
// Source: Alistarh, Grubic, Li, Tomioka, Vojnovic 2017, "QSGD", arXiv 1610.02132.
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MethodInfo qsgdMethodInfo();

/// Why error feedback may grow without bound with these settings, or empty.
[[nodiscard]] std::string qsgdResidualRisk(const CompressionSettings& compression,
                                           std::size_t largestUnit);

} // namespace gradlab::engine
