// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/bfloat.h"

#include <cstddef>

namespace gradlab::engine {

void roundToBfloats(std::span<const float> values, Bfloat* to) noexcept {
    for (std::size_t i = 0; i < values.size(); ++i)
        to[i] = roundToBfloat(values[i]);
}

} // namespace gradlab::engine
