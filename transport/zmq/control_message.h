// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What coordinator and workers say to each other besides gradients: one struct a kind of message,
// and their JSON. A control frame is a FrameHeader of type Control (session, epoch, step and rank
// are the header's) and one JSON object {"kind": …}. Leaves out: when which is said
// (transport/README.md), sockets.
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/core/byte_buffer.h"
#include "engine/training/gradient_exchange.h"
#include "transport/message.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace gradlab::transport {

/// Whole control frames, header included; more is refused before it is read.
inline constexpr std::size_t kMostControlBytes = std::size_t{64} * 1024;

// — worker to coordinator —

/// The first message, and again whenever a worker wants to join anew. Session and epoch are 0.
struct Hello {
    std::string version; ///< engine::version(); must be the coordinator's
    std::string isa;     ///< engine::isaLevel(); must be the coordinator's
    std::string cpu;
    std::string host;
    std::string bootId; ///< equal boot ids: one clock for both
    std::string name;   ///< unique in a run; a second one under the same name replaces the first
    std::int64_t pid = 0;
    std::int64_t cores = 0;
};
/// The snapshot is loaded: it can take part from the next boundary on.
struct Ready {
    std::string ringEndpoint; ///< where it listens for its neighbour; empty without a ring
    std::string ringKey;      ///< CURVE public key of that socket (Z85); empty without keys
};
/// Every 250 ms from the network thread, whatever the rest of the process does.
struct Heartbeat {
    std::int64_t sentNs = 0; ///< sender's steady clock
    std::string phase;       ///< idle, computing, exchanging, voting, updating, loading
    std::uint64_t progress = 0;
    double roundTripS = 0.0; ///< as the worker measures it
};
/// The mean of the header's step is complete here and finite: the process can commit.
struct Holds {};
/// The step of the header is committed and the replica updated.
struct Done {
    std::string account;         ///< ClusterNode::report()
    engine::RankTraffic traffic; ///< times on the coordinator's clock
};
/// The worker cannot go on with the step: its numbers, or its program.
struct Failed {
    std::string kind; ///< numeric, protocol, other
    std::string tensor;
    std::string message;
};
/// A Load was carried out.
struct Loaded {
    std::uint64_t request = 0;
};
/// Of a ring: the connection to the next neighbour broke while the header's step was exchanged, and
/// what was under way is gone; or there has been none for two seconds.
struct Cut {
    bool unreachable = false;
};
/// It goes, cleanly.
struct Bye {
    std::string reason;
};
/// The last byte of a probe has arrived.
struct ProbeResult {
    std::uint64_t request = 0;
    double downS = 0.0; ///< from the first probe frame's arrival to the last one's
    std::uint64_t bytes = 0;
};

// — coordinator to worker —

/// No slot is free: stay, and keep sending heartbeats.
struct Wait {};
/// You are a member and have the header's rank; the snapshot follows on the data socket.
struct Welcome {
    std::uint64_t member = 0;
    std::uint32_t workers = 1;       ///< N
    std::uint16_t dataPort = 0;      ///< on the host that the worker connected to
    std::uint64_t mostDataBytes = 0; ///< of any data frame of this run
    std::uint32_t threads = 1;       ///< cores to use
    std::string bootId;
};
/// Who contributes to a step and where one's message goes; the first contributor's position is 0.
struct StepOrder {
    std::vector<std::uint32_t> contributors; ///< ranks, ascending: also the order of the ring
    std::string nextEndpoint; ///< ring: the neighbour that this worker sends to; else empty
    std::string nextKey;
};
/// Compute and exchange the header's step under the header's epoch.
struct Begin {
    StepOrder order;
    bool wantHash = false;
};
/// Exchange the kept messages of the header's step again under the header's (new) epoch.
struct Abort {
    StepOrder order;
};
/// The header's step is final.
struct Commit {};
/// The header's step is given up: forget it, nothing of it was committed.
struct Abandon {};
/// New parameters from the next step on.
struct Configure {
    std::string experiment; ///< its JSON document
    engine::MemoryChange memory = engine::MemoryChange::Keep;
};
/// Send a snapshot frame with this request number.
struct Fetch {
    std::uint64_t request = 0;
    bool replica = false;    ///< parameters and optimizer; else memory and hidden state
    bool inspection = false; ///< neither: what the last step's inspection found
};
/// A snapshot frame with this request number follows on the data socket: load it.
struct Load {
    std::uint64_t request = 0;
};
struct HeartbeatAnswer {
    std::int64_t echoNs = 0;        ///< sentNs of what it answers
    std::int64_t coordinatorNs = 0; ///< coordinator's steady clock
};
/// You are not a member (any more). Unless `final`, join again with Hello.
struct Refuse {
    std::string reason;
    bool final = false; ///< another try cannot succeed: leave with exit code 4
};
/// `frames` probe frames of `bytes` each follow on the data socket; send as many back if `echo`.
struct ProbeOrder {
    std::uint64_t request = 0;
    std::uint32_t frames = 0;
    std::uint64_t bytes = 0;
    bool echo = false;
};
/// The next step is looked into; the map of `tensor` of the worker with rank `rank` is made finer.
struct Inspect {
    bool focused = false;
    std::uint32_t rank = 0;
    std::uint32_t tensor = 0;
};
/// The run is over: leave with exit code 0.
struct Finish {
    std::string reason;
};

using ControlMessage =
    std::variant<Hello, Ready, Heartbeat, Holds, Done, Failed, Loaded, Cut, Bye, ProbeResult, Wait,
                 Welcome, Begin, Abort, Commit, Abandon, Configure, Fetch, Load, HeartbeatAnswer,
                 Refuse, ProbeOrder, Finish, Inspect>;

/// A whole frame, ready to be sent; the header's type and sizes are filled in.
[[nodiscard]] engine::ByteBuffer encodeControl(FrameHeader header, const ControlMessage& message);

struct ReceivedControl {
    FrameHeader header;
    ControlMessage message;
};
/// @throws engine::ProtocolError saying what and where: a damaged frame, another type, a document
/// that is no message of this version (unknown kind, missing or ill-typed field, nested too deep)
[[nodiscard]] ReceivedControl decodeControl(engine::ByteView frame);

/// "hello", "begin", …: the document's kind.
[[nodiscard]] const char* kindOf(const ControlMessage& message) noexcept;

} // namespace gradlab::transport
