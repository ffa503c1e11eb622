// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a step sends differs in length from step to step, and none after the first should ask for
// memory: buffers get room for the longest at once. Room that nothing is written to costs
// addresses, no memory.
#pragma once

#include <algorithm>
#include <cstddef>

namespace gradlab::engine {

/// Room for `size` elements; if that takes an allocation, then for `most`, which no step exceeds.
template <class Vector>
void reserveFor(Vector& vector, std::size_t size, std::size_t most) {
    if (size > vector.capacity())
        vector.reserve(std::max(size, most));
}

} // namespace gradlab::engine
