// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The 64 bytes before every body, little-endian; README.md has them one by one. Leaves out: the
// body, and whether a well-formed frame is welcome (session, epoch, step: the receiver's business).
#pragma once

#include "transport/message.h"

#include <cstdint>
#include <span>

namespace gradlab::transport {

inline constexpr std::uint32_t kFrameMagic = 0x42414C47U; ///< "GLAB" as bytes
/// Raised with every change of a byte's meaning, random-k's drawing included.
inline constexpr std::uint16_t kWireVersion = 1;

/// Fills the room at the front of `message`; the rest is the body and is not touched. One pass over
/// the body for the hash. The message must be at least engine::kFrameHeaderBytes long.
void encodeFrame(const FrameHeader& header, std::span<std::byte> message);

/// Checks length, magic, version, type, flags, part, payload bytes and hash, in this order, before
/// anything of the body is looked at.
/// @throws engine::ProtocolError saying what and where
[[nodiscard]] Frame decodeFrame(engine::ByteView message);

} // namespace gradlab::transport
