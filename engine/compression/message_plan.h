// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What is compressed as one and what travels together: units (tensors, or the whole model) and
// parts. Decided by the model's layout and the scope alone; every process of a run has the same
// plan.
#pragma once

#include "engine/core/export.h"
#include "engine/model/parameter_layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::engine {

enum class CompressionScope { Tensor, Model };

/// One compressed unit: a range of the parameter vector.
struct CompressionUnit {
    std::uint32_t id = 0;
    std::string name; ///< tensor's name, or "model"
    std::size_t offset = 0;
    std::size_t size = 0;
};

class GRADLAB_ENGINE_EXPORT MessagePlan {
public:
    MessagePlan() = default;
    MessagePlan(const ParameterLayout& layout, CompressionScope scope);
    /// Each unit travels alone: for tools that tell the cost of each. Same units, same bits.
    [[nodiscard]] static MessagePlan oneUnitAPart(const ParameterLayout& layout,
                                                  CompressionScope scope);
    [[nodiscard]] const std::vector<CompressionUnit>& units() const noexcept { return units_; }
    /// Unit ids of each part, in backward order. Scope model: one part.
    [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& parts() const noexcept {
        return parts_;
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return size_;
    } ///< elements of the whole vector
    [[nodiscard]] CompressionScope scope() const noexcept { return scope_; }

private:
    std::vector<CompressionUnit> units_;
    std::vector<std::vector<std::uint32_t>> parts_;
    std::size_t size_ = 0;
    CompressionScope scope_ = CompressionScope::Tensor;
};

} // namespace gradlab::engine
