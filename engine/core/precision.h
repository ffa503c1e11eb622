// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic of a run. Kernels are templates over the scalar: f32 and f64 come from one source.
// bf16 is f32 whose matrix products take operands rounded to bf16 and add in f32: parameters,
// gradient, messages and checkpoints are f32.
#pragma once

#include "engine/core/export.h"

#include <string_view>

namespace gradlab::engine {

enum class Precision { F32, F64, BF16 };

/// Whether products in bf16 can be had.
enum class Bf16Ability { Ready, NotBuilt, NoInstructions };

/// Of this build on this processor; defined beside the products (model/bf16_product.h).
[[nodiscard]] GRADLAB_ENGINE_EXPORT Bf16Ability bf16Ability() noexcept;

/// Why they cannot; empty if they can.
[[nodiscard]] constexpr std::string_view whyNotBf16(Bf16Ability ability) noexcept {
    switch (ability) {
    case Bf16Ability::NotBuilt:
        return "built without oneDNN";
    case Bf16Ability::NoInstructions:
        return "this processor has no bf16 instructions";
    default:
        return {};
    }
}

} // namespace gradlab::engine
