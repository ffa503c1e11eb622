// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Inverted dropout: an element is kept with probability 1 − rate and then scaled by 1 / (1 − rate).
// Randomness: Philox, purpose Dropout, counter {step, global column, site, t·H + unit}; so a mask
// depends neither on how columns are shared out among workers nor on threads. Sites: 0 embedding, 1
// … L−1 between layers, L last.
#pragma once

#include "engine/model/language_model.h"

#include <cstddef>
#include <span>

namespace gradlab::engine {

/// mask (T·B×H, ordered time, column) = 0 or 1 / (1 − rate); rate in (0, 1). Parallel over columns.
template <class T>
void fillDropoutMask(const DropoutContext& context, std::uint32_t site, std::size_t time,
                     std::size_t columns, std::size_t hidden, std::span<T> mask);

/// out = in · mask, element by element; `out` may be `in`.
template <class T>
void applyMask(std::span<const T> in, std::span<const T> mask, std::span<T> out);

} // namespace gradlab::engine
