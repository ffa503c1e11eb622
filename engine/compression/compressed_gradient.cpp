// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/compressed_gradient.h"

#include "engine/compression/unit_writer.h"
#include "engine/compression/value_code.h"
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/reserve.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace gradlab::engine {

static_assert(std::endian::native == std::endian::little, "the wire format is little-endian");

namespace {

template <class Field>
void put(std::byte*& at, Field field) noexcept {
    std::memcpy(at, &field, sizeof(Field));
    at += sizeof(Field);
}

template <class Field>
void take(const std::byte*& at, Field& field) noexcept {
    std::memcpy(&field, at, sizeof(Field));
    at += sizeof(Field);
}

void writeDescriptor(std::byte* at, const UnitDescriptor& descriptor) noexcept {
    put(at, descriptor.unit);
    put(at, descriptor.codec);
    put(at, descriptor.values);
    put(at, descriptor.code);
    put(at, descriptor.version);
    put(at, descriptor.elements);
    put(at, descriptor.selected);
    put(at, descriptor.flags);
    put(at, descriptor.parameter);
    put(at, descriptor.payloadBytes);
}

UnitDescriptor readDescriptor(const std::byte* at) {
    UnitDescriptor descriptor;
    std::uint8_t codec = 0;
    std::uint8_t values = 0;
    take(at, descriptor.unit);
    take(at, codec);
    take(at, values);
    take(at, descriptor.code);
    take(at, descriptor.version);
    take(at, descriptor.elements);
    take(at, descriptor.selected);
    take(at, descriptor.flags);
    take(at, descriptor.parameter);
    take(at, descriptor.payloadBytes);
    if (codec < 1 || codec > 4 || values < 1 || values > 4)
        throw ProtocolError("unit " + std::to_string(descriptor.unit) + " has codec " +
                            std::to_string(codec) + " and value type " + std::to_string(values) +
                            ", which this version does not know; use the same version everywhere");
    descriptor.codec = static_cast<Codec>(codec);
    descriptor.values = static_cast<ValueType>(values);
    return descriptor;
}

/// As many tensors as models have are compared in place; only a hostile message has more.
void requireDistinctUnits(const std::vector<UnitView>& views) {
    constexpr std::size_t kComparedInPlace = 64;
    std::vector<std::uint32_t> ids;
    bool twice = false;
    if (views.size() <= kComparedInPlace) {
        for (std::size_t i = 0; i < views.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                twice |= views[i].descriptor.unit == views[j].descriptor.unit;
    } else {
        ids.reserve(views.size());
        for (const UnitView& view : views)
            ids.push_back(view.descriptor.unit);
        std::sort(ids.begin(), ids.end());
        twice = std::adjacent_find(ids.begin(), ids.end()) != ids.end();
    }
    if (twice)
        throw ProtocolError("a message names one tensor twice; drop it");
}

} // namespace

std::vector<UnitView> splitBody(ByteView body, std::uint32_t unitCount) {
    std::vector<UnitView> views;
    splitBody(body, unitCount, views);
    return views;
}

void splitBody(ByteView body, std::uint32_t unitCount, std::vector<UnitView>& views) {
    const std::uint64_t descriptorBytes = std::uint64_t{unitCount} * kDescriptorBytes;
    if (descriptorBytes > body.size())
        throw ProtocolError("a message of " + std::to_string(body.size()) + " bytes cannot hold " +
                            std::to_string(unitCount) + " descriptors; drop it");
    views.clear();
    views.reserve(unitCount);
    ByteView payloads = body.subspan(descriptorBytes);
    for (std::uint32_t i = 0; i < unitCount; ++i) {
        const UnitDescriptor descriptor = readDescriptor(body.data() + i * kDescriptorBytes);
        if (descriptor.payloadBytes > payloads.size())
            throw ProtocolError("unit " + std::to_string(descriptor.unit) + " claims " +
                                std::to_string(descriptor.payloadBytes) + " bytes, " +
                                std::to_string(payloads.size()) + " are left; drop the message");
        views.push_back({descriptor, payloads.first(descriptor.payloadBytes)});
        payloads = payloads.subspan(descriptor.payloadBytes);
    }
    if (!payloads.empty())
        throw ProtocolError("a message has " + std::to_string(payloads.size()) +
                            " bytes behind its last payload; drop it");
    requireDistinctUnits(views);
}

UnitWriter::UnitWriter(ByteBuffer& out, std::size_t headerRoom, std::size_t unitCount)
    : out_(&out), descriptorAt_(headerRoom),
      descriptorsEnd_(headerRoom + unitCount * kDescriptorBytes), most_(descriptorsEnd_) {
    out.resize(descriptorsEnd_);
}

std::span<std::byte> UnitWriter::next(const UnitDescriptor& descriptor) {
    GRADLAB_CHECK(descriptorAt_ < descriptorsEnd_, descriptorAt_, descriptorsEnd_);
    const std::size_t payloadAt = out_->size();
    const std::size_t end = payloadAt + descriptor.payloadBytes;
    // No unit is longer than its values.
    most_ += std::max<std::size_t>(descriptor.payloadBytes,
                                   descriptor.elements * valueBytes(descriptor.values));
    reserveFor(*out_, most_, most_);
    out_->resize(end);
    writeDescriptor(out_->data() + descriptorAt_, descriptor);
    descriptorAt_ += kDescriptorBytes;
    return {out_->data() + payloadAt, static_cast<std::size_t>(descriptor.payloadBytes)};
}

} // namespace gradlab::engine
