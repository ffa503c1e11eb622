// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/message_plan.h"

namespace gradlab::engine {

MessagePlan::MessagePlan(const ParameterLayout& layout, CompressionScope scope)
    : size_(layout.size()), scope_(scope) {
    if (scope == CompressionScope::Model) {
        units_.push_back({0, "model", 0, layout.size()});
        parts_.push_back({0});
        return;
    }
    for (std::size_t id = 0; id < layout.tensors().size(); ++id) {
        const TensorInfo& tensor = layout.tensors()[id];
        units_.push_back({static_cast<std::uint32_t>(id), tensor.name, tensor.offset, tensor.size});
    }
    for (MessagePart& part : layout.parts())
        parts_.push_back(std::move(part.tensors));
}

MessagePlan MessagePlan::oneUnitAPart(const ParameterLayout& layout, CompressionScope scope) {
    MessagePlan plan(layout, scope);
    plan.parts_.clear();
    for (const CompressionUnit& unit : plan.units_)
        plan.parts_.push_back({unit.id});
    return plan;
}

} // namespace gradlab::engine
