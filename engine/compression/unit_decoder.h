// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// From a unit's bytes back to numbers. Payloads are hostile: counts are checked before memory is
// taken, indices must rise strictly and stay below n, values must be finite, and the payload must
// have exactly the length that its descriptor implies. Leaves out: matching units to bodies
// (Aggregator).
#pragma once

#include "engine/compression/compressed_gradient.h"
#include "engine/compression/level_code.h"
#include "engine/compression/message_plan.h"
#include "engine/compression/random_selection.h"

#include <cstdint>
#include <span>
#include <vector>

namespace gradlab::engine {

/// Whether decodeSparse() applies: the unit carries a selection (Sparse, SeededSparse). A dense
/// fallback is dense.
[[nodiscard]] bool isSparse(const UnitDescriptor& descriptor) noexcept;

/// Decoder with reused buffers; not thread-safe. T is the arithmetic of the receiver, float or
/// double; the same bits that the sender subtracted from its memory.
template <class T>
class UnitDecoder {
public:
    /// range[i] += D_i for every element that travels. `range` is the unit's part of the vector;
    /// nothing is written unless the whole unit is valid.
    /// @throws ProtocolError
    void addDecoded(const UnitView& view, const CompressionUnit& unit, std::span<T> range);
    /// range[i] = D_i, zeros where nothing travels. As addDecoded otherwise.
    void decode(const UnitView& view, const CompressionUnit& unit, std::span<T> range);
    /// Indices within the unit, ascending, and their values; only if isSparse(view.descriptor).
    /// @throws ProtocolError
    void decodeSparse(const UnitView& view, const CompressionUnit& unit,
                      std::vector<std::uint32_t>& indices, std::vector<T>& values);

private:
    void readSparse(const UnitView& view, const CompressionUnit& unit,
                    std::vector<std::uint32_t>& indices, std::vector<T>& values);
    /// Of a Dense or Levels payload: everything that may be wrong with it.
    void checkDense(const UnitView& view);
    void checkQuantised(const UnitView& view);
    /// Fills `out` with the elements from `first` of the unit that was checked last.
    void fillDense(const UnitView& view, std::size_t first, std::span<T> out) const;
    /// Calls visit(first element, room for a tile) for each tile.
    template <class Visit>
    void eachTile(std::size_t elements, const Visit& visit);

    std::vector<std::uint32_t> indices_;
    std::vector<T> values_;
    std::vector<std::int16_t> levels_; ///< of the unit; and behind it old ones
    std::vector<T> norms_;
    LevelDecoder levelDecoder_;
    RandomSelection selection_;
};

extern template class UnitDecoder<float>;
extern template class UnitDecoder<double>;

} // namespace gradlab::engine
