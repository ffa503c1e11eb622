// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Perplexity of a split: `columns` columns, state carried from zero, the last short window
// included, dropout off.
//   perplexity = exp(Σ NLL / Σ tokens), natural logarithm, sums in double; a column of R tokens
//   gives R − 1.
// Never touches training state.
#pragma once

#include "engine/data/batch_iterator.h"
#include "engine/model/language_model.h"

#include <memory>
#include <span>
#include <stop_token>

namespace gradlab::engine {

struct Evaluation {
    double nll = 0.0;
    std::uint64_t tokens = 0;
    [[nodiscard]] double perplexity() const;
};

template <class T>
class Evaluator {
public:
    Evaluator(const ModelShape& shape, std::size_t columns, std::size_t bptt,
              ProductType products = ProductType::Native);

    /// In the caller's compute arena. @throws Cancelled between windows when `stop` asks;
    /// DataError if the split is too short for the columns.
    [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const TokenIds& split,
                                      const std::stop_token& stop);
    [[nodiscard]] LanguageModel<T>& model() noexcept { return *model_; }

private:
    std::unique_ptr<LanguageModel<T>> model_;
    std::size_t columns_;
    std::size_t bptt_;
};

extern template class Evaluator<float>;
extern template class Evaluator<double>;

} // namespace gradlab::engine
