// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/parameter_layout.h"

#include <numeric>
#include <utility>

namespace gradlab::engine {

ParameterLayout::ParameterLayout(const ModelShape& shape) {
    const std::size_t h = shape.hidden;
    tensors_.push_back({"embedding.weight", {shape.vocabulary, h}, 0, 0});
    for (std::size_t layer = 0; layer < shape.layers; ++layer) {
        const std::string suffix = "_l" + std::to_string(layer);
        tensors_.push_back({"lstm.weight_ih" + suffix, {4 * h, h}, 0, 0});
        tensors_.push_back({"lstm.weight_hh" + suffix, {4 * h, h}, 0, 0});
        tensors_.push_back({"lstm.bias_ih" + suffix, {4 * h}, 0, 0});
        tensors_.push_back({"lstm.bias_hh" + suffix, {4 * h}, 0, 0});
    }
    if (!shape.tied) {
        tensors_.push_back({"decoder.weight", {shape.vocabulary, h}, 0, 0});
        tensors_.push_back({"decoder.bias", {shape.vocabulary}, 0, 0});
    }
    place();
}

ParameterLayout::ParameterLayout(std::vector<TensorInfo> tensors) : tensors_(std::move(tensors)) {
    place();
}

void ParameterLayout::place() {
    size_ = 0;
    for (TensorInfo& tensor : tensors_) {
        tensor.offset = size_;
        tensor.size = std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::size_t{1},
                                      std::multiplies<>{});
        size_ += tensor.size;
    }
    backward_.resize(tensors_.size());
    for (std::size_t i = 0; i < tensors_.size(); ++i)
        backward_[i] = static_cast<std::uint32_t>(tensors_.size() - 1 - i);
}

std::vector<MessagePart> ParameterLayout::parts(std::size_t minimumBytes) const {
    std::vector<MessagePart> parts;
    MessagePart part;
    for (const std::uint32_t id : backward_) {
        part.tensors.push_back(id);
        part.elements += tensors_[id].size;
        if (part.elements * sizeof(float) >= minimumBytes)
            parts.push_back(std::exchange(part, {}));
    }
    if (part.tensors.empty())
        return parts;
    if (parts.empty()) {
        parts.push_back(std::move(part));
        return parts;
    }
    parts.back().tensors.insert(parts.back().tensors.end(), part.tensors.begin(),
                                part.tensors.end());
    parts.back().elements += part.elements;
    return parts;
}

} // namespace gradlab::engine
