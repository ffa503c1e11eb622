// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory "residual": error feedback. What was not sent waits and is added to the next gradient.
//   gradient units: p = gamma*g + beta*e;     e <- p - D(C(p));  w <- w - lr*mean(D)
//   update units:   p = gamma*lr*g + beta*e;  e <- p - D(C(p));  w <- w - mean(D)
// The error fed back is the worker's own, p - D(C(p)), not that of the workers' average.
// Sources: Stich et al. 2018, arXiv 1809.07599; Karimireddy et al. 2019, arXiv 1901.09847 (update
// units).
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MemoryInfo residualMemoryInfo();

} // namespace gradlab::engine
