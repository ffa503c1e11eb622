// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "topk": the k elements of largest magnitude, exactly; ties go to the lowest index.
//   k = max(1, floor(ratio * n));  C(p)_i = p_i if i is among the k largest |p_j|, else 0
// On the wire: k indices by an index code, then k values. Deterministic, no random numbers.
// Source: Stich, Cordonnier, Jaggi 2018, "Sparsified SGD with Memory", arXiv 1809.07599.
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MethodInfo topKMethodInfo();

} // namespace gradlab::engine
