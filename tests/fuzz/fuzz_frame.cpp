// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target of the frame decoder. Every input is tried as it is, and once more under a
// header with a right length and checksum; a frame that passes must be the same when it is written
// again.
#include "engine/core/errors.h"
#include "engine/training/gradient_exchange.h"
#include "transport/wire_format.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace gradlab;

namespace {

void decode(engine::ByteView bytes) {
    try {
        const transport::Frame frame = transport::decodeFrame(bytes);
        engine::ByteBuffer again(bytes.begin(), bytes.end());
        transport::encodeFrame(frame.header, again);
        if (std::memcmp(again.data(), bytes.data(), bytes.size()) != 0)
            std::abort();
    } catch (const engine::ProtocolError&) {
        return; // the only error that bytes may cause
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const engine::ByteView bytes = std::as_bytes(std::span(data, size));
    decode(bytes);
    if (size < engine::kFrameHeaderBytes)
        return 0;
    engine::ByteBuffer repaired(bytes.begin(), bytes.end());
    transport::FrameHeader header;
    std::memcpy(&header.session, data + 8, sizeof(header.session));
    std::memcpy(&header.rank, data + 32, sizeof(header.rank));
    std::memcpy(&header.chunk, data + 44, sizeof(header.chunk));
    header.parts = static_cast<std::uint16_t>(1 + data[38]);
    header.part = static_cast<std::uint16_t>(data[36] % header.parts);
    transport::encodeFrame(header, repaired);
    decode(repaired);
    return 0;
}
