// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/qsgd_compressor.h"

#include "engine/compression/compression_parameters.h"
#include "engine/compression/qsgd_parameters.h"
#include "engine/compression/unit_encoder.h"
#include "engine/compression/value_code.h"
#include "engine/core/random.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace gradlab::engine {

namespace {

constexpr std::size_t kTables = 4;        // of level counts
constexpr std::size_t kSmallTable = 4096; // symbols; one table if there are more

/// q = floor(r) + [u < r − floor(r)], at most s, with the sign of v; norm > 0.
template <class T>
void roundToLevels(std::span<const T> values, std::span<const float> uniforms, T norm, T levels,
                   std::span<std::int16_t> out) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        // s · (|v|/norm), not (s/norm) · |v|: the quotient cannot leave [0, 1] by much, the product
        // can.
        const T r = levels * (std::fabs(values[i]) / norm);
        const T whole = std::floor(r);
        const T up = static_cast<T>(uniforms[i]) < r - whole ? T{1} : T{0};
        const T q = std::min(whole + up, levels);
        out[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(std::copysign(q, values[i])));
    }
}

} // namespace

MethodEntry qsgdMethod() {
    return methodEntry<QsgdCompressor>(qsgdMethodInfo());
}

template <class T>
QsgdCompressor<T>::QsgdCompressor(const CompressionSettings& settings)
    : levelCount_(static_cast<std::uint32_t>(integerParameter(settings, "levels"))),
      euclidean_(textParameter(settings, "norm") == "l2"),
      bucket_(static_cast<std::size_t>(integerParameter(settings, "bucket"))),
      normType_(settings.values == "f64" ? ValueType::F64 : ValueType::F32),
      code_(levelCodeOf(settings.levelCode)), uniforms_(kTileElements), decoded_(kTileElements) {
    GRADLAB_CHECK(levelCount_ >= 1 && levelCount_ <= kMostLevels, levelCount_);
    histogram_.resize(2 * levelCount_ + 1);
    tables_ = histogram_.size() <= kSmallTable ? kTables : 1;
}

template <class T>
template <class Visit>
void QsgdCompressor<T>::eachBucket(std::size_t tile, std::size_t count, const Visit& visit) const {
    const std::size_t first = tile * kTileElements;
    for (std::size_t done = 0; done < count;) {
        const std::size_t bucket = (first + done) / bucketSize_;
        const std::size_t end = std::min(count, (bucket + 1) * bucketSize_ - first);
        visit(bucket, done, end - done);
        done = end;
    }
}

template <class T>
T QsgdCompressor<T>::travellingNorm(const TileSource<T>& source, double norm) const {
    constexpr double kMost = std::numeric_limits<float>::max();
    const bool narrow = normType_ == ValueType::F32 || sizeof(T) == 4;
    if (!std::isfinite(norm) || (narrow && euclidean_ && norm > kMost))
        source.failNumeric("the norm of a bucket is not finite; lower the learning rate or clip");
    return narrow ? static_cast<T>(static_cast<float>(std::min(norm, kMost)))
                  : static_cast<T>(norm);
}

template <class T>
void QsgdCompressor<T>::measure(TileSource<T>& source) {
    size_ = source.size();
    bucketSize_ = bucket_ == 0 ? std::max<std::size_t>(size_, 1) : bucket_;
    sums_.assign((size_ + bucketSize_ - 1) / bucketSize_, 0.0);
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::span<const T> tile = source.tile(t);
        eachBucket(t, tile.size(), [&](std::size_t bucket, std::size_t first, std::size_t count) {
            const std::span<const T> part = tile.subspan(first, count);
            const auto largest = static_cast<double>(magnitudeOf<T>(largestKey(part)));
            sums_[bucket] =
                euclidean_ ? sums_[bucket] + sumSquares(part) : std::max(sums_[bucket], largest);
        });
    }
    norms_.resize(sums_.size());
    for (std::size_t b = 0; b < sums_.size(); ++b)
        norms_[b] = travellingNorm(source, euclidean_ ? std::sqrt(sums_[b]) : sums_[b]);
}

template <class T>
std::span<const float> QsgdCompressor<T>::uniformsOf(const UnitContext& context, std::size_t tile,
                                                     std::size_t count) {
    const std::size_t first = tile * kTileElements;
    if (!context.uniforms.empty())
        return context.uniforms.subspan(first, count);
    const std::span<float> out = std::span<float>(uniforms_).first(count);
    fillUniform(
        out, context.identity.seed, RandomPurpose::Rounding,
        {static_cast<std::uint32_t>(context.step), context.identity.rank, context.unit->id, 0},
        first);
    return out;
}

template <class T>
void QsgdCompressor<T>::quantise(TileSource<T>& source, const UnitContext& context,
                                 CompressionStats& stats) {
    levels_.resize(size_);
    counts_.assign(tables_ * histogram_.size(), 0U);
    const auto s = static_cast<T>(levelCount_);
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::span<const T> tile = source.tile(t);
        const std::span<const float> uniforms = uniformsOf(context, t, tile.size());
        const std::span<std::int16_t> levels =
            std::span<std::int16_t>(levels_).subspan(t * kTileElements, tile.size());
        const std::span<T> decoded = std::span<T>(decoded_).first(tile.size());
        eachBucket(t, tile.size(), [&](std::size_t bucket, std::size_t first, std::size_t count) {
            const T norm = norms_[bucket];
            const std::span<std::int16_t> part = levels.subspan(first, count);
            if (norm > T{0})
                roundToLevels(tile.subspan(first, count), uniforms.subspan(first, count), norm, s,
                              part);
            else
                std::fill(part.begin(), part.end(), std::int16_t{0});
            dequantise(std::span<const std::int16_t>(part), norm, levelCount_,
                       decoded.subspan(first, count));
        });
        count(levels);
        const std::span<const T> received(decoded);
        stats.nonzero += countNonZero(received);
        stats.squaredKept += sumSquares(received);
        stats.squaredError += sumSquaredDifference(tile, received);
        if (source.remembers())
            source.noteSentTile(t, received);
    }
}

/// Neighbours are often equal: counting them in turn in several tables avoids waiting for the last
/// store.
template <class T>
void QsgdCompressor<T>::count(std::span<const std::int16_t> levels) {
    std::array<std::uint32_t*, kTables> zero{}; // where each table counts level 0
    for (std::size_t t = 0; t < kTables; ++t)
        zero[t] = counts_.data() + (t % tables_) * histogram_.size() + levelCount_;
    std::size_t i = 0;
    for (; i + kTables <= levels.size(); i += kTables)
        for (std::size_t t = 0; t < kTables; ++t)
            ++zero[t][levels[i + t]];
    for (; i < levels.size(); ++i)
        ++zero[0][levels[i]];
}

template <class T>
void QsgdCompressor<T>::sumCounts() {
    for (std::size_t symbol = 0; symbol < histogram_.size(); ++symbol) {
        histogram_[symbol] = 0;
        for (std::size_t table = 0; table < tables_; ++table)
            histogram_[symbol] += counts_[table * histogram_.size() + symbol];
    }
}

/// The quantised values as they are, where levels and norms would need no fewer bytes.
template <class T>
void QsgdCompressor<T>::writeDense(const UnitContext& context, UnitWriter& writer) {
    UnitDescriptor descriptor;
    descriptor.unit = context.unit->id;
    descriptor.values = normType_;
    descriptor.flags = kFlagDenseFallback;
    descriptor.elements = static_cast<std::uint32_t>(size_);
    descriptor.selected = descriptor.elements;
    const std::size_t width = valueBytes(normType_);
    descriptor.payloadBytes = size_ * width;
    const std::span<std::byte> out = writer.next(descriptor);
    for (std::size_t first = 0; first < size_; first += kTileElements) {
        const std::size_t size = std::min(kTileElements, size_ - first);
        eachBucket(first / kTileElements, size,
                   [&](std::size_t bucket, std::size_t begin, std::size_t count) {
                       dequantise(
                           std::span<const std::int16_t>(levels_).subspan(first + begin, count),
                           norms_[bucket], levelCount_,
                           std::span<T>(decoded_).subspan(begin, count));
                   });
        writeValues(std::span<const T>(decoded_).first(size), normType_,
                    out.subspan(first * width, size * width));
    }
}

template <class T>
void QsgdCompressor<T>::write(const UnitContext& context, UnitWriter& writer,
                              CompressionStats& stats) {
    const LevelCoding coding = levelEncoder_.plan(histogram_, levels_, code_);
    const std::size_t normBytes = norms_.size() * valueBytes(normType_);
    if (normBytes + coding.bytes >= size_ * valueBytes(normType_)) {
        writeDense(context, writer);
        ++stats.denseFallbacks;
        return;
    }
    UnitDescriptor descriptor;
    descriptor.unit = context.unit->id;
    descriptor.codec = Codec::Levels;
    descriptor.values = normType_;
    descriptor.code = static_cast<std::uint8_t>(coding.code);
    descriptor.elements = static_cast<std::uint32_t>(size_);
    descriptor.selected = descriptor.elements;
    descriptor.flags = levelCount_ << 16U;
    descriptor.parameter = static_cast<std::uint32_t>(bucket_);
    descriptor.payloadBytes = normBytes + coding.bytes;
    const std::span<std::byte> out = writer.next(descriptor);
    writeValues(std::span<const T>(norms_), normType_, out.first(normBytes));
    levelEncoder_.write(coding, levelCount_, levels_, out.subspan(normBytes));
}

template <class T>
void QsgdCompressor<T>::compress(TileSource<T>& source, const UnitContext& context,
                                 UnitWriter& writer, CompressionStats& stats) {
    GRADLAB_CHECK(context.uniforms.empty() || context.uniforms.size() == source.size(),
                  context.uniforms.size(), source.size());
    measure(source);
    quantise(source, context, stats);
    sumCounts();
    write(context, writer, stats);
    const auto n = static_cast<double>(size_);
    const double paperBits = std::bit_width(levelCount_ - 1U) + 1.0; // ceil(log2 s) + 1
    stats.selected += size_;
    stats.squaredNorm += source.squaredNorm();
    stats.paperBytes += n * paperBits / 8.0;
    stats.boundBytes += entropyBits(histogram_) / 8.0;
}

template class QsgdCompressor<float>;
template class QsgdCompressor<double>;

} // namespace gradlab::engine
