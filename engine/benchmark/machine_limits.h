// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What this machine can do at best: the rulers that everything else is measured with.
#pragma once

#include "engine/core/export.h"
#include "engine/core/precision.h"

#include <cstddef>

namespace gradlab::engine {

/// Multiply-adds count as two. n×n×n products with n = 1024, one in each of `threads` threads at
/// once; the sum of their rates in 10^9 a second, median of 5. BF16: of rounded operands, and
/// bf16Ability() must be Ready.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double measureProductGflops(Precision precision, int threads);

/// Bytes copied a second (read and written once each, counted once), `threads` threads at once,
/// each with `bytes` of its own; median of 9.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double measureCopyRate(std::size_t bytes, int threads);

/// Most resident memory of the process since the last call of resetPeakMemory() or its start.
[[nodiscard]] GRADLAB_ENGINE_EXPORT double peakResidentMib();
/// Does nothing where the kernel does not let it.
GRADLAB_ENGINE_EXPORT void resetPeakMemory();

} // namespace gradlab::engine
