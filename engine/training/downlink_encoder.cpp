// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/downlink_encoder.h"

#include "engine/compression/tile_kernels.h"
#include "engine/compression/unit_encoder.h"
#include "engine/core/errors.h"

namespace gradlab::engine {
namespace {

/// Lane of the server's random numbers: no worker's rank, and not the lane of shared patterns.
constexpr std::uint32_t kServerLane = 0xFFFFFFFEU;

CompressionSettings withoutState(CompressionSettings compression) {
    compression.memory = "none";
    compression.parameters["warmup_epochs"] = std::int64_t{0};
    compression.parameters["local_clip"] = 0.0;
    return compression;
}

} // namespace

template <class T>
DownlinkEncoder<T>::DownlinkEncoder(const MessagePlan& plan, const AggregatorSettings& settings)
    : plan_(plan), mode_(modeOf(settings.downlink)) {
    if (mode_ == Mode::Recompress)
        compressor_ = std::make_unique<GradientCompressor<T>>(
            plan, withoutState(settings.compression),
            CompressorIdentity{settings.seed, kServerLane, 1});
}

template <class T>
DownlinkEncoder<T>::~DownlinkEncoder() = default;

template <class T>
typename DownlinkEncoder<T>::Mode DownlinkEncoder<T>::modeOf(const std::string& name) {
    if (name == "auto")
        return Mode::Auto;
    if (name == "dense")
        return Mode::Dense;
    if (name == "recompress")
        return Mode::Recompress;
    throw ExperimentError("compression.downlink",
                          "unknown downlink '" + name + "'; use auto, dense or recompress");
}

template <class T>
void DownlinkEncoder<T>::encode(std::size_t part, std::size_t count, std::uint64_t step,
                                PartSum<T>& sum, std::size_t headerRoom, ByteBuffer& out) {
    try {
        if (mode_ == Mode::Recompress)
            recompress(part, count, step, sum, headerRoom, out);
        else
            encodeExact(part, count, step, sum, headerRoom, out);
    } catch (...) {
        sum.clear(part);
        throw;
    }
}

template <class T>
void DownlinkEncoder<T>::encodeExact(std::size_t part, std::size_t count, std::uint64_t step,
                                     PartSum<T>& sum, std::size_t headerRoom, ByteBuffer& out) {
    constexpr ValueType kExact = sizeof(T) == 4 ? ValueType::F32 : ValueType::F64;
    const std::vector<std::uint32_t>& ids = plan_.parts()[part];
    UnitWriter writer(out, headerRoom, ids.size());
    for (const std::uint32_t id : ids) {
        const CompressionUnit& unit = plan_.units()[id];
        if (mode_ == Mode::Auto && sum.isSparse(id)) {
            sum.takeSparse(id, count, indices_, values_);
            requireFinite(id, step, values_);
            encodeSparseUnit<T>(unit, indices_, values_, kExact, std::nullopt, writer);
        } else {
            const std::span<const T> means = sum.divide(id, count);
            requireFinite(id, step, means);
            encodeDenseUnit<T>(unit, means, kExact, writer);
            sum.clearUnit(id);
        }
    }
}

template <class T>
void DownlinkEncoder<T>::recompress(std::size_t part, std::size_t count, std::uint64_t step,
                                    PartSum<T>& sum, std::size_t headerRoom, ByteBuffer& out) {
    for (const std::uint32_t id : plan_.parts()[part])
        requireFinite(id, step, sum.divide(id, count));
    StepPosition position;
    position.step = step;
    compressor_->encodePart(part, sum.values(), {}, position, headerRoom, out);
    // Without memory there is nothing to keep from one part to the next.
    compressor_->discard();
    sum.clear(part);
}

template <class T>
void DownlinkEncoder<T>::requireFinite(std::uint32_t unit, std::uint64_t step,
                                       std::span<const T> means) const {
    if (!allFinite(means))
        throw NumericError(step, plan_.units()[unit].name,
                           "the mean gradient of the workers is not finite");
}

template class DownlinkEncoder<float>;
template class DownlinkEncoder<double>;

} // namespace gradlab::engine
