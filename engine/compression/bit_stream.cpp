// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/bit_stream.h"

#include "engine/core/errors.h"

namespace gradlab::engine {

void BitReader::refill(unsigned count) {
    if (end_ - at_ >= 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at_, sizeof(word));
        const unsigned bytes = (63U - held_) / 8U; // as many as fit beside the held bits
        pending_ |= (word & ((std::uint64_t{1} << (8U * bytes)) - 1U)) << held_;
        at_ += bytes;
        held_ += 8U * bytes;
    }
    while (held_ <= 56U && at_ != end_) {
        pending_ |= std::uint64_t{std::to_integer<std::uint8_t>(*at_)} << held_;
        ++at_;
        held_ += 8U;
    }
    if (held_ < count)
        fail();
}

void BitReader::requireEnd() const {
    if (at_ != end_ || held_ >= 8U || pending_ != 0)
        throw ProtocolError("a bit-coded payload is longer than what it codes; drop the message");
}

void BitReader::fail() {
    throw ProtocolError("a bit-coded payload ends early or holds no valid code; drop the message");
}

} // namespace gradlab::engine
