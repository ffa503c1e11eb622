// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as the body of a part: the first byte is the unit count. Units that come out lie inside
// the body.
#include "engine/compression/compressed_gradient.h"
#include "engine/core/errors.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace gradlab::engine;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const ByteView body = std::as_bytes(std::span(data + 1, size - 1));
    try {
        std::size_t payloads = 0;
        for (const UnitView& view : splitBody(body, data[0])) {
            payloads += view.payload.size();
            if (view.payload.size() != view.descriptor.payloadBytes)
                std::abort();
        }
        if (payloads + data[0] * kDescriptorBytes != body.size())
            std::abort();
    } catch (const ProtocolError&) {
    }
    return 0;
}
