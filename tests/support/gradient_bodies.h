// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans, message bodies with known contents and the obvious mean of them, for tests of the
// aggregator and of exchanges.
#pragma once

#include "engine/compression/message_plan.h"
#include "engine/compression/unit_decoder.h"
#include "engine/compression/unit_encoder.h"
#include "engine/core/random.h"
#include "engine/training/dense_chunks.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace gradlab::test {

/// Vectors of the given sizes, named t0, t1, …
inline engine::MessagePlan planOf(const std::vector<std::size_t>& sizes) {
    std::vector<engine::TensorInfo> tensors;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        tensors.push_back({std::to_string(i), {sizes[i]}, 0, 0});
        tensors.back().name.insert(0, 1, 't');
    }
    return {engine::ParameterLayout(std::move(tensors)), engine::CompressionScope::Tensor};
}

/// Three parts, units of awkward sizes among them.
inline engine::MessagePlan threeParts() {
    return planOf({1, 70001, 3, 64, 65, 66000, 127, 2, 65600, 1000});
}

/// What one worker says about one unit.
template <class T>
struct UnitContent {
    bool sparse = true;
    std::vector<std::uint32_t> indices; ///< of a sparse one
    std::vector<T> values;
};

/// One content a unit of the plan.
template <class T>
using WorkerContent = std::vector<UnitContent<T>>;

enum class Kinds { Sparse, Dense, Mixed };

/// Of several magnitudes and with full mantissas, so that sums round and their order shows. A
/// congruential step (Knuth's MMIX) instead of a Philox block: dense contents are large.
template <class T>
T nextValue(std::uint64_t& state) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const auto word = static_cast<std::uint32_t>(state >> 32U);
    const T mantissa = static_cast<T>(static_cast<std::int32_t>(word)) * T{0x1p-31};
    return mantissa / static_cast<T>(1U + (state >> 28U & 15U));
}

template <class T>
UnitContent<T> randomUnit(std::size_t size, bool sparse, engine::RandomStream& random) {
    UnitContent<T> content;
    content.sparse = sparse;
    std::uint64_t state = random.word();
    for (std::size_t i = sparse ? random.below(99) : 0; i < size;
         i += sparse ? 1 + random.below(99) : 1) {
        if (sparse)
            content.indices.push_back(static_cast<std::uint32_t>(i));
        content.values.push_back(nextValue<T>(state));
    }
    return content;
}

template <class T>
WorkerContent<T> randomContent(const engine::MessagePlan& plan, Kinds kinds, unsigned seed,
                               std::uint32_t step, std::uint32_t rank) {
    WorkerContent<T> content;
    for (const engine::CompressionUnit& unit : plan.units()) {
        engine::RandomStream random(seed, engine::RandomPurpose::Test, step, rank, unit.id);
        const bool sparse =
            kinds == Kinds::Sparse || (kinds == Kinds::Mixed && random.below(2) == 0);
        content.push_back(randomUnit<T>(unit.size, sparse, random));
    }
    return content;
}

/// The body of one part behind `headerRoom` bytes; `order` permutes the part's units.
template <class T>
engine::ByteBuffer encodeContent(const engine::MessagePlan& plan, std::size_t part,
                                 const WorkerContent<T>& content, std::size_t headerRoom = 0,
                                 std::vector<std::uint32_t> order = {}) {
    constexpr auto kType = sizeof(T) == 4 ? engine::ValueType::F32 : engine::ValueType::F64;
    if (order.empty())
        order = plan.parts()[part];
    engine::ByteBuffer out;
    engine::UnitWriter writer(out, headerRoom, order.size());
    for (const std::uint32_t id : order) {
        const UnitContent<T>& unit = content[id];
        if (unit.sparse)
            engine::encodeSparseUnit<T>(plan.units()[id], unit.indices, unit.values, kType, {},
                                        writer);
        else
            engine::encodeDenseUnit<T>(plan.units()[id], unit.values, kType, writer);
    }
    return out;
}

/// The whole vector that a worker's content stands for.
template <class T>
std::vector<T> expand(const engine::MessagePlan& plan, const WorkerContent<T>& content) {
    std::vector<T> dense(plan.size(), T{0});
    for (const engine::CompressionUnit& unit : plan.units()) {
        const UnitContent<T>& c = content[unit.id];
        for (std::size_t i = 0; i < c.values.size(); ++i)
            dense[unit.offset + (c.sparse ? c.indices[i] : i)] = c.values[i];
    }
    return dense;
}

/// Sum from +0 in rank order, one division; −0 counts as +0.
template <class T>
std::vector<T> meanOf(const std::vector<std::vector<T>>& workers) {
    std::vector<T> mean(workers.front().size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
        T sum{0};
        for (const std::vector<T>& worker : workers)
            sum += worker[i];
        mean[i] = sum / static_cast<T>(workers.size()) + T{0};
    }
    return mean;
}

/// As meanOf, but chunk c of each unit is summed over workers c, c+1, …, c−1.
template <class T>
std::vector<T> ringMeanOf(const engine::MessagePlan& plan,
                          const std::vector<std::vector<T>>& workers) {
    const std::size_t n = workers.size();
    std::vector<T> mean(plan.size());
    for (const engine::CompressionUnit& unit : plan.units())
        for (std::size_t i = 0; i < unit.size; ++i) {
            const std::size_t chunk = i / ((unit.size + n - 1) / n);
            T sum = workers[chunk][unit.offset + i];
            for (std::size_t hop = 1; hop < n; ++hop)
                sum += workers[(chunk + hop) % n][unit.offset + i];
            mean[unit.offset + i] = sum / static_cast<T>(n) + T{0};
        }
    return mean;
}

template <class T>
bool sameBits(std::span<const std::byte> bytes, const std::vector<T>& expected) {
    return bytes.size() == expected.size() * sizeof(T) &&
           std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0;
}

} // namespace gradlab::test
