// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compression/bit_stream.h"

#include "engine/core/errors.h"

namespace gradlab::engine {

void BitReader::refill(unsigned count) {
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
