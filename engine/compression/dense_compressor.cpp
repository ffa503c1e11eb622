// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/dense_compressor.h"

#include "engine/compression/value_code.h"

namespace gradlab::engine {

MethodEntry denseMethod() {
    MethodInfo info;
    info.name = "none";
    info.label = "None (dense)";
    info.description = "Sends every element; the baseline that all others are measured against.";
    info.defaultMemory = "none";
    info.memories = {"none", "residual"};
    return methodEntry<DenseCompressor>(std::move(info));
}

template <class T>
DenseCompressor<T>::DenseCompressor(const CompressionSettings& settings)
    : type_(valueTypeOf(settings.values)), decoded_(kTileElements) {}

template <class T>
void DenseCompressor<T>::compress(TileSource<T>& source, const UnitContext& context,
                                  UnitWriter& writer, CompressionStats& stats) {
    const std::size_t width = valueBytes(type_);
    UnitDescriptor descriptor;
    descriptor.unit = context.unit->id;
    descriptor.values = type_;
    descriptor.elements = static_cast<std::uint32_t>(source.size());
    descriptor.selected = descriptor.elements;
    descriptor.payloadBytes = source.size() * width;
    const std::span<std::byte> out = writer.next(descriptor);
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::span<const T> tile = source.tile(t);
        const std::span<std::byte> bytes =
            out.subspan(t * kTileElements * width, tile.size() * width);
        writeValues(tile, type_, bytes);
        std::span<const T> decoded = tile;
        if (!isLossless<T>(type_)) {
            const std::span<T> received = std::span<T>(decoded_).first(tile.size());
            readValues(bytes, type_, received);
            stats.squaredError += sumSquaredDifference(tile, std::span<const T>(received));
            stats.squaredKept += sumSquares(std::span<const T>(received));
            decoded = received;
        }
        stats.nonzero += countNonZero(decoded);
        if (source.remembers())
            source.noteSentTile(t, decoded);
    }
    stats.selected += source.size();
    stats.squaredNorm += source.squaredNorm();
    if (isLossless<T>(type_))
        stats.squaredKept += source.squaredNorm();
    stats.paperBytes += static_cast<double>(descriptor.payloadBytes);
    stats.boundBytes += static_cast<double>(descriptor.payloadBytes);
}

template class DenseCompressor<float>;
template class DenseCompressor<double>;

} // namespace gradlab::engine
