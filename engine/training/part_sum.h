// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Sums decoded messages from +0 in the order given, unit by unit, and divides once:
//   mean_i = (D_0i + D_1i + …) / count + 0      (the last term turns −0 into +0: whether an element
//                                               travels or is left out then gives the same bits)
// A unit whose messages are all sparse costs what arrived: its sums are kept zero between parts and
// a bitmap says which were touched. Leaves out: encoding, and where messages come from.
#pragma once

#include "engine/compression/message_plan.h"
#include "engine/compression/unit_decoder.h"
#include "engine/core/aligned_buffer.h"
#include "engine/training/part_bodies.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gradlab::engine {

/// Not thread-safe. add() a part, then take every unit of it once, or clear().
template <class T>
class PartSum {
public:
    explicit PartSum(const MessagePlan& plan);

    /// Adds every unit of every body. Everything is decoded, and so checked, before this returns.
    /// @throws ProtocolError; then the sums are clear again
    void add(std::size_t part, const PartBodies& bodies);

    /// Whether takeSparse() applies: every message of the unit was a selection.
    [[nodiscard]] bool isSparse(std::uint32_t unit) const { return sparse_[unit]; }
    /// The union of the selections, ascending, with its means. Clears the unit's sums.
    void takeSparse(std::uint32_t unit, std::size_t count, std::vector<std::uint32_t>& indices,
                    std::vector<T>& values);
    /// The unit's means in place; the caller reads them and then calls clearUnit().
    [[nodiscard]] std::span<T> divide(std::uint32_t unit, std::size_t count);
    void clearUnit(std::uint32_t unit);
    void clear(std::size_t part);
    /// All sums, in parameter order.
    [[nodiscard]] std::span<T> values() noexcept { return sums_.span(); }

private:
    void addUnit(std::uint32_t unit, std::size_t place, const PartBodies& bodies);
    void addSparse(const UnitView& view, const CompressionUnit& unit);
    [[nodiscard]] std::span<T> range(std::uint32_t unit);
    [[nodiscard]] std::span<std::uint64_t> touchedWords(std::uint32_t unit);

    MessagePlan plan_;
    AlignedBuffer<T> sums_;                ///< zero wherever no part is being summed
    AlignedBuffer<std::uint64_t> touched_; ///< a bit an element, each unit from a whole word on
    std::vector<std::size_t> firstWord_;   ///< of each unit
    std::vector<bool> sparse_;
    UnitDecoder<T> decoder_;
    std::vector<std::uint32_t> indices_;
    std::vector<T> values_;
};

/// sum / count + 0, elementwise; `out` may be `sums`.
template <class T>
void divideInto(std::span<T> out, std::span<const T> sums, std::size_t count);

extern template class PartSum<float>;
extern template class PartSum<double>;

} // namespace gradlab::engine
