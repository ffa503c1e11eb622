// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// k distinct indices of n, every set equally likely, as a pure function of a counter; sender and
// receiver draw the same. Version 1: RandomStream(seed, Selection, step, lane, tensor) gives
// below(n) again and again, a repeated index is dropped, until k are marked; for k > n/2 the n − k
// indices to leave out are drawn instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradlab::engine {

/// Written to the descriptor of a seeded unit; a change of the drawing above needs the next number.
inline constexpr std::uint8_t kRandomSelectionVersion = 1;
/// Lane of a pattern that all workers share.
inline constexpr std::uint32_t kSharedLane = 0xFFFFFFFFU;

struct SelectionSeed {
    std::uint32_t seed = 0;
    std::uint32_t step = 0;
    std::uint32_t lane = 0;
    std::uint32_t tensor = 0;
};

/// Keeps its bitmap between calls; not thread-safe.
class RandomSelection {
public:
    /// Fills `indices` with k ascending indices below n; k ≤ n.
    void draw(const SelectionSeed& seed, std::size_t n, std::size_t k,
              std::vector<std::uint32_t>& indices);

private:
    std::vector<std::uint64_t> marked_; ///< one bit an element
};

} // namespace gradlab::engine
