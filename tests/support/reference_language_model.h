// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The language model written as its equations, in double, one number at a time: slow, obvious,
// forward only. Dropout masks are drawn here on their own, straight from Philox.
#pragma once

#include "engine/core/random.h"
#include "engine/model/language_model.h"

#include <cmath>
#include <span>
#include <vector>

namespace gradlab::tests {

class ReferenceLanguageModel {
public:
    explicit ReferenceLanguageModel(const engine::ModelShape& shape)
        : shape_(shape), layout_(shape) {}

    /// Logits, N×V; h and c (L×B×H) are carried.
    std::vector<double> logits(std::span<const double> parameters, const engine::Window& window,
                               std::span<double> h, std::span<double> c,
                               const engine::DropoutContext& dropout) const {
        const std::size_t width = shape_.hidden;
        std::vector<double> out;
        for (std::size_t t = 0; t < window.time; ++t)
            for (std::size_t b = 0; b < window.columns; ++b) {
                const auto id = static_cast<std::size_t>(window.inputs[t * window.columns + b]);
                std::vector<double> x(width);
                for (std::size_t j = 0; j < width; ++j)
                    x[j] = at(parameters, 0, id * width + j) * mask(dropout, 0, t, b, j);
                for (std::size_t l = 0; l < shape_.layers; ++l) {
                    const std::size_t offset = (l * window.columns + b) * width;
                    cell(parameters, l, x, h.subspan(offset, width), c.subspan(offset, width));
                    for (std::size_t j = 0; j < width; ++j)
                        x[j] = h[offset + j] * mask(dropout, l + 1, t, b, j);
                }
                for (std::size_t v = 0; v < shape_.vocabulary; ++v)
                    out.push_back(output(parameters, v, x));
            }
        return out;
    }

    double meanLoss(std::span<const double> parameters, const engine::Window& window,
                    std::vector<double> h, std::vector<double> c,
                    const engine::DropoutContext& dropout) const {
        const auto all = logits(parameters, window, h, c, dropout);
        double sum = 0.0;
        for (std::size_t r = 0; r < window.targets.size(); ++r) {
            const double* row = all.data() + r * shape_.vocabulary;
            double total = 0.0;
            for (std::size_t v = 0; v < shape_.vocabulary; ++v)
                total += std::exp(row[v]);
            sum += std::log(total) - row[window.targets[r]];
        }
        return sum / static_cast<double>(window.targets.size());
    }

    static double mask(const engine::DropoutContext& dropout, std::size_t site, std::size_t t,
                       std::size_t b, std::size_t unit, std::size_t hidden) {
        if (dropout.rate == 0.0)
            return 1.0;
        const std::size_t element = t * hidden + unit;
        const auto block = engine::philox(
            dropout.seed, engine::RandomPurpose::Dropout,
            {dropout.step, dropout.firstColumn + static_cast<std::uint32_t>(b),
             static_cast<std::uint32_t>(site), static_cast<std::uint32_t>(element / 4)});
        const double uniform = static_cast<double>(block[element % 4] >> 8) / 16777216.0;
        return uniform >= dropout.rate ? 1.0 / (1.0 - dropout.rate) : 0.0;
    }

private:
    double mask(const engine::DropoutContext& dropout, std::size_t site, std::size_t t,
                std::size_t b, std::size_t unit) const {
        return mask(dropout, site, t, b, unit, shape_.hidden);
    }
    /// Element `index` of tensor `id`; ids as ParameterLayout's constructor lists them.
    double at(std::span<const double> parameters, std::size_t id, std::size_t index) const {
        return parameters[layout_.tensors()[id].offset + index];
    }
    double preActivation(std::span<const double> parameters, std::size_t l, std::size_t row,
                         std::span<const double> x, std::span<const double> h) const {
        const std::size_t id = 1 + 4 * l; // weight_ih, weight_hh, bias_ih, bias_hh
        double sum = at(parameters, id + 2, row) + at(parameters, id + 3, row);
        for (std::size_t j = 0; j < x.size(); ++j)
            sum += at(parameters, id, row * x.size() + j) * x[j] +
                   at(parameters, id + 1, row * x.size() + j) * h[j];
        return sum;
    }
    void cell(std::span<const double> parameters, std::size_t l, std::span<const double> x,
              std::span<double> h, std::span<double> c) const {
        const std::size_t width = shape_.hidden;
        const auto sigmoid = [](double value) { return 1.0 / (1.0 + std::exp(-value)); };
        std::vector<double> newH(width);
        for (std::size_t j = 0; j < width; ++j) {
            const double i = sigmoid(preActivation(parameters, l, j, x, h));
            const double f = sigmoid(preActivation(parameters, l, width + j, x, h));
            const double g = std::tanh(preActivation(parameters, l, 2 * width + j, x, h));
            const double o = sigmoid(preActivation(parameters, l, 3 * width + j, x, h));
            c[j] = f * c[j] + i * g;
            newH[j] = o * std::tanh(c[j]);
        }
        std::copy(newH.begin(), newH.end(), h.begin());
    }
    double output(std::span<const double> parameters, std::size_t v,
                  std::span<const double> x) const {
        const std::size_t decoder = 1 + 4 * shape_.layers;
        double sum = shape_.tied ? 0.0 : at(parameters, decoder + 1, v);
        for (std::size_t j = 0; j < x.size(); ++j)
            sum += at(parameters, shape_.tied ? 0 : decoder, v * x.size() + j) * x[j];
        return sum;
    }

    engine::ModelShape shape_;
    engine::ParameterLayout layout_;
};

} // namespace gradlab::tests
