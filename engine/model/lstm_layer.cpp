// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/lstm_layer.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/parallel.h"
#include "engine/model/grow_buffer.h"
#include "engine/model/vector_chunk.h"

#include <algorithm>

namespace gradlab::engine {
namespace {

constexpr std::size_t kGateBlock = 8192; // elements of H a task: some 20 microseconds

std::size_t columnsPerTask(std::size_t hidden) {
    return std::max<std::size_t>(1, kGateBlock / hidden);
}

void checkStop(const std::stop_token& stop) {
    if (stop.stop_requested())
        throw Cancelled();
}

/// One column's gates at one time step: 4H pre-activations become activations, c and h follow.
template <class T>
void columnForward(std::size_t hidden, T* gates, const T* previousC, T* c, T* h) {
    using Chunk = VectorChunk<T>;
    for (std::size_t j = 0; j < hidden; j += Chunk::kSize) {
        const std::size_t count = std::min(Chunk::kSize, hidden - j);
        const auto i = Chunk::load(gates + j, count).logistic();
        const auto f = Chunk::load(gates + hidden + j, count).logistic();
        const auto g = Chunk::load(gates + 2 * hidden + j, count).tanh();
        const auto o = Chunk::load(gates + 3 * hidden + j, count).logistic();
        const auto cell = f * Chunk::load(previousC + j, count) + i * g;
        const auto squashed = cell.tanh();
        i.store(gates + j, count);
        f.store(gates + hidden + j, count);
        g.store(gates + 2 * hidden + j, count);
        o.store(gates + 3 * hidden + j, count);
        cell.store(c + j, count);
        (o * squashed).store(h + j, count);
    }
}

/// One column's gates backwards: activations are replaced by the gradients of the pre-activations.
/// `throughTime` is the gradient of h_t from step t + 1, `cellGradient` that of c_t, replaced by
/// that of c_{t−1}.
template <class T>
void columnBackward(std::size_t hidden, T* gates, const T* previousC, const T* c,
                    const T* outputGradient, const T* throughTime, T* cellGradient) {
    using Chunk = VectorChunk<T>;
    const Chunk one = Chunk::all(T{1});
    for (std::size_t j = 0; j < hidden; j += Chunk::kSize) {
        const std::size_t count = std::min(Chunk::kSize, hidden - j);
        const auto i = Chunk::load(gates + j, count);
        const auto f = Chunk::load(gates + hidden + j, count);
        const auto g = Chunk::load(gates + 2 * hidden + j, count);
        const auto o = Chunk::load(gates + 3 * hidden + j, count);
        const auto squashed = Chunk::load(c + j, count).tanh(); // again: cheaper than its memory
        const auto dh =
            Chunk::load(outputGradient + j, count) + Chunk::load(throughTime + j, count);
        const auto dc = dh * o * (one - squashed * squashed) + Chunk::load(cellGradient + j, count);
        (dc * g * i * (one - i)).store(gates + j, count);
        (dc * Chunk::load(previousC + j, count) * f * (one - f)).store(gates + hidden + j, count);
        (dc * i * (one - g * g)).store(gates + 2 * hidden + j, count);
        (dh * squashed * o * (one - o)).store(gates + 3 * hidden + j, count);
        (dc * f).store(cellGradient + j, count);
    }
}

} // namespace

template <class T>
LstmLayer<T>::LstmLayer(std::size_t hidden, LstmScratch<T>& scratch)
    : hidden_(hidden), scratch_(&scratch), inputWeightTwin_(scratch.products),
      hiddenWeightTwin_(scratch.products), inputTwin_(scratch.products), hTwin_(scratch.products),
      gateTwin_(scratch.products) {}

template <class T>
void LstmLayer<T>::reserve(std::size_t time, std::size_t columns) {
    time_ = time;
    columns_ = columns;
    const std::size_t size = time * stepSize();
    static_cast<void>(grow(gates_, 4 * size));
    static_cast<void>(grow(h_, size + stepSize()));
    static_cast<void>(grow(c_, size + stepSize()));
    static_cast<void>(grow(bias_, 4 * hidden_));
    static_cast<void>(grow(stepGradient_, stepSize()));
    static_cast<void>(grow(cellGradient_, stepSize()));
    hTwin_.resize((time + 1) * columns, hidden_);
    gateTwin_.resize(time * columns, 4 * hidden_);
}

template <class T>
void LstmLayer<T>::forward(const LstmWeights<T>& weights, std::span<const T> input,
                           std::size_t time, std::size_t columns, std::span<const T> h0,
                           std::span<const T> c0, const std::stop_token& stop) {
    GRADLAB_CHECK(input.size() == time * columns * hidden_, input.size(), time, columns, hidden_);
    GRADLAB_CHECK(h0.size() == columns * hidden_ && c0.size() == h0.size(), h0.size(), c0.size());
    reserve(time, columns);
    input_ = input;
    std::ranges::copy(h0, h_.data());
    std::ranges::copy(c0, c_.data());
    hTwin_.roundRows(h_.data(), 0, columns);
    inputTwin_.roundAll(input.data(), time * columns, hidden_);
    inputWeightTwin_.roundAll(weights.input.data(), 4 * hidden_, hidden_);
    hiddenWeightTwin_.roundAll(weights.hidden.data(), 4 * hidden_, hidden_);
    for (std::size_t j = 0; j < 4 * hidden_; ++j)
        bias_[j] = weights.inputBias[j] + weights.hiddenBias[j];
    for (std::size_t row = 0; row < time * columns; ++row)
        std::copy_n(bias_.data(), 4 * hidden_, gates_.data() + row * 4 * hidden_);
    scratch_->once.packTransposed(inputWeightTwin_.factor(weights.input.data(), 0, 4 * hidden_));
    scratch_->recurrent.packTransposed(
        hiddenWeightTwin_.factor(weights.hidden.data(), 0, 4 * hidden_));
    multiply<T>(inputTwin_.factor(input.data(), 0, time * columns), scratch_->once,
                {gates_.data(), time * columns, 4 * hidden_}, Accumulate::Yes);
    for (std::size_t t = 0; t < time; ++t) {
        checkStop(stop);
        multiply<T>(hTwin_.factor(h_.data() + t * stepSize(), t * columns, columns),
                    scratch_->recurrent, {gates_.data() + t * 4 * stepSize(), columns, 4 * hidden_},
                    Accumulate::Yes);
        gatesForward(t);
    }
}

template <class T>
void LstmLayer<T>::gatesForward(std::size_t t) {
    parallelRanges(columns_, columnsPerTask(hidden_), [&](std::size_t first, std::size_t last) {
        for (std::size_t b = first; b < last; ++b) {
            const std::size_t now = t * stepSize() + b * hidden_;
            const std::size_t next = now + stepSize();
            columnForward(hidden_, gates_.data() + 4 * now, c_.data() + now, c_.data() + next,
                          h_.data() + next);
        }
        const std::size_t row = (t + 1) * columns_ + first;
        hTwin_.roundRows(h_.data() + row * hidden_, row, last - first);
    });
}

template <class T>
std::span<const T> LstmLayer<T>::output() const noexcept {
    return h_.span().subspan(stepSize(), time_ * stepSize());
}
template <class T>
std::span<const T> LstmLayer<T>::lastHidden() const noexcept {
    return h_.span().subspan(time_ * stepSize(), stepSize());
}
template <class T>
std::span<const T> LstmLayer<T>::lastCell() const noexcept {
    return c_.span().subspan(time_ * stepSize(), stepSize());
}

template <class T>
void LstmLayer<T>::backwardThroughTime(const LstmWeights<T>& weights,
                                       std::span<const T> outputGradient,
                                       const std::stop_token& stop) {
    GRADLAB_CHECK(outputGradient.size() == time_ * stepSize(), outputGradient.size(), stepSize());
    // The window's end is cut off: nothing comes back from later windows.
    std::fill_n(stepGradient_.data(), stepSize(), T{0});
    std::fill_n(cellGradient_.data(), stepSize(), T{0});
    scratch_->recurrent.pack(hiddenWeightTwin_.factor(weights.hidden.data(), 0, 4 * hidden_));
    for (std::size_t t = time_; t-- > 0;) {
        checkStop(stop);
        gatesBackward(t, outputGradient.data() + t * stepSize());
        if (t > 0)
            multiply<T>(
                gateTwin_.factor(gates_.data() + t * 4 * stepSize(), t * columns_, columns_),
                scratch_->recurrent, {stepGradient_.data(), columns_, hidden_}, Accumulate::No);
    }
}

template <class T>
void LstmLayer<T>::gatesBackward(std::size_t t, const T* outputGradient) {
    parallelRanges(columns_, columnsPerTask(hidden_), [&](std::size_t first, std::size_t last) {
        for (std::size_t b = first; b < last; ++b) {
            const std::size_t column = b * hidden_;
            const std::size_t now = t * stepSize() + column;
            columnBackward(hidden_, gates_.data() + 4 * now, c_.data() + now,
                           c_.data() + now + stepSize(), outputGradient + column,
                           stepGradient_.data() + column, cellGradient_.data() + column);
        }
        const std::size_t row = t * columns_ + first;
        gateTwin_.roundRows(gates_.data() + row * 4 * hidden_, row, last - first);
    });
}

template <class T>
void LstmLayer<T>::biasGradient(std::span<T> gradient) const {
    constexpr std::size_t kBlock = 256; // gate columns a task
    const std::size_t width = 4 * hidden_;
    GRADLAB_CHECK(gradient.size() == width, gradient.size(), width);
    parallelRanges(width, kBlock, [&](std::size_t first, std::size_t last) {
        std::fill(gradient.data() + first, gradient.data() + last, T{0});
        for (std::size_t row = 0; row < time_ * columns_; ++row) {
            const T* gates = gates_.data() + row * width;
            for (std::size_t j = first; j < last; ++j)
                gradient[j] += gates[j];
        }
    });
}

template <class T>
void LstmLayer<T>::hiddenWeightGradient(std::span<T> gradient) {
    const std::size_t rows = time_ * columns_;
    // Rows 0 … T·B−1 of h_ are h_{t−1} for t = 1 … T.
    transposedMultiply<T>(gateTwin_.factor(gates_.data(), 0, rows),
                          hTwin_.factor(h_.data(), 0, rows), scratch_->once,
                          {gradient.data(), 4 * hidden_, hidden_}, Accumulate::No);
}

template <class T>
void LstmLayer<T>::inputWeightGradient(std::span<T> gradient) {
    const std::size_t rows = time_ * columns_;
    transposedMultiply<T>(gateTwin_.factor(gates_.data(), 0, rows),
                          inputTwin_.factor(input_.data(), 0, rows), scratch_->once,
                          {gradient.data(), 4 * hidden_, hidden_}, Accumulate::No);
}

template <class T>
void LstmLayer<T>::inputGradient(const LstmWeights<T>& weights, std::span<T> gradient) {
    const std::size_t rows = time_ * columns_;
    scratch_->once.pack(inputWeightTwin_.factor(weights.input.data(), 0, 4 * hidden_));
    multiply<T>(gateTwin_.factor(gates_.data(), 0, rows), scratch_->once,
                {gradient.data(), rows, hidden_}, Accumulate::No);
}

template class LstmLayer<float>;
template class LstmLayer<double>;

} // namespace gradlab::engine
