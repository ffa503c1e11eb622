// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A vector of the layout's size as named tensors of a safetensors file: parameters, gradients.
#pragma once

#include "engine/core/safetensors.h"
#include "engine/model/parameter_layout.h"

#include <span>

namespace gradlab::engine {

/// Adds a view of each tensor; `values` must live until the writer has written.
template <class T>
void addTensors(SafetensorsWriter& writer, const ParameterLayout& layout,
                std::span<const T> values) {
    for (const TensorInfo& tensor : layout.tensors())
        writer.add(tensor.name, tensor.shape, values.subspan(tensor.offset, tensor.size));
}

} // namespace gradlab::engine
