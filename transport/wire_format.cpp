// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/wire_format.h"

#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/training/gradient_exchange.h"

#define XXH_STATIC_LINKING_ONLY // the state's size, so that it may live on the stack
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <string>

namespace gradlab::transport {
namespace {

static_assert(std::endian::native == std::endian::little, "fields are copied as they are");

constexpr std::size_t kMagicAt = 0;
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kTypeAt = 6;
constexpr std::size_t kFlagsAt = 7;
constexpr std::size_t kSessionAt = 8;
constexpr std::size_t kEpochAt = 16;
constexpr std::size_t kStepAt = 24;
constexpr std::size_t kRankAt = 32;
constexpr std::size_t kPartAt = 36;
constexpr std::size_t kPartsAt = 38;
constexpr std::size_t kTensorsAt = 40;
constexpr std::size_t kChunkAt = 44;
constexpr std::size_t kPayloadBytesAt = 48;
constexpr std::size_t kHashAt = 56;
static_assert(kHashAt + sizeof(std::uint64_t) == engine::kFrameHeaderBytes);

template <class T>
void put(std::span<std::byte> message, std::size_t at, T value) {
    std::memcpy(message.data() + at, &value, sizeof(value));
}

template <class T>
[[nodiscard]] T get(engine::ByteView message, std::size_t at) {
    T value;
    std::memcpy(&value, message.data() + at, sizeof(value));
    return value;
}

// XXH3-64 of every byte but the hash itself, so that a header cannot be paired with another body.
std::uint64_t hashOf(engine::ByteView message) {
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, message.data(), kHashAt);
    XXH3_64bits_update(&state, message.data() + engine::kFrameHeaderBytes,
                       message.size() - engine::kFrameHeaderBytes);
    return XXH3_64bits_digest(&state);
}

[[noreturn]] void refuse(const std::string& what, std::size_t at) {
    throw engine::ProtocolError("frame refused: " + what + ": header byte " + std::to_string(at));
}

bool isKnown(std::uint8_t type) {
    const auto within = [type](FrameType first, FrameType last) {
        return type >= static_cast<std::uint8_t>(first) && type <= static_cast<std::uint8_t>(last);
    };
    return within(FrameType::Gradient, FrameType::SummedChunk) ||
           within(FrameType::Control, FrameType::Probe);
}

void checkKind(engine::ByteView message) {
    if (get<std::uint32_t>(message, kMagicAt) != kFrameMagic)
        refuse("not a Gradient Lab frame (wrong magic number)", kMagicAt);
    const auto version = get<std::uint16_t>(message, kVersionAt);
    if (version != kWireVersion)
        refuse("the peer speaks wire format " + std::to_string(version) + ", this program speaks " +
                   std::to_string(kWireVersion) + "; run the same version of gradlab everywhere",
               kVersionAt);
    const auto type = get<std::uint8_t>(message, kTypeAt);
    if (!isKnown(type))
        refuse("unknown frame type " + std::to_string(type), kTypeAt);
    if (get<std::uint8_t>(message, kFlagsAt) != 0)
        refuse("flags that this version does not know", kFlagsAt);
}

void checkSizes(engine::ByteView message, const FrameHeader& header) {
    if (header.part >= header.parts)
        refuse("part " + std::to_string(header.part) + " of " + std::to_string(header.parts),
               kPartAt);
    const auto announced = get<std::uint64_t>(message, kPayloadBytesAt);
    const std::uint64_t received = message.size() - engine::kFrameHeaderBytes;
    if (announced != received)
        refuse("it announces " + std::to_string(announced) + " payload bytes and has " +
                   std::to_string(received),
               kPayloadBytesAt);
}

} // namespace

void encodeFrame(const FrameHeader& header, std::span<std::byte> message) {
    GRADLAB_CHECK(message.size() >= engine::kFrameHeaderBytes, message.size());
    GRADLAB_CHECK(header.part < header.parts, header.part, header.parts);
    put(message, kMagicAt, kFrameMagic);
    put(message, kVersionAt, kWireVersion);
    put(message, kTypeAt, static_cast<std::uint8_t>(header.type));
    put(message, kFlagsAt, std::uint8_t{0});
    put(message, kSessionAt, header.session);
    put(message, kEpochAt, header.epoch);
    put(message, kStepAt, header.step);
    put(message, kRankAt, header.rank);
    put(message, kPartAt, header.part);
    put(message, kPartsAt, header.parts);
    put(message, kTensorsAt, header.tensors);
    put(message, kChunkAt, header.chunk);
    put(message, kPayloadBytesAt,
        static_cast<std::uint64_t>(message.size() - engine::kFrameHeaderBytes));
    put(message, kHashAt, hashOf(message));
}

Frame decodeFrame(engine::ByteView message) {
    if (message.size() < engine::kFrameHeaderBytes)
        throw engine::ProtocolError("frame refused: " + std::to_string(message.size()) +
                                    " bytes are fewer than a header: header byte 0");
    checkKind(message);
    FrameHeader header;
    header.type = static_cast<FrameType>(get<std::uint8_t>(message, kTypeAt));
    header.session = get<std::uint64_t>(message, kSessionAt);
    header.epoch = get<std::uint64_t>(message, kEpochAt);
    header.step = get<std::uint64_t>(message, kStepAt);
    header.rank = get<std::uint32_t>(message, kRankAt);
    header.part = get<std::uint16_t>(message, kPartAt);
    header.parts = get<std::uint16_t>(message, kPartsAt);
    header.tensors = get<std::uint32_t>(message, kTensorsAt);
    header.chunk = get<std::uint32_t>(message, kChunkAt);
    checkSizes(message, header);
    if (get<std::uint64_t>(message, kHashAt) != hashOf(message))
        refuse("its checksum does not match, bytes were changed on the way", kHashAt);
    return {header, message.subspan(engine::kFrameHeaderBytes)};
}

} // namespace gradlab::transport
