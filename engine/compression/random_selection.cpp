// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/random_selection.h"

#include "engine/core/check.h"
#include "engine/core/random.h"

#include <bit>

namespace gradlab::engine {

void RandomSelection::draw(const SelectionSeed& seed, std::size_t n, std::size_t k,
                           std::vector<std::uint32_t>& indices) {
    GRADLAB_CHECK(k <= n, k, n);
    const bool complement = k > n / 2;
    marked_.assign((n + 63) / 64, 0);
    RandomStream stream(seed.seed, RandomPurpose::Selection, seed.step, seed.lane, seed.tensor);
    for (std::size_t left = complement ? n - k : k; left > 0;) {
        const std::uint32_t index = stream.below(static_cast<std::uint32_t>(n));
        const std::uint64_t bit = std::uint64_t{1} << (index % 64U);
        left -= (marked_[index / 64U] & bit) == 0 ? 1U : 0U;
        marked_[index / 64U] |= bit;
    }
    indices.resize(k);
    std::size_t found = 0;
    for (std::size_t w = 0; w < marked_.size(); ++w) {
        std::uint64_t word = complement ? ~marked_[w] : marked_[w];
        if (complement && w + 1 == marked_.size() && n % 64 != 0)
            word &= (std::uint64_t{1} << (n % 64)) - 1; // bits beyond n are no elements
        for (; word != 0; word &= word - 1)
            indices[found++] =
                static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(word)));
    }
}

} // namespace gradlab::engine
