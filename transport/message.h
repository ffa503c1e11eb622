// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a frame says, as plain values. Leaves out: its bytes (wire_format.h) and what the body means
// (engine/compression/compressed_gradient.h).
#pragma once

#include "engine/core/byte_buffer.h"

#include <cstdint>

namespace gradlab::transport {

/// On the wire: never renumber. Numbers from 64 on are not counted as traffic of a step.
enum class FrameType : std::uint8_t {
    Gradient = 1,     ///< one part of a worker's message; a ring forwards it unchanged
    Mean = 2,         ///< one part of what the server sends down; rank is kServerRank
    PartialChunk = 3, ///< dense ring, reduce-scatter: a chunk summed so far; rank is the sender
    SummedChunk = 4,  ///< dense ring, all-gather: the whole sum; rank is who finished it
    Control = 64,     ///< one control message, a JSON document (zmq/control_message.h)
    DataHello = 65,   ///< first frame of a worker's data socket: `step` is its member number
    Snapshot = 66,    ///< an engine snapshot, either way: `step` is the request's number
    Probe = 67        ///< bytes to be timed, echoed on the control plane
};

inline constexpr std::uint32_t kServerRank = 0xFFFFFFFFU;

struct FrameHeader {
    FrameType type = FrameType::Gradient;
    std::uint64_t session = 0; ///< random for each run: frames of another run are strangers
    std::uint64_t epoch = 0;   ///< membership epoch
    std::uint64_t step = 0;    ///< from 1
    std::uint32_t rank = 0;
    std::uint16_t part = 0; ///< p, from 0
    std::uint16_t parts = 1;
    std::uint32_t tensors = 0; ///< units in the body
    std::uint32_t chunk = 0;   ///< of the dense ring, from 0; 0 elsewhere

    [[nodiscard]] bool operator==(const FrameHeader&) const = default;
};

/// A verified frame; `body` points into the bytes that it was decoded from.
struct Frame {
    FrameHeader header;
    engine::ByteView body;
};

} // namespace gradlab::transport
