// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/embedding.h"

#include "engine/core/check.h"

#include <algorithm>

namespace gradlab::engine {

template <class T>
void lookUpEmbedding(std::span<const T> weight, std::size_t hidden,
                     std::span<const std::int32_t> ids, std::span<T> out) {
    GRADLAB_CHECK(out.size() == ids.size() * hidden, out.size(), ids.size(), hidden);
    const std::size_t vocabulary = weight.size() / hidden;
    for (std::size_t r = 0; r < ids.size(); ++r) {
        GRADLAB_CHECK(ids[r] >= 0 && static_cast<std::size_t>(ids[r]) < vocabulary, ids[r],
                      vocabulary);
        const T* row = weight.data() + static_cast<std::size_t>(ids[r]) * hidden;
        std::copy_n(row, hidden, out.data() + r * hidden);
    }
}

// One thread: rows collide, and adding N rows is a thousandth of the products' work.
template <class T>
void addEmbeddingGradient(std::span<const T> outputGradient, std::size_t hidden,
                          std::span<const std::int32_t> ids, std::span<T> gradient) {
    GRADLAB_CHECK(outputGradient.size() == ids.size() * hidden, outputGradient.size(), ids.size());
    for (std::size_t r = 0; r < ids.size(); ++r) {
        T* row = gradient.data() + static_cast<std::size_t>(ids[r]) * hidden;
        const T* add = outputGradient.data() + r * hidden;
        for (std::size_t j = 0; j < hidden; ++j)
            row[j] += add[j];
    }
}

template void lookUpEmbedding<float>(std::span<const float>, std::size_t,
                                     std::span<const std::int32_t>, std::span<float>);
template void lookUpEmbedding<double>(std::span<const double>, std::size_t,
                                      std::span<const std::int32_t>, std::span<double>);
template void addEmbeddingGradient<float>(std::span<const float>, std::size_t,
                                          std::span<const std::int32_t>, std::span<float>);
template void addEmbeddingGradient<double>(std::span<const double>, std::size_t,
                                           std::span<const std::int32_t>, std::span<double>);

} // namespace gradlab::engine
