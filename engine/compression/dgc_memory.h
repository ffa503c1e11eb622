// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Memory "dgc": momentum correction. A velocity is accumulated, and what was not sent of it waits.
//   g <- g + lambda*w;  local clip: g <- g * min(1, N^(-1/2)*thr / |g|), on the norm of all tensors
//   u <- m*u + g;  v <- v + u            (Nesterov: u <- m*(u + g);  v <- v + u + g)
//   send D(C(v));  v <- v - D(C(v));     masking: u <- 0 where sent
// The outer optimiser is plain SGD: momentum acts here only.
// Source: Lin, Han, Mao, Wang, Dally 2018, "Deep Gradient Compression", arXiv 1712.01887,
// section 3.
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MemoryInfo dgcMemoryInfo();

} // namespace gradlab::engine
