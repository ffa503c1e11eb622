// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The pieces of a training step by themselves, in f32 in the calling thread's arena: each matrix
// product of a model's shapes, an LSTM layer, the output layer with its loss.
#pragma once

#include "engine/core/export.h"
#include "engine/model/parameter_layout.h"

#include <cstddef>
#include <string>
#include <vector>

namespace gradlab::engine {

struct KernelCost {
    std::string name;     ///< "recurrent product", …
    std::string size;     ///< "256x300 by 300x1200"
    double seconds = 0.0; ///< median of some rounds
    double flops = 0.0;   ///< of the products alone; a multiply-add is two
};

/// T time steps of B columns. `threads`: at most so many help each other.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::vector<KernelCost>
measureModelKernels(const ModelShape& shape, std::size_t time, std::size_t columns, int threads);

} // namespace gradlab::engine
