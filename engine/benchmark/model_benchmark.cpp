// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/benchmark/model_benchmark.h"

#include "engine/benchmark/bench_clock.h"
#include "engine/core/median.h"
#include "engine/core/parallel.h"
#include "engine/core/random.h"
#include "engine/model/lstm_layer.h"
#include "engine/model/matrix_product.h"
#include "engine/model/softmax_loss.h"

#include <cstdint>
#include <utility>

namespace gradlab::engine {

namespace {

constexpr int kRounds = 5;

AlignedBuffer<float> randomBuffer(std::size_t size, std::uint32_t tensor) {
    AlignedBuffer<float> buffer(size);
    fillUniform(buffer.span(), 1, RandomPurpose::Bench, {0, 0, tensor, 0});
    for (float& value : buffer)
        value = (value - 0.5F) * 0.1F;
    return buffer;
}

/// m×k by k×n.
struct ProductShape {
    std::size_t m;
    std::size_t k;
    std::size_t n;
};

std::string sizeText(const ProductShape& shape) {
    return std::to_string(shape.m) + "x" + std::to_string(shape.k) + " by " +
           std::to_string(shape.k) + "x" + std::to_string(shape.n);
}

double flopsOf(const ProductShape& shape) {
    return 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.k) *
           static_cast<double>(shape.n);
}

template <class Work>
double secondsOf(const Work& work) {
    std::vector<double> seconds;
    work();
    for (int round = 0; round < kRounds; ++round) {
        const auto begin = BenchClock::now();
        work();
        seconds.push_back(secondsSince(begin));
    }
    return median(seconds);
}

class ModelKernels {
public:
    ModelKernels(const ModelShape& shape, std::size_t time, std::size_t columns)
        : v_(shape.vocabulary), h_(shape.hidden), time_(time), columns_(columns) {}

    std::vector<KernelCost> run() {
        const std::size_t rows = time_ * columns_;
        product("input product", {rows, h_, 4 * h_});
        product("recurrent product", {columns_, h_, 4 * h_});
        product("recurrent gradient", {columns_, 4 * h_, h_});
        transposed("weight gradient", {4 * h_, rows, h_});
        lstm();
        softmax();
        return std::move(costs_);
    }

private:
    void product(const char* name, const ProductShape& shape) {
        PackedMatrix<float> packed;
        const auto b = randomBuffer(shape.k * shape.n, 1);
        packed.pack({b.data(), shape.k, shape.n});
        timeProduct(name, shape, [&](const float* a, MatrixView<float> c) {
            multiply<float>({a, shape.m, shape.k}, packed, c, Accumulate::No);
        });
    }

    /// The left-hand side is kept as its transpose; the right-hand one is packed each time.
    void transposed(const char* name, const ProductShape& shape) {
        PackedMatrix<float> scratch;
        const auto b = randomBuffer(shape.k * shape.n, 1);
        timeProduct(name, shape, [&](const float* a, MatrixView<float> c) {
            transposedMultiply<float>({a, shape.k, shape.m}, {b.data(), shape.k, shape.n}, scratch,
                                      c, Accumulate::No);
        });
    }

    template <class Multiply>
    void timeProduct(const char* name, const ProductShape& shape, const Multiply& work) {
        const auto a = randomBuffer(shape.m * shape.k, 0);
        AlignedBuffer<float> c(shape.m * shape.n);
        add(name, sizeText(shape), flopsOf(shape), [&] {
            work(a.data(), {c.data(), shape.m, shape.n});
        });
    }

    void lstm() {
        const std::size_t rows = time_ * columns_;
        const auto input = randomBuffer(rows * h_, 0);
        const auto wih = randomBuffer(4 * h_ * h_, 1);
        const auto whh = randomBuffer(4 * h_ * h_, 2);
        const auto bias = randomBuffer(4 * h_, 3);
        const auto gradient = randomBuffer(rows * h_, 4);
        const AlignedBuffer<float> state(columns_ * h_);
        AlignedBuffer<float> weightGradient(4 * h_ * h_);
        AlignedBuffer<float> inputGradient(rows * h_);
        AlignedBuffer<float> biasGradient(4 * h_);
        const LstmWeights<float> weights{wih.span(), whh.span(), bias.span(), bias.span()};
        LstmScratch<float> scratch;
        LstmLayer<float> layer(h_, scratch);
        const std::string size = std::to_string(time_) + " steps of " + std::to_string(columns_) +
                                 "x" + std::to_string(h_);
        const double flops = 2.0 * flopsOf({rows, h_, 4 * h_});
        const auto forward = [&] {
            layer.forward(weights, input.span(), time_, columns_, state.span(), state.span(), {});
        };
        add("LSTM layer forward", size, flops, forward);
        std::vector<double> seconds;
        for (int round = 0; round <= kRounds; ++round) {
            forward();
            const auto begin = BenchClock::now();
            layer.backwardThroughTime(weights, gradient.span(), {});
            layer.biasGradient(biasGradient.span());
            layer.hiddenWeightGradient(weightGradient.span());
            layer.inputWeightGradient(weightGradient.span());
            layer.inputGradient(weights, inputGradient.span());
            seconds.push_back(secondsSince(begin));
        }
        costs_.push_back({"LSTM layer backward", size, median(seconds), 2.0 * flops});
    }

    void softmax() {
        const std::size_t rows = time_ * columns_;
        const auto input = randomBuffer(rows * h_, 0);
        const auto weight = randomBuffer(v_ * h_, 1);
        AlignedBuffer<float> weightGradient(v_ * h_);
        AlignedBuffer<float> inputGradient(rows * h_);
        std::vector<std::int32_t> targets(rows);
        for (std::size_t i = 0; i < rows; ++i)
            targets[i] = static_cast<std::int32_t>(i * 7 % v_);
        SoftmaxLoss<float> loss(v_, h_);
        double sum = 0.0;
        add("output layer and loss",
            std::to_string(rows) + "x" + std::to_string(h_) + ", " + std::to_string(v_) + " words",
            3.0 * flopsOf({rows, h_, v_}), [&] {
                sum += loss.lossAndGradient({weight.span(), {}}, input.span(), targets,
                                            {weightGradient.span(), {}, inputGradient.span()}, {});
            });
    }

    template <class Work>
    void add(const char* name, std::string size, double flops, const Work& work) {
        costs_.push_back({name, std::move(size), secondsOf(work), flops});
    }

    std::size_t v_;
    std::size_t h_;
    std::size_t time_;
    std::size_t columns_;
    std::vector<KernelCost> costs_;
};

} // namespace

std::vector<KernelCost> measureModelKernels(const ModelShape& shape, std::size_t time,
                                            std::size_t columns, int threads) {
    std::vector<KernelCost> costs;
    ComputeArena arena(threads);
    arena.execute([&] { costs = ModelKernels(shape, time, columns).run(); });
    return costs;
}

} // namespace gradlab::engine
