// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One LSTM layer over a window, forward and backward, with PyTorch's parameters and gate order i f
// g o:
//   a_t = W_ih x_t + b_ih + W_hh h_{t−1} + b_hh;  i, f, o = σ(a);  g = tanh(a)
//   c_t = f ∘ c_{t−1} + i ∘ g;  h_t = o ∘ tanh(c_t)
// T time, B columns, H hidden; the input is H wide too. Rows are ordered (time, column).
// The products over all time steps are one product each; only h_{t−1} W_hh is done step by step.
// With products in bf16 weights, inputs, h and the gates' gradients are rounded once, where they
// are made; sums, gates, c and what is handed on stay float.
// Leaves out: dropout, the order of layers, what the parameters are called.
#pragma once

#include "engine/core/aligned_buffer.h"
#include "engine/model/matrix_product.h"
#include "engine/model/rounded_twin.h"

#include <cstddef>
#include <span>
#include <stop_token>

namespace gradlab::engine {

/// Views of one layer's parameters: 4H×H, 4H×H, 4H, 4H.
template <class T>
struct LstmWeights {
    std::span<const T> input;
    std::span<const T> hidden;
    std::span<const T> inputBias;
    std::span<const T> hiddenBias;
};

/// Matrices rearranged for products: memory that all layers of a model use in turn.
template <class T>
struct LstmScratch {
    explicit LstmScratch(ProductType type = ProductType::Native)
        : products(type), recurrent(type), once(type) {}
    ProductType products;
    PackedMatrix<T> recurrent; ///< the hidden weights, read at every time step
    PackedMatrix<T> once;      ///< the right-hand side of one large product
};

/// Keeps a window's activations between forward and backward; one object a layer. `scratch`
/// outlives it and keeps nothing between two calls.
template <class T>
class LstmLayer {
public:
    LstmLayer(std::size_t hidden, LstmScratch<T>& scratch);

    /// `input` (T·B×H) must live until the window's backward is done. h0 and c0: B×H.
    /// @throws Cancelled between time steps.
    void forward(const LstmWeights<T>& weights, std::span<const T> input, std::size_t time,
                 std::size_t columns, std::span<const T> h0, std::span<const T> c0,
                 const std::stop_token& stop);
    /// h_1 … h_T, T·B×H.
    [[nodiscard]] std::span<const T> output() const noexcept;
    [[nodiscard]] std::span<const T> lastHidden() const noexcept;
    [[nodiscard]] std::span<const T> lastCell() const noexcept;

    /// From the gradient of output() to that of the gates' inputs, kept inside; then any of the
    /// four below. `weights` are forward()'s.
    /// @throws Cancelled between time steps.
    void backwardThroughTime(const LstmWeights<T>& weights, std::span<const T> outputGradient,
                             const std::stop_token& stop);
    /// Overwrites (4H). Both biases have this gradient.
    void biasGradient(std::span<T> gradient) const;
    /// Overwrites (4H×H).
    void hiddenWeightGradient(std::span<T> gradient);
    /// Overwrites (4H×H).
    void inputWeightGradient(std::span<T> gradient);
    /// Overwrites (T·B×H).
    void inputGradient(const LstmWeights<T>& weights, std::span<T> gradient);

private:
    void reserve(std::size_t time, std::size_t columns);
    void gatesForward(std::size_t t);
    void gatesBackward(std::size_t t, const T* outputGradient);
    [[nodiscard]] std::size_t stepSize() const noexcept { return columns_ * hidden_; }

    std::size_t hidden_;
    std::size_t time_ = 0;
    std::size_t columns_ = 0;
    std::span<const T> input_;
    LstmScratch<T>* scratch_;
    AlignedBuffer<T> gates_; ///< T·B×4H: pre-activations, then i f g o, then their gradients
    AlignedBuffer<T> h_;     ///< (T+1)·B×H, rows 0 … B−1 are h0
    AlignedBuffer<T> c_;     ///< (T+1)·B×H, rows 0 … B−1 are c0
    AlignedBuffer<T> bias_;  ///< 4H: b_ih + b_hh
    AlignedBuffer<T> stepGradient_; ///< B×H: gradient of h_{t−1} through step t's gates
    AlignedBuffer<T> cellGradient_; ///< B×H: gradient of c_{t−1}
    RoundedTwin<T> inputWeightTwin_;
    RoundedTwin<T> hiddenWeightTwin_;
    RoundedTwin<T> inputTwin_;
    RoundedTwin<T> hTwin_;
    RoundedTwin<T> gateTwin_; ///< of the gradients
};

extern template class LstmLayer<float>;
extern template class LstmLayer<double>;

} // namespace gradlab::engine
