// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/bit_stream.h"

#include "engine/core/errors.h"

#include <algorithm>

namespace gradlab::engine {

std::uint64_t BitReader::lastBytes(const std::byte* at, std::ptrdiff_t count) {
    std::uint64_t word = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i)
        word |= std::uint64_t{std::to_integer<std::uint8_t>(at[i])} << (8 * i);
    return word;
}

void BitReader::fail() {
    throw ProtocolError("a bit-coded payload ends early or holds no valid code; drop the message");
}

void BitReader::failEnd() {
    throw ProtocolError("a bit-coded payload is longer than what it codes; drop the message");
}

std::uint64_t FieldReader::wordNearEnd(ByteView bytes, std::uint64_t at, unsigned count) {
    if (8U * std::uint64_t{bytes.size()} - at < count)
        throw ProtocolError("a bit-coded payload ends early; drop the message");
    std::uint64_t word = 0;
    const ByteView rest = bytes.subspan(at / 8U);
    for (std::size_t i = 0; i < std::min<std::size_t>(8U, rest.size()); ++i)
        word |= std::uint64_t{std::to_integer<std::uint8_t>(rest[i])} << (8U * i);
    return word;
}

void FieldReader::requireEnd(ByteView bytes, std::uint64_t at) {
    BitReader rest(bytes.subspan(at / 8U));
    static_cast<void>(rest.read(at % 8U));
    rest.requireEnd();
}

} // namespace gradlab::engine
