// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The LSTM language model: embedding, L LSTM layers, output layer (tied or not), softmax
// cross-entropy. Forward and backward over one window of T time steps and B columns; f32, f64 and
// f32 with products in bf16 from one source. Leaves out: parameter updates (SgdOptimizer), the text
// (Corpus), threads' start and end (the caller's arena). PyTorch's parameters and gate order i f g
// o; matrices row-major; activations ordered (time, column).
#pragma once

#include "engine/model/matrix_product.h"
#include "engine/model/parameter_layout.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>

namespace gradlab::engine {

/// T×B token ids, row-major by time. `inputs[t·B + b]` predicts `targets[t·B + b]`.
struct Window {
    std::span<const std::int32_t> inputs;
    std::span<const std::int32_t> targets;
    std::size_t time = 0;
    std::size_t columns = 0;
};

/// (h, c) of every layer: each L×B×H, row-major.
template <class T>
struct HiddenState {
    std::span<T> h;
    std::span<T> c;
};

/// Inverted dropout; masks are keyed by global column and so independent of the number of workers.
struct DropoutContext {
    double rate = 0.0; ///< 0 = off
    std::uint32_t seed = 0;
    std::uint32_t step = 0;
    std::uint32_t firstColumn = 0; ///< global index of this window's column 0
};

/// Called in the computing thread as soon as tensor `id` of the gradient is final.
using TensorReady = std::function<void(std::uint32_t id)>;

/// Scratch memory and code for one worker. Not thread-safe; one object a worker, parameters shared
/// read-only. Uses the calling thread's TBB arena for parallel products; results do not depend on
/// its size.
template <class T>
class LanguageModel {
public:
    virtual ~LanguageModel() = default;

    /// Forward and backward. `state` is read and overwritten by the window's last (h, c).
    /// `gradient` (layout size) is overwritten by the gradient of the MEAN cross-entropy over the
    /// T·B predictions. Returns that mean, natural logarithm. `forwardDone` is called once,
    /// behind the last LSTM layer: the output layer makes loss and gradient in one pass. Throws
    /// Cancelled when `stop` asks; then `state` and `gradient` are unspecified.
    virtual double forwardBackward(std::span<const T> parameters, const Window& window,
                                   HiddenState<T> state, const DropoutContext& dropout,
                                   std::span<T> gradient, const std::function<void()>& forwardDone,
                                   const TensorReady& ready, std::stop_token stop) = 0;

    /// Sum of the negative log-likelihoods of the window, in double; dropout off; carries `state`.
    virtual double evaluate(std::span<const T> parameters, const Window& window,
                            HiddenState<T> state) = 0;

    /// Logits (T·B × V, row-major) of a window; carries `state`. For tests and for sampling text.
    virtual void logits(std::span<const T> parameters, const Window& window, HiddenState<T> state,
                        std::span<T> out) = 0;

    [[nodiscard]] virtual const ParameterLayout& layout() const noexcept = 0;
    [[nodiscard]] virtual const ModelShape& shape() const noexcept = 0;
};

/// The LSTM model of `shape`. Buffers grow to the largest window seen and are then reused. Products
/// in bf16: float only, and bf16Ability() is Ready; everything else stays f32.
template <class T>
[[nodiscard]] std::unique_ptr<LanguageModel<T>>
makeLstmLanguageModel(const ModelShape& shape, ProductType products = ProductType::Native);

extern template std::unique_ptr<LanguageModel<float>> makeLstmLanguageModel(const ModelShape&,
                                                                            ProductType);
extern template std::unique_ptr<LanguageModel<double>> makeLstmLanguageModel(const ModelShape&,
                                                                             ProductType);

/// U[−1/√h, 1/√h] everywhere, an untied output bias 0; the same values in f32 and f64.
template <class T>
void initialiseParameters(const ParameterLayout& layout, const ModelShape& shape,
                          std::uint32_t seed, std::span<T> parameters);

extern template void initialiseParameters(const ParameterLayout&, const ModelShape&, std::uint32_t,
                                          std::span<float>);
extern template void initialiseParameters(const ParameterLayout&, const ModelShape&, std::uint32_t,
                                          std::span<double>);

} // namespace gradlab::engine
