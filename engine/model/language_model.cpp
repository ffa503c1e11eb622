// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Strings embedding, layers and output layer together. The output layer computes loss and gradient
// tile by tile, so all of it counts as backward: `forwardDone` is called after the last LSTM layer.
#include "engine/model/language_model.h"

#include "engine/core/check.h"
#include "engine/core/random.h"
#include "engine/model/dropout.h"
#include "engine/model/embedding.h"
#include "engine/model/grow_buffer.h"
#include "engine/model/lstm_layer.h"
#include "engine/model/softmax_loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace gradlab::engine {
namespace {

/// Tensor ids as ParameterLayout orders them.
struct LayerIds {
    explicit LayerIds(std::size_t layer)
        : input(static_cast<std::uint32_t>(1 + 4 * layer)), hidden(input + 1), inputBias(input + 2),
          hiddenBias(input + 3) {}
    std::uint32_t input;
    std::uint32_t hidden;
    std::uint32_t inputBias;
    std::uint32_t hiddenBias;
};

template <class T>
class LstmLanguageModel final : public LanguageModel<T> {
public:
    LstmLanguageModel(const ModelShape& shape, ProductType products)
        : shape_(shape), layout_(shape), scratch_(products), masks_(shape.layers + 1),
          dropped_(shape.layers + 1), loss_(shape.vocabulary, shape.hidden, products) {
        for (std::size_t layer = 0; layer < shape.layers; ++layer)
            layers_.emplace_back(shape.hidden, scratch_);
    }

    double forwardBackward(std::span<const T> parameters, const Window& window,
                           HiddenState<T> state, const DropoutContext& dropout,
                           std::span<T> gradient, const std::function<void()>& forwardDone,
                           const TensorReady& ready, std::stop_token stop) override {
        GRADLAB_CHECK(gradient.size() == layout_.size(), gradient.size(), layout_.size());
        const auto top = forward(parameters, window, state, dropout, stop);
        if (forwardDone)
            forwardDone();
        const auto topGradient = grow(outputGradient_, top.size());
        const OutputGradients<T> output{
            tensor(gradient, shape_.tied ? 0 : decoderId()),
            shape_.tied ? std::span<T>{} : tensor(gradient, decoderId() + 1), topGradient};
        const double sum =
            loss_.lossAndGradient(outputWeights(parameters), top, window.targets, output, stop);
        if (!shape_.tied) {
            announce(ready, decoderId() + 1);
            announce(ready, decoderId());
        }
        backward(parameters, window, dropout, gradient, ready, stop);
        return sum / static_cast<double>(window.targets.size());
    }

    double evaluate(std::span<const T> parameters, const Window& window,
                    HiddenState<T> state) override {
        const auto top = forward(parameters, window, state, {}, {});
        return loss_.loss(outputWeights(parameters), top, window.targets);
    }

    void logits(std::span<const T> parameters, const Window& window, HiddenState<T> state,
                std::span<T> out) override {
        const auto top = forward(parameters, window, state, {}, {});
        loss_.logits(outputWeights(parameters), top, out);
    }

    [[nodiscard]] const ParameterLayout& layout() const noexcept override { return layout_; }
    [[nodiscard]] const ModelShape& shape() const noexcept override { return shape_; }

private:
    template <class U>
    [[nodiscard]] std::span<U> tensor(std::span<U> vector, std::uint32_t id) const {
        const TensorInfo& info = layout_.tensors()[id];
        return vector.subspan(info.offset, info.size);
    }
    [[nodiscard]] std::uint32_t decoderId() const {
        return static_cast<std::uint32_t>(1 + 4 * shape_.layers);
    }
    [[nodiscard]] LstmWeights<T> layerWeights(std::span<const T> parameters,
                                              std::size_t layer) const {
        const LayerIds ids(layer);
        return {tensor(parameters, ids.input), tensor(parameters, ids.hidden),
                tensor(parameters, ids.inputBias), tensor(parameters, ids.hiddenBias)};
    }
    [[nodiscard]] OutputWeights<T> outputWeights(std::span<const T> parameters) const {
        if (shape_.tied)
            return {tensor(parameters, 0), {}};
        return {tensor(parameters, decoderId()), tensor(parameters, decoderId() + 1)};
    }
    static void announce(const TensorReady& ready, std::uint32_t id) {
        if (ready)
            ready(id);
    }

    /// Output of the last layer after dropout, N×H; valid until the next call. Carries `state`.
    std::span<const T> forward(std::span<const T> parameters, const Window& window,
                               HiddenState<T> state, const DropoutContext& dropout,
                               const std::stop_token& stop) {
        check(parameters, window, state);
        const std::size_t size = window.time * window.columns * shape_.hidden;
        const std::size_t stateSize = window.columns * shape_.hidden;
        const auto embedded = grow(embedded_, size);
        lookUpEmbedding<T>(tensor(parameters, 0), shape_.hidden, window.inputs, embedded);
        std::span<const T> input = drop(embedded, dropout, 0, window);
        for (std::size_t l = 0; l < shape_.layers; ++l) {
            const auto h = state.h.subspan(l * stateSize, stateSize);
            const auto c = state.c.subspan(l * stateSize, stateSize);
            layers_[l].forward(layerWeights(parameters, l), input, window.time, window.columns, h,
                               c, stop);
            std::ranges::copy(layers_[l].lastHidden(), h.begin());
            std::ranges::copy(layers_[l].lastCell(), c.begin());
            input = drop(layers_[l].output(), dropout, l + 1, window);
        }
        return input;
    }

    /// From outputGradient_ down to the embedding.
    void backward(std::span<const T> parameters, const Window& window,
                  const DropoutContext& dropout, std::span<T> gradient, const TensorReady& ready,
                  const std::stop_token& stop) {
        const std::size_t size = window.time * window.columns * shape_.hidden;
        const auto flow = outputGradient_.span().first(size);
        for (std::size_t l = shape_.layers; l-- > 0;) {
            undrop(flow, dropout, l + 1);
            const LstmWeights<T> weights = layerWeights(parameters, l);
            const LayerIds ids(l);
            layers_[l].backwardThroughTime(weights, flow, stop);
            layers_[l].biasGradient(tensor(gradient, ids.hiddenBias));
            announce(ready, ids.hiddenBias);
            std::ranges::copy(tensor(gradient, ids.hiddenBias),
                              tensor(gradient, ids.inputBias).begin());
            announce(ready, ids.inputBias);
            layers_[l].hiddenWeightGradient(tensor(gradient, ids.hidden));
            announce(ready, ids.hidden);
            layers_[l].inputWeightGradient(tensor(gradient, ids.input));
            announce(ready, ids.input);
            layers_[l].inputGradient(weights, flow);
        }
        undrop(flow, dropout, 0);
        const auto embedding = tensor(gradient, 0);
        if (!shape_.tied)
            std::ranges::fill(embedding, T{0});
        addEmbeddingGradient<T>(flow, shape_.hidden, window.inputs, embedding);
        announce(ready, 0);
    }

    /// `values` itself without dropout, else a masked copy; the mask stays for undrop().
    std::span<const T> drop(std::span<const T> values, const DropoutContext& dropout,
                            std::size_t site, const Window& window) {
        if (dropout.rate == 0.0)
            return values;
        const auto mask = grow(masks_[site], values.size());
        const auto dropped = grow(dropped_[site], values.size());
        fillDropoutMask<T>(dropout, static_cast<std::uint32_t>(site), window.time, window.columns,
                           shape_.hidden, mask);
        applyMask<T>(values, mask, dropped);
        return dropped;
    }
    void undrop(std::span<T> flow, const DropoutContext& dropout, std::size_t site) {
        if (dropout.rate != 0.0)
            applyMask<T>(flow, masks_[site].span().first(flow.size()), flow);
    }

    void check(std::span<const T> parameters, const Window& window,
               const HiddenState<T>& state) const {
        const std::size_t predictions = window.time * window.columns;
        const std::size_t stateSize = shape_.layers * window.columns * shape_.hidden;
        GRADLAB_CHECK(parameters.size() == layout_.size(), parameters.size(), layout_.size());
        GRADLAB_CHECK(predictions > 0 && window.inputs.size() == predictions, window.inputs.size());
        GRADLAB_CHECK(window.targets.size() == predictions, window.targets.size(), predictions);
        GRADLAB_CHECK(state.h.size() == stateSize && state.c.size() == stateSize, state.h.size());
        for (const std::int32_t id : window.targets)
            GRADLAB_CHECK(id >= 0 && static_cast<std::size_t>(id) < shape_.vocabulary, id);
    }

    ModelShape shape_;
    ParameterLayout layout_;
    LstmScratch<T> scratch_;
    std::vector<LstmLayer<T>> layers_;      ///< refer to scratch_
    AlignedBuffer<T> embedded_;             ///< N×H
    AlignedBuffer<T> outputGradient_;       ///< N×H, the gradient on its way down
    std::vector<AlignedBuffer<T>> masks_;   ///< one a dropout site, N×H, kept for backward
    std::vector<AlignedBuffer<T>> dropped_; ///< one a dropout site, N×H
    SoftmaxLoss<T> loss_;
};

} // namespace

template <class T>
std::unique_ptr<LanguageModel<T>> makeLstmLanguageModel(const ModelShape& shape,
                                                        ProductType products) {
    GRADLAB_CHECK(shape.vocabulary > 0 && shape.hidden > 0 && shape.layers > 0, shape.vocabulary,
                  shape.hidden, shape.layers);
    return std::make_unique<LstmLanguageModel<T>>(shape, products);
}

template <class T>
void initialiseParameters(const ParameterLayout& layout, const ModelShape& shape,
                          std::uint32_t seed, std::span<T> parameters) {
    GRADLAB_CHECK(parameters.size() == layout.size(), parameters.size(), layout.size());
    const double bound = 1.0 / std::sqrt(static_cast<double>(shape.hidden));
    for (std::uint32_t id = 0; id < layout.tensors().size(); ++id) {
        const TensorInfo& info = layout.tensors()[id];
        const auto values = parameters.subspan(info.offset, info.size);
        if (info.name == "decoder.bias") {
            std::ranges::fill(values, T{0});
            continue;
        }
        RandomStream random(seed, RandomPurpose::Init, 0, 0, id);
        for (T& value : values)
            // Rounded to float first, so that f32 and f64 start from the same point.
            value = static_cast<T>(static_cast<float>((2.0 * random.uniform() - 1.0) * bound));
    }
}

template std::unique_ptr<LanguageModel<float>> makeLstmLanguageModel(const ModelShape&,
                                                                     ProductType);
template std::unique_ptr<LanguageModel<double>> makeLstmLanguageModel(const ModelShape&,
                                                                      ProductType);
template void initialiseParameters(const ParameterLayout&, const ModelShape&, std::uint32_t,
                                   std::span<float>);
template void initialiseParameters(const ParameterLayout&, const ModelShape&, std::uint32_t,
                                   std::span<double>);

} // namespace gradlab::engine
