// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Which tensors a model has and where each lies in the one contiguous parameter vector.
// The same layout serves parameters, gradients, residuals and means. Tensor id = index in the list.
#pragma once

#include "engine/core/export.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::engine {

/// What decides a model's size. Shapes: V vocabulary, H hidden, L layers.
struct ModelShape {
    std::size_t vocabulary = 0;
    std::size_t hidden = 64;
    std::size_t layers = 2;
    bool tied = true; ///< embedding serves as output layer, no output bias
};

struct TensorInfo {
    std::string name;               ///< PyTorch's: "lstm.weight_ih_l0"
    std::vector<std::size_t> shape; ///< row-major
    std::size_t offset = 0;         ///< first element in the parameter vector
    std::size_t size = 0;           ///< elements
};

/// Consecutive tensors (in backward order) that travel in one frame. Fixed by the model.
struct MessagePart {
    std::vector<std::uint32_t>
        tensors; ///< tensor ids, in the order in which backward finishes them
    std::size_t elements = 0;
};

class GRADLAB_ENGINE_EXPORT ParameterLayout {
public:
    ParameterLayout() = default;
    /// Tensors in PyTorch's order: embedding.weight (V×H), per layer weight_ih (4H×H), weight_hh
    /// (4H×H), bias_ih (4H), bias_hh (4H), then decoder.weight (V×H) and decoder.bias (V) when
    /// untied.
    explicit ParameterLayout(const ModelShape& shape);
    /// Any tensors, for a user's own gradient file; offsets are filled in; backward order = reverse
    /// order.
    explicit ParameterLayout(std::vector<TensorInfo> tensors);

    [[nodiscard]] const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Tensor ids in the order in which backward finishes them: decoder, last layer … first,
    /// embedding.
    [[nodiscard]] const std::vector<std::uint32_t>& backwardOrder() const noexcept {
        return backward_;
    }
    /// Groups of backwardOrder(), each of at least `minimumBytes` (at 4 bytes an element); the
    /// remainder joins the last.
    [[nodiscard]] std::vector<MessagePart> parts(std::size_t minimumBytes = std::size_t{256} *
                                                                            1024) const;

private:
    void place();
    std::vector<TensorInfo> tensors_;
    std::vector<std::uint32_t> backward_;
    std::size_t size_ = 0;
};

} // namespace gradlab::engine
