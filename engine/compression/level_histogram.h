// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// How often each of the levels −s to s occurs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gradlab::engine {

class LevelHistogram {
public:
    /// 1 ≤ s ≤ 32767.
    explicit LevelHistogram(std::uint32_t levels);
    void clear();
    /// Levels from −s to s, at most 2^32 in all between two calls of clear().
    void add(std::span<const std::int16_t> levels);
    /// [level + s]: how many were added.
    [[nodiscard]] std::span<const std::uint32_t> counts();

private:
    void addOneByOne(std::span<const std::int16_t> levels);

    std::size_t zero_;                  ///< s: where a table counts level 0
    std::size_t symbols_;               ///< 2s + 1
    std::vector<std::uint32_t> tables_; ///< [table][level + s]
};

} // namespace gradlab::engine
