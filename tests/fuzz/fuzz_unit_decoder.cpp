// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as one unit: a descriptor whose unit and n are made to fit, then the payload. What is
// accepted is finite, and what is refused changes nothing.
#include "engine/compression/unit_decoder.h"
#include "engine/core/errors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace gradlab::engine;

namespace {

/// Bytes 0 to 23 fill the descriptor's fields; the fuzzer need not find lengths and ids by itself.
UnitDescriptor descriptorFrom(const std::uint8_t* data) {
    UnitDescriptor descriptor;
    descriptor.codec = static_cast<Codec>(1 + data[0] % 4);
    descriptor.values = static_cast<ValueType>(1 + data[1] % 4);
    descriptor.code = data[2] % 6;
    descriptor.version = data[3] % 16 == 0 ? data[3] : 1;
    descriptor.elements = data[4] + 1U;
    std::memcpy(&descriptor.selected, data + 8, 4);
    if (data[5] % 2 == 0)
        descriptor.selected %= descriptor.elements + 1U;
    std::memcpy(&descriptor.flags, data + 12, 4);
    std::memcpy(&descriptor.parameter, data + 16, 4);
    return descriptor;
}

template <class T>
void decode(const UnitView& view) {
    static UnitDecoder<T> decoder;
    const CompressionUnit unit{0, "t", 0, view.descriptor.elements};
    std::vector<T> range(unit.size, T{0});
    bool accepted = true;
    try {
        decoder.addDecoded(view, unit, range);
    } catch (const ProtocolError&) {
        accepted = false;
    }
    for (const T value : range)
        if (!std::isfinite(value) || (!accepted && value != T{0}))
            std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kHead = 24;
    if (size < kHead)
        return 0;
    UnitView view;
    view.descriptor = descriptorFrom(data);
    view.payload = std::as_bytes(std::span(data + kHead, size - kHead));
    view.descriptor.payloadBytes = view.payload.size();
    decode<float>(view);
    decode<double>(view);
    return 0;
}
