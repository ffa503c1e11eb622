// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The Aggregator's two roles over one scalar type. Buffers appear when a role first needs them: a
// server holds sums, a replica means. bf16 training adds in f32.
#include "engine/training/aggregator.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/training/dense_chunks.h"
#include "engine/training/downlink_encoder.h"
#include "engine/training/mean_gradient.h"
#include "engine/training/part_sum.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace gradlab::engine {
namespace {

template <class T>
class TypedAggregator final : public Aggregator {
public:
    TypedAggregator(const MessagePlan& plan, const AggregatorSettings& settings)
        : plan_(plan), encoder_(plan, settings), chunks_(plan) {}

    void aggregate(std::size_t part, std::span<const ByteView> bodies, std::uint64_t step,
                   std::size_t headerRoom, ByteBuffer& out) override {
        addBodies(part, bodies);
        encoder_.encode(part, bodies.size(), step, *sum_, headerRoom, out);
    }

    void applyDownlink(std::size_t part, ByteView body) override {
        bodies_.match(plan_, part, std::span(&body, 1));
        const std::vector<std::uint32_t>& ids = plan_.parts()[part];
        for (std::size_t place = 0; place < ids.size(); ++place) {
            const UnitView& view = bodies_.view(0, place);
            const CompressionUnit& unit = plan_.units()[ids[place]];
            if (isSparse(view.descriptor)) {
                decoder_.decodeSparse(view, unit, indices_, values_);
                replicaMean().setSparse(unit.id, indices_, values_);
            } else {
                decoder_.decode(view, unit, replicaMean().dense(unit.id));
            }
        }
    }

    void applyGathered(std::size_t part, std::span<const ByteView> bodies) override {
        addBodies(part, bodies);
        for (const std::uint32_t id : plan_.parts()[part])
            takeMean(id, bodies.size());
    }

    void takeChunk(std::size_t part, std::size_t chunk, std::size_t chunks, ByteView ownBody,
                   std::size_t headerRoom, ByteBuffer& out) override {
        const ChunkPlace place{part, chunk, chunks};
        out.resize(headerRoom + chunkElements(plan_, place) * sizeof(T));
        chunks_.copyOwn(place, ownBody, std::span(out).subspan(headerRoom));
    }

    void addChunk(std::size_t part, std::size_t chunk, std::size_t chunks, ByteView ownBody,
                  std::span<std::byte> partial) override {
        chunks_.addOwn({part, chunk, chunks}, ownBody, partial);
    }

    void applyChunk(std::size_t part, std::size_t chunk, std::size_t chunks, ByteView sum,
                    std::size_t contributors) override {
        GRADLAB_CHECK(contributors > 0);
        const std::size_t bytes = chunkElements(plan_, {part, chunk, chunks}) * sizeof(T);
        if (sum.size() != bytes)
            throw ProtocolError("chunk refused: " + std::to_string(sum.size()) +
                                " bytes instead of " + std::to_string(bytes) + ": chunk " +
                                std::to_string(chunk) + " of part " + std::to_string(part));
        for (const std::uint32_t id : plan_.parts()[part]) {
            const ChunkRange range = chunkRange(plan_.units()[id].size, chunk, chunks);
            if (range.size == 0)
                continue;
            const std::span<T> out = replicaMean().dense(id).subspan(range.begin, range.size);
            std::memcpy(out.data(), sum.data(), out.size_bytes());
            divideInto<T>(out, out, contributors);
            sum = sum.subspan(out.size_bytes());
        }
    }

    [[nodiscard]] std::span<const std::byte> mean() const noexcept override {
        return mean_ ? std::as_bytes(mean_->values()) : std::span<const std::byte>();
    }

private:
    void addBodies(std::size_t part, std::span<const ByteView> bodies) {
        GRADLAB_CHECK(!bodies.empty(), part);
        bodies_.match(plan_, part, bodies);
        if (!sum_)
            sum_.emplace(plan_);
        sum_->add(part, bodies_);
    }

    /// The mean of one unit out of the sums, which are clear afterwards.
    void takeMean(std::uint32_t id, std::size_t count) {
        if (sum_->isSparse(id)) {
            sum_->takeSparse(id, count, indices_, values_);
            return replicaMean().setSparse(id, indices_, values_);
        }
        const std::span<const T> divided = sum_->divide(id, count);
        std::copy(divided.begin(), divided.end(), replicaMean().dense(id).begin());
        sum_->clearUnit(id);
    }

    [[nodiscard]] MeanGradient<T>& replicaMean() {
        if (!mean_)
            mean_.emplace(plan_);
        return *mean_;
    }

    MessagePlan plan_;
    DownlinkEncoder<T> encoder_;
    DenseChunks<T> chunks_;
    PartBodies bodies_;
    std::optional<PartSum<T>> sum_;       ///< of a server, or a replica in a ring
    std::optional<MeanGradient<T>> mean_; ///< of a replica
    UnitDecoder<T> decoder_;
    std::vector<std::uint32_t> indices_;
    std::vector<T> values_;
};

} // namespace

Aggregator::~Aggregator() = default;

std::unique_ptr<Aggregator> Aggregator::create(const MessagePlan& plan,
                                               const AggregatorSettings& settings) {
    if (settings.precision == Precision::F64)
        return std::make_unique<TypedAggregator<double>>(plan, settings);
    return std::make_unique<TypedAggregator<float>>(plan, settings);
}

} // namespace gradlab::engine
