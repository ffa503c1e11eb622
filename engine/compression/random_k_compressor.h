// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "randomk": k distinct elements, each set of k equally likely.
//   C(p)_i = scale * p_i if i was drawn, else 0;  scale = n/k without a memory (unbiased), 1 with
//   one
// On the wire: seed and step (8 bytes) regenerate the indices, then k values; explicit indices if
// an index code is asked for. Random numbers: purpose Selection, counter (step, worker or shared
// lane, tensor, draw div 4), so the pattern depends on nothing else. Source: Stich, Cordonnier,
// Jaggi 2018, "Sparsified SGD with Memory", arXiv 1809.07599.
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MethodInfo randomKMethodInfo();

} // namespace gradlab::engine
