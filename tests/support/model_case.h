// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A model with parameters, a random window and a random state: what most of the model's tests start
// from.
#pragma once

#include "engine/core/aligned_buffer.h"
#include "engine/core/random.h"
#include "engine/model/language_model.h"

#include <vector>

namespace gradlab::tests {

template <class T>
struct ModelCase {
    ModelCase(const engine::ModelShape& shape_, std::size_t time_, std::size_t columns_,
              std::uint32_t seed = 1)
        : shape(shape_), time(time_), columns(columns_),
          model(engine::makeLstmLanguageModel<T>(shape_)), parameters(model->layout().size()),
          gradient(model->layout().size()), h(shape.layers * columns * shape.hidden), c(h.size()) {
        engine::initialiseParameters<T>(model->layout(), shape, seed, parameters.span());
        engine::RandomStream random(seed, engine::RandomPurpose::Test, 0, 0, 0);
        const auto vocabulary = static_cast<std::uint32_t>(shape.vocabulary);
        for (std::size_t i = 0; i < (time + 1) * columns; ++i)
            ids.push_back(static_cast<std::int32_t>(random.below(vocabulary)));
        for (T& value : h)
            value = static_cast<T>(random.uniform() - 0.5F);
        for (T& value : c)
            value = static_cast<T>(random.uniform() - 0.5F);
    }

    /// Time steps [first, first + count) of the ids.
    [[nodiscard]] engine::Window window(std::size_t first, std::size_t count) const {
        const std::span<const std::int32_t> all(ids);
        return {all.subspan(first * columns, count * columns),
                all.subspan((first + 1) * columns, count * columns), count, columns};
    }
    [[nodiscard]] engine::Window window() const { return window(0, time); }
    [[nodiscard]] engine::HiddenState<T> state() { return {h.span(), c.span()}; }

    /// One forward and backward; advances the state.
    double step(const engine::DropoutContext& dropout = {}) {
        return model->forwardBackward(parameters.span(), window(), state(), dropout,
                                      gradient.span(), {}, {}, {});
    }

    engine::ModelShape shape;
    std::size_t time;
    std::size_t columns;
    std::unique_ptr<engine::LanguageModel<T>> model;
    engine::AlignedBuffer<T> parameters;
    engine::AlignedBuffer<T> gradient;
    engine::AlignedBuffer<T> h;
    engine::AlignedBuffer<T> c;
    std::vector<std::int32_t> ids;
};

} // namespace gradlab::tests
