// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/selection_sender.h"

#include "engine/compression/value_code.h"
#include "engine/core/reserve.h"

#include <cmath>
#include <numbers>

namespace gradlab::engine {

double log2Choose(std::size_t n, std::size_t k) {
    if (k == 0 || k >= n)
        return 0.0;
    // std::lgamma writes a global; this one does not.
    const auto logFactorial = [](std::size_t m) {
        int sign = 0;
        return ::lgamma_r(static_cast<double>(m) + 1.0, &sign);
    };
    return (logFactorial(n) - logFactorial(k) - logFactorial(n - k)) / std::numbers::ln2;
}

template <class T>
SelectionSender<T>::SelectionSender(const CompressionSettings& settings)
    : type_(valueTypeOf(settings.values)), code_(indexCodeOf(settings.indices)) {
    tile_.reserve(kTileElements);
}

template <class T>
void SelectionSender<T>::decodeAsReceived(const TileSource<T>& source, std::span<const T> values,
                                          std::size_t most, T scale) {
    reserveFor(decoded_, values.size(), most);
    decoded_.assign(values.begin(), values.end());
    if (scale != T{1})
        for (T& value : decoded_)
            value *= scale;
    if (!allFinite(std::span<const T>(decoded_)))
        source.failNumeric("scaled values are not finite; lower the learning rate or clip");
    if (isLossless<T>(type_))
        return;
    reserveFor(wire_, decoded_.size() * valueBytes(type_), most * valueBytes(type_));
    wire_.resize(decoded_.size() * valueBytes(type_));
    writeValues(std::span<const T>(decoded_), type_, wire_);
    readValues(wire_, type_, std::span<T>(decoded_));
}

template <class T>
double SelectionSender<T>::squaredError(TileSource<T>& source,
                                        std::span<const std::uint32_t> indices,
                                        std::span<const T> values) {
    constexpr double kCancelled = 1e-6; // share of the norm below which the difference loses digits
    const double sent = sumSquaredDifference(values, std::span<const T>(decoded_));
    if (indices.size() == source.size())
        return sent;
    const double total = source.squaredNorm();
    double rest = total - sumSquares(values);
    if (std::isfinite(rest) && rest > kCancelled * total)
        return rest + sent;
    rest = 0.0;
    std::size_t next = 0;
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::span<const T> tile = source.tile(t);
        tile_.assign(tile.begin(), tile.end());
        for (; next < indices.size() && indices[next] / kTileElements == t; ++next)
            tile_[indices[next] % kTileElements] = T{0};
        rest += sumSquares(std::span<const T>(tile_));
    }
    return rest + sent;
}

template <class T>
void SelectionSender<T>::send(TileSource<T>& source, const UnitContext& context,
                              std::span<const std::uint32_t> indices, std::span<const T> values,
                              std::size_t most, T scale, const SelectionSeed* seed,
                              UnitWriter& writer, CompressionStats& stats) {
    constexpr double kPaperBytes = 8.0; // an element: 32-bit value, 32-bit index
    decodeAsReceived(source, values, most, scale);
    const std::span<const T> decoded(decoded_);
    const bool seeded = seed != nullptr && !code_.has_value();
    const UnitDescriptor written =
        seeded ? encodeSeededUnit(*context.unit, *seed, indices, decoded, type_, writer)
               : encodeSparseUnit(*context.unit, indices, decoded, type_, code_, writer);
    const auto k = static_cast<double>(indices.size());
    stats.selected += indices.size();
    stats.nonzero += countNonZero(decoded);
    stats.paperBytes += kPaperBytes * k;
    stats.boundBytes += k * static_cast<double>(valueBytes(type_));
    if (seed == nullptr)
        stats.boundBytes += log2Choose(source.size(), indices.size()) / 8.0;
    stats.squaredNorm += source.squaredNorm();
    stats.squaredKept += sumSquares(decoded);
    stats.squaredError += squaredError(source, indices, values);
    stats.denseFallbacks += (written.flags & kFlagDenseFallback) != 0 ? 1U : 0U;
    source.noteSent(indices, decoded, most);
}

template class SelectionSender<float>;
template class SelectionSender<double>;

} // namespace gradlab::engine
