// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What QSGD declares of itself: its parameters, and where error feedback with it is risky.
//   An unbiased quantiser has E|x - Q(x)|^2 <= w*|x|^2 with w = min(n/s^2, sqrt(n)/s) for n
//   elements that share a norm; error feedback needs w < 1, that is n < s^2.
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MethodInfo qsgdMethodInfo();

/// Why error feedback may grow without bound with these settings, or empty. `largestUnit` = 0: not
/// known.
[[nodiscard]] std::string qsgdResidualRisk(const CompressionSettings& compression,
                                           std::size_t largestUnit);

} // namespace gradlab::engine
