// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The output layer, softmax and cross-entropy as one pass over tiles of rows, so that the N×V
// logits of a window (N = T·B predictions, V vocabulary, H hidden) never exist whole. Natural
// logarithm; losses summed in double.
//   logits = X · Wᵀ (+ b);  loss = Σ_r log Σ_v exp(logits[r, v]) − logits[r, target_r]
//   gradient of the mean: P = (softmax(logits) − onehot) / N;  dX = P · W;  dW += Pᵀ · X;  db +=
//   Σ_r P
// P = diag(s) · E with E = exp(logits − max) − S · onehot, S the row's sum of exponentials and
// s = 1 / (N · S). The tile holds E; rows of X and dX, far shorter, are multiplied by s.
// With products in bf16 W, X, E and diag(s) · X are rounded for them, once each; exponentials, sums
// and what comes out stay float.
#pragma once

#include "engine/core/aligned_buffer.h"
#include "engine/model/matrix_product.h"
#include "engine/model/rounded_twin.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>

namespace gradlab::engine {

/// Weight V×H; bias V or empty.
template <class T>
struct OutputWeights {
    std::span<const T> weight;
    std::span<const T> bias;
};

/// What backward fills. The weight's and bias's gradients are overwritten.
template <class T>
struct OutputGradients {
    std::span<T> weight; ///< V×H
    std::span<T> bias;   ///< V or empty
    std::span<T> input;  ///< N×H
};

template <class T>
class SoftmaxLoss {
public:
    SoftmaxLoss(std::size_t vocabulary, std::size_t hidden,
                ProductType products = ProductType::Native);

    /// Sum of the N losses. `input` N×H.
    [[nodiscard]] double loss(const OutputWeights<T>& weights, std::span<const T> input,
                              std::span<const std::int32_t> targets);
    /// The same and the gradients of the mean loss. @throws Cancelled between tiles.
    [[nodiscard]] double lossAndGradient(const OutputWeights<T>& weights, std::span<const T> input,
                                         std::span<const std::int32_t> targets,
                                         const OutputGradients<T>& gradients,
                                         const std::stop_token& stop);
    /// out (N×V).
    void logits(const OutputWeights<T>& weights, std::span<const T> input, std::span<T> out);

private:
    void packWeight(const OutputWeights<T>& weights);
    void tileLogits(const OutputWeights<T>& weights, std::span<const T> input, T* out);
    [[nodiscard]] std::size_t tileRows() const noexcept;
    void tileLosses(std::span<const std::int32_t> targets, T* tile, double gradientScale);
    void tileGradients(std::span<const T> input, const OutputGradients<T>& gradients,
                       std::size_t first, std::size_t rows);

    std::size_t vocabulary_;
    std::size_t hidden_;
    PackedMatrix<T> weightT_;         ///< H×V
    PackedMatrix<T> weight_;          ///< V×H
    PackedMatrix<T> tileInput_;       ///< tileRows×H
    AlignedBuffer<T> tile_;           ///< tileRows×V: logits, then E
    AlignedBuffer<T> scaledInput_;    ///< tileRows×H: diag(s) · X
    AlignedBuffer<double> rowLosses_; ///< tileRows
    AlignedBuffer<T> rowScales_;      ///< tileRows: s
    RoundedTwin<T> weightTwin_;
    RoundedTwin<T> inputTwin_;
    RoundedTwin<T> tileTwin_; ///< of E
    RoundedTwin<T> scaledTwin_;
};

extern template class SoftmaxLoss<float>;
extern template class SoftmaxLoss<double>;

} // namespace gradlab::engine
