// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// libFuzzer target of control messages. Every input is tried as a frame, and as a body under a
// right header; a message that passes must read the same when it is written again.
#include "engine/core/errors.h"
#include "engine/training/gradient_exchange.h"
#include "transport/wire_format.h"
#include "transport/zmq/control_message.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace gradlab;

namespace {

void decode(engine::ByteView bytes) {
    try {
        const transport::ReceivedControl received = transport::decodeControl(bytes);
        const engine::ByteBuffer once = transport::encodeControl(received.header, received.message);
        const transport::ReceivedControl again = transport::decodeControl(once);
        if (transport::encodeControl(again.header, again.message) != once)
            std::abort();
    } catch (const engine::ProtocolError&) {
        return; // the only error that bytes may cause
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    decode(std::as_bytes(std::span(data, size)));
    if (size + engine::kFrameHeaderBytes > transport::kMostControlBytes)
        return 0;
    engine::ByteBuffer frame(engine::kFrameHeaderBytes + size);
    if (size > 0)
        std::memcpy(frame.data() + engine::kFrameHeaderBytes, data, size);
    transport::FrameHeader header;
    header.type = transport::FrameType::Control;
    transport::encodeFrame(header, frame);
    decode(frame);
    return 0;
}
