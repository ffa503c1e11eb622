// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/evaluator.h"

#include "engine/core/aligned_buffer.h"
#include "engine/core/errors.h"

#include <cmath>

namespace gradlab::engine {

double Evaluation::perplexity() const {
    return std::exp(nll / static_cast<double>(tokens));
}

template <class T>
Evaluator<T>::Evaluator(const ModelShape& shape, std::size_t columns, std::size_t bptt,
                        ProductType products)
    : model_(makeLstmLanguageModel<T>(shape, products)), columns_(columns), bptt_(bptt) {}

template <class T>
Evaluation Evaluator<T>::evaluate(std::span<const T> parameters, const TokenIds& split,
                                  const std::stop_token& stop) {
    const ColumnBlock block = cutColumns(split, columns_, 0, columns_);
    const BatchIterator windows(block, bptt_, true);
    const ModelShape& shape = model_->shape();
    AlignedBuffer<T> h(shape.layers * columns_ * shape.hidden);
    AlignedBuffer<T> c(h.size());
    Evaluation sum;
    for (std::size_t position = 0; position < windows.windows(); ++position) {
        if (stop.stop_requested())
            throw Cancelled();
        const Window window = windows.window(position);
        sum.nll += model_->evaluate(parameters, window, {h.span(), c.span()});
        sum.tokens += window.time * window.columns;
    }
    return sum;
}

template class Evaluator<float>;
template class Evaluator<double>;

} // namespace gradlab::engine
