// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The common end of every method that sends a selection: values as a receiver decodes them, their
// statistics, the encoding, and the note to the memory.
#pragma once

#include "engine/compression/compressor.h"
#include "engine/compression/unit_encoder.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gradlab::engine {

/// log2 of the number of ways to choose k of n.
[[nodiscard]] double log2Choose(std::size_t n, std::size_t k);

template <class T>
class SelectionSender {
public:
    /// Takes value type and index code from resolved settings.
    explicit SelectionSender(const CompressionSettings& settings);
    /// `values` are p at `indices`, of which no step has more than `most`; D is scale · p,
    /// narrowed. With `seed` and index code auto the seed travels in place of indices. The source's
    /// first walk is complete.
    void send(TileSource<T>& source, const UnitContext& context,
              std::span<const std::uint32_t> indices, std::span<const T> values, std::size_t most,
              T scale, const SelectionSeed* seed, UnitWriter& writer, CompressionStats& stats);

private:
    void decodeAsReceived(const TileSource<T>& source, std::span<const T> values, std::size_t most,
                          T scale);
    /// ‖p − D‖², exactly where the difference of norms would cancel.
    double squaredError(TileSource<T>& source, std::span<const std::uint32_t> indices,
                        std::span<const T> values);

    ValueType type_;
    std::optional<IndexCode> code_;
    std::vector<T> decoded_;
    std::vector<std::byte> wire_;
    std::vector<T> tile_;
};

extern template class SelectionSender<float>;
extern template class SelectionSender<double>;

} // namespace gradlab::engine
