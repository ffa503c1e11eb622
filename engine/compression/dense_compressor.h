// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Method "none": every element, in the chosen value type; with f16 or bf16 the 16-bit baseline.
// On the wire: n values. Deterministic, no random numbers.
#pragma once

#include "engine/compression/compressor_registry.h"

namespace gradlab::engine {

[[nodiscard]] MethodInfo denseMethodInfo();

} // namespace gradlab::engine
