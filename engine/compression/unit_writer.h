// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the body of a part: descriptors first, payloads behind them, units in the order of calls.
#pragma once

#include "engine/compression/compressed_gradient.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradlab::engine {

class UnitWriter {
public:
    /// Resizes `out` to headerRoom and room for `unitCount` descriptors; bytes before headerRoom
    /// are the caller's.
    UnitWriter(ByteBuffer& out, std::size_t headerRoom, std::size_t unitCount);
    /// Writes the next unit's descriptor and returns where its payloadBytes bytes go: valid until
    /// the next call, and every byte must be written.
    std::span<std::byte> next(const UnitDescriptor& descriptor);

private:
    ByteBuffer* out_;
    std::size_t descriptorAt_;
    std::size_t descriptorsEnd_;
    std::size_t most_; ///< that the bytes so far could have been
};

} // namespace gradlab::engine
