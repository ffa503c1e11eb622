// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/softmax_loss.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/parallel.h"
#include "engine/model/grow_buffer.h"
#include "engine/model/vector_chunk.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace gradlab::engine {
namespace {

// A tile is written and read some six times, the weight's gradient read and written once a tile.
// The first wants few rows, the second many: a number in proportion to H balances them.
constexpr std::size_t kSmallTile = std::size_t{1} << 19; // elements that never hurt
constexpr std::size_t kLargeTile = std::size_t{1} << 22; // elements that are never exceeded
constexpr std::size_t kFewestRows = 32;
constexpr std::size_t kRowMultiple = 8;          // whole tiles of the product
constexpr std::size_t kRowBlockElements = 16384; // elements of softmax a task

/// The largest element; `size` ≥ 1. Elements that are NaN may be passed over.
template <class T>
T largest(const T* row, std::size_t size) {
    using Chunk = VectorChunk<T>;
    const std::size_t full = size / Chunk::kSize * Chunk::kSize;
    Chunk lanes = Chunk::all(row[0]);
    for (std::size_t j = 0; j < full; j += Chunk::kSize)
        lanes = lanes.max(Chunk::load(row + j, Chunk::kSize));
    T max = lanes.values().maxCoeff();
    for (std::size_t j = full; j < size; ++j)
        max = std::max(max, row[j]);
    return max;
}

/// Replaces a row of logits by exp(logit − max) and returns their sum. Partial sums of at most 64
/// chunks keep the error of float far below the loss's tolerance.
template <class T>
double exponentials(T* row, std::size_t size, T max) {
    using Chunk = VectorChunk<T>;
    constexpr std::size_t kStretch = 64 * Chunk::kSize;
    const Chunk shift = Chunk::all(max);
    double sum = 0.0;
    for (std::size_t start = 0; start < size; start += kStretch) {
        const std::size_t end = std::min(size, start + kStretch);
        const std::size_t full = start + (end - start) / Chunk::kSize * Chunk::kSize;
        Chunk lanes = Chunk::all(T{0});
        for (std::size_t j = start; j < full; j += Chunk::kSize) {
            const Chunk value = (Chunk::load(row + j, Chunk::kSize) - shift).exp();
            value.store(row + j, Chunk::kSize);
            lanes = lanes + value;
        }
        if (full < end)
            (Chunk::load(row + full, end - full) - shift).exp().store(row + full, end - full);
        sum += static_cast<double>(lanes.values().sum());
        for (std::size_t j = full; j < end; ++j)
            sum += static_cast<double>(row[j]);
    }
    return sum;
}

} // namespace

template <class T>
SoftmaxLoss<T>::SoftmaxLoss(std::size_t vocabulary, std::size_t hidden, ProductType products)
    : vocabulary_(vocabulary), hidden_(hidden), weightT_(products), weight_(products),
      tileInput_(products), weightTwin_(products), inputTwin_(products), tileTwin_(products),
      scaledTwin_(products) {}

template <class T>
std::size_t SoftmaxLoss<T>::tileRows() const noexcept {
    const std::size_t balanced = hidden_ * 2 / 3;
    const std::size_t rows =
        std::clamp(balanced, kSmallTile / vocabulary_, kLargeTile / vocabulary_);
    return std::max(kFewestRows, rows / kRowMultiple * kRowMultiple);
}

/// Losses of a tile of logits into rowLosses_; a gradientScale (1/N) other than 0 turns the tile
/// into E and fills rowScales_.
template <class T>
void SoftmaxLoss<T>::tileLosses(std::span<const std::int32_t> targets, T* tile,
                                double gradientScale) {
    const std::size_t block = std::max<std::size_t>(1, kRowBlockElements / vocabulary_);
    parallelRanges(targets.size(), block, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            T* row = tile + r * vocabulary_;
            const auto target = static_cast<std::size_t>(targets[r]);
            const T targetLogit = row[target];
            const T max = largest(row, vocabulary_);
            const double sum = exponentials(row, vocabulary_, max);
            rowLosses_[r] =
                std::log(sum) + (static_cast<double>(max) - static_cast<double>(targetLogit));
            if (gradientScale == 0.0)
                continue;
            rowScales_[r] = static_cast<T>(gradientScale / sum);
            row[target] -= static_cast<T>(sum);
            tileTwin_.roundRows(row, r, 1);
        }
    });
}

template <class T>
void SoftmaxLoss<T>::packWeight(const OutputWeights<T>& weights) {
    weightTwin_.roundAll(weights.weight.data(), vocabulary_, hidden_);
    weightT_.packTransposed(weightTwin_.factor(weights.weight.data(), 0, vocabulary_));
}

template <class T>
void SoftmaxLoss<T>::tileLogits(const OutputWeights<T>& weights, std::span<const T> input, T* out) {
    const std::size_t rows = input.size() / hidden_;
    for (std::size_t r = 0; r < rows && !weights.bias.empty(); ++r)
        std::ranges::copy(weights.bias, out + r * vocabulary_);
    inputTwin_.roundAll(input.data(), rows, hidden_);
    multiply<T>(inputTwin_.factor(input.data(), 0, rows), weightT_, {out, rows, vocabulary_},
                weights.bias.empty() ? Accumulate::No : Accumulate::Yes);
}

template <class T>
void SoftmaxLoss<T>::logits(const OutputWeights<T>& weights, std::span<const T> input,
                            std::span<T> out) {
    GRADLAB_CHECK(out.size() * hidden_ == input.size() * vocabulary_, out.size(), input.size());
    packWeight(weights);
    tileLogits(weights, input, out.data());
}

template <class T>
double SoftmaxLoss<T>::loss(const OutputWeights<T>& weights, std::span<const T> input,
                            std::span<const std::int32_t> targets) {
    double total = 0.0;
    packWeight(weights);
    const std::size_t most = std::min(tileRows(), targets.size());
    const std::span<T> tile = grow(tile_, most * vocabulary_);
    static_cast<void>(grow(rowLosses_, most));
    for (std::size_t first = 0; first < targets.size(); first += most) {
        const std::size_t rows = std::min(most, targets.size() - first);
        tileLogits(weights, input.subspan(first * hidden_, rows * hidden_), tile.data());
        tileLosses(targets.subspan(first, rows), tile.data(), 0.0);
        for (std::size_t r = 0; r < rows; ++r)
            total += rowLosses_[r];
    }
    return total;
}

template <class T>
double SoftmaxLoss<T>::lossAndGradient(const OutputWeights<T>& weights, std::span<const T> input,
                                       std::span<const std::int32_t> targets,
                                       const OutputGradients<T>& gradients,
                                       const std::stop_token& stop) {
    double total = 0.0;
    packWeight(weights);
    weight_.pack(weightTwin_.factor(weights.weight.data(), 0, vocabulary_));
    const std::size_t most = std::min(tileRows(), targets.size());
    const std::span<T> tile = grow(tile_, most * vocabulary_);
    tileTwin_.resize(most, vocabulary_);
    static_cast<void>(grow(rowLosses_, most));
    static_cast<void>(grow(rowScales_, most));
    static_cast<void>(grow(scaledInput_, most * hidden_));
    const double scale = 1.0 / static_cast<double>(targets.size());
    std::ranges::fill(gradients.bias, T{0});
    for (std::size_t first = 0; first < targets.size(); first += most) {
        if (stop.stop_requested())
            throw Cancelled();
        const std::size_t rows = std::min(most, targets.size() - first);
        const auto tileInput = input.subspan(first * hidden_, rows * hidden_);
        tileLogits(weights, tileInput, tile.data());
        tileLosses(targets.subspan(first, rows), tile.data(), scale);
        for (std::size_t r = 0; r < rows; ++r)
            total += rowLosses_[r];
        tileGradients(tileInput, gradients, first, rows);
    }
    return total;
}

/// From E in tile_ and s in rowScales_ to the gradients of `rows` predictions from `first` on.
template <class T>
void SoftmaxLoss<T>::tileGradients(std::span<const T> input, const OutputGradients<T>& gradients,
                                   std::size_t first, std::size_t rows) {
    T* const inputGradient = gradients.input.data() + first * hidden_;
    const Factor<T> tile = tileTwin_.factor(tile_.data(), 0, rows);
    multiply<T>(tile, weight_, {inputGradient, rows, hidden_}, Accumulate::No);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t j = 0; j < hidden_; ++j) {
            inputGradient[r * hidden_ + j] *= rowScales_[r];
            scaledInput_[r * hidden_ + j] = input[r * hidden_ + j] * rowScales_[r];
        }
    scaledTwin_.roundAll(scaledInput_.data(), rows, hidden_);
    transposedMultiply<T>(tile, scaledTwin_.factor(scaledInput_.data(), 0, rows), tileInput_,
                          {gradients.weight.data(), vocabulary_, hidden_},
                          first == 0 ? Accumulate::No : Accumulate::Yes);
    for (std::size_t r = 0; r < rows && !gradients.bias.empty(); ++r)
        for (std::size_t v = 0; v < vocabulary_; ++v)
            gradients.bias[v] += tile_[r * vocabulary_ + v] * rowScales_[r];
}

template class SoftmaxLoss<float>;
template class SoftmaxLoss<double>;

} // namespace gradlab::engine
