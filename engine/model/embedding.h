// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The embedding: a row of a V×H table for each token. Leaves out: dropout on its output
// (dropout.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradlab::engine {

/// out (N×H) row r = weight (V×H) row ids[r]. Every id is checked against V.
template <class T>
void lookUpEmbedding(std::span<const T> weight, std::size_t hidden,
                     std::span<const std::int32_t> ids, std::span<T> out);

/// gradient (V×H) row ids[r] += outputGradient (N×H) row r, in the order of r; other rows stay as
/// they are.
template <class T>
void addEmbeddingGradient(std::span<const T> outputGradient, std::size_t hidden,
                          std::span<const std::int32_t> ids, std::span<T> gradient);

} // namespace gradlab::engine
