// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/qsgd_compressor.h"

#include "engine/compression/compression_parameters.h"
#include "engine/compression/qsgd_parameters.h"
#include "engine/compression/unit_encoder.h"
#include "engine/compression/value_code.h"
#include "engine/core/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gradlab::engine {

namespace {

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
      code_(levelCodeOf(settings.levelCode)), histogram_(levelCount_), uniforms_(kTileElements),
      decoded_(kTileElements) {
    GRADLAB_CHECK(levelCount_ >= 1 && levelCount_ <= kMostLevels, levelCount_);
}

template <class T>
template <class Visit>
void QsgdCompressor<T>::eachBucket(std::size_t first, std::size_t count, const Visit& visit) const {
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
    SquareSum squares;
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::span<const T> tile = source.newTile(t);
        const std::size_t tileBegin = t * kTileElements;
        const auto visit = [&](std::size_t bucket, std::size_t begin, std::size_t count) {
            const std::span<const T> part = tile.subspan(begin, count);
            const MagnitudeKey<T> largest = largestKey(part);
            if (!isFiniteKey<T>(largest))
                source.failNotFinite();
            if (!euclidean_) {
                sums_[bucket] =
                    std::max(sums_[bucket], static_cast<double>(magnitudeOf<T>(largest)));
                return;
            }
            const std::size_t end = tileBegin + begin + count;
            squares.add(part);
            if (end % kNormElements == 0 || end % bucketSize_ == 0 || end == size_)
                sums_[bucket] += squares.take();
        };
        eachBucket(tileBegin, tile.size(), visit);
    }
    norms_.resize(sums_.size());
    for (std::size_t b = 0; b < sums_.size(); ++b)
        norms_[b] = travellingNorm(source, euclidean_ ? std::sqrt(sums_[b]) : sums_[b]);
}

template <class T>
std::span<const float> QsgdCompressor<T>::uniformsOf(const UnitContext& context, std::size_t first,
                                                     std::size_t count) {
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
void QsgdCompressor<T>::quantiseTile(std::span<const T> tile, std::size_t first,
                                     const UnitContext& context, std::span<std::int16_t> levels,
                                     std::span<T> decoded) {
    const std::span<const float> uniforms = uniformsOf(context, first, tile.size());
    const auto s = static_cast<T>(levelCount_);
    eachBucket(first, tile.size(), [&](std::size_t bucket, std::size_t begin, std::size_t count) {
        const T norm = norms_[bucket];
        const std::span<std::int16_t> part = levels.subspan(begin, count);
        if (norm > T{0})
            roundToLevels(tile.subspan(begin, count), uniforms.subspan(begin, count), norm, s,
                          part);
        else
            std::fill(part.begin(), part.end(), std::int16_t{0});
        dequantise(std::span<const std::int16_t>(part), norm, levelCount_,
                   decoded.subspan(begin, count));
    });
    histogram_.add(levels);
}

template <class T>
void QsgdCompressor<T>::quantise(TileSource<T>& source, const UnitContext& context,
                                 CompressionStats& stats, std::span<std::byte> fixed) {
    static_assert(kTileElements % 8 == 0); // the levels of a tile fill whole bytes
    const std::size_t kept = fixed.empty() ? size_ : kTileElements;
    if (levels_.size() < kept)
        levels_.resize(kept);
    histogram_.clear();
    PairSums total;
    for (std::size_t t = 0; t < source.tileCount(); ++t) {
        const std::size_t first = t * kTileElements;
        const std::span<const T> tile = source.tile(t);
        const std::span<std::int16_t> levels =
            std::span<std::int16_t>(levels_).subspan(fixed.empty() ? first : 0, tile.size());
        const std::span<T> decoded = std::span<T>(decoded_).first(tile.size());
        quantiseTile(tile, first, context, levels, decoded);
        if (!fixed.empty())
            writeFixedLevels(levelCount_, levels,
                             fixed.subspan(fixedLevelBytes(levelCount_, first),
                                           fixedLevelBytes(levelCount_, tile.size())));
        const std::span<const T> received(decoded);
        const PairSums sums = pairSums(tile, received);
        stats.nonzero += countNonZero(received);
        total.squaresX += sums.squaresX;
        total.squaresY += sums.squaresY;
        total.squaredDifference += sums.squaredDifference;
        if (source.remembers())
            source.noteSentTile(t, received);
    }
    stats.squaredNorm += total.squaresX;
    stats.squaredKept += total.squaresY;
    stats.squaredError += total.squaredDifference;
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
        eachBucket(first, size, [&](std::size_t bucket, std::size_t begin, std::size_t count) {
            dequantise(std::span<const std::int16_t>(levels_).subspan(first + begin, count),
                       norms_[bucket], levelCount_, std::span<T>(decoded_).subspan(begin, count));
        });
        writeValues(std::span<const T>(decoded_).first(size), normType_,
                    out.subspan(first * width, size * width));
    }
}

template <class T>
bool QsgdCompressor<T>::worthCoding(std::size_t levelBytes) const {
    return norms_.size() * valueBytes(normType_) + levelBytes < size_ * valueBytes(normType_);
}

template <class T>
std::span<std::byte> QsgdCompressor<T>::begin(const UnitContext& context, const LevelCoding& coding,
                                              UnitWriter& writer) {
    const std::size_t normBytes = norms_.size() * valueBytes(normType_);
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
    return out.subspan(normBytes);
}

template <class T>
void QsgdCompressor<T>::compress(TileSource<T>& source, const UnitContext& context,
                                 UnitWriter& writer, CompressionStats& stats) {
    GRADLAB_CHECK(context.uniforms.empty() || context.uniforms.size() == source.size(),
                  context.uniforms.size(), source.size());
    measure(source);
    const LevelCoding fixed{LevelCode::Fixed, fixedLevelBytes(levelCount_, size_)};
    if (code_ == LevelCode::Fixed && worthCoding(fixed.bytes)) {
        // Known before the levels are: these need not be kept.
        quantise(source, context, stats, begin(context, fixed, writer));
    } else {
        quantise(source, context, stats, {});
        const auto levels = std::span<const std::int16_t>(levels_).first(size_);
        const LevelCoding coding = levelEncoder_.plan(histogram_.counts(), levels, code_);
        if (worthCoding(coding.bytes)) {
            levelEncoder_.write(coding, levelCount_, levels, begin(context, coding, writer));
        } else {
            writeDense(context, writer);
            ++stats.denseFallbacks;
        }
    }
    const auto n = static_cast<double>(size_);
    const double paperBits = std::bit_width(levelCount_ - 1U) + 1.0; // ceil(log2 s) + 1
    stats.selected += size_;
    stats.paperBytes += n * paperBits / 8.0;
    stats.boundBytes += entropyBits(histogram_.counts()) / 8.0;
}

template class QsgdCompressor<float>;
template class QsgdCompressor<double>;

} // namespace gradlab::engine
