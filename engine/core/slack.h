// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Room for a little more than is needed now: what a step sends differs in length from step to step,
// and none after the first should ask for memory.
#pragma once

#include <cstddef>

namespace gradlab::engine {

/// A later size up to an eighth larger fits without another allocation.
template <class Vector>
void reserveWithSlack(Vector& vector, std::size_t size) {
    constexpr std::size_t kPart = 8;
    if (size > vector.capacity())
        vector.reserve(size + size / kPart + kPart);
}

} // namespace gradlab::engine
