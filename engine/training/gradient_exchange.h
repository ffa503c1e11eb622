// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The interface between training and whatever carries messages: threads in one process, or sockets.
// Training encodes and decodes; an exchange only moves bytes, counts them, and calls the
// Aggregator.
#pragma once

#include "engine/core/byte_buffer.h"
#include "engine/core/export.h"
#include "engine/training/aggregator.h"
#include "engine/training/experiment.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

namespace gradlab::engine {

/// Room that an encoder leaves at the front of each message for the transport's frame header.
inline constexpr std::size_t kFrameHeaderBytes = 64;

using SteadyTime = std::chrono::steady_clock::time_point;

/// What one local worker sent and received in a step, in frames as they are (headers included).
struct RankTraffic {
    std::uint64_t bytesMessage = 0; ///< its own encoded message
    std::uint64_t bytesUp = 0;
    std::uint64_t bytesDown = 0;
    SteadyTime lastHandOver{}; ///< when its last part was handed over
    SteadyTime arrived{};      ///< when the last byte it needed had arrived
    double transferS = 0.0; ///< seconds its bytes were on the link, both ways (0 where nothing is
                            ///< emulated or measured)
    double transferHiddenS = 0.0; ///< of these, while it was still computing
};

struct TimeSpan {
    SteadyTime begin{};
    SteadyTime end{};
};

struct ExchangeOutcome {
    std::vector<std::uint32_t> contributors; ///< ranks whose messages are in the mean, ascending
    std::vector<RankTraffic> traffic;  ///< by local worker, in the order of ExchangeSetup::ranks
    SteadyTime everyoneHandedOver{};   ///< last hand-over of any contributor
    std::vector<TimeSpan> aggregating; ///< when the server decoded, added, encoded
    double aggregateCpuS = 0.0;
    double decodeWallS = 0.0; ///< replica's decode of what came down
    double decodeCpuS = 0.0;
    std::uint64_t membershipEpoch = 0;
};

struct ExchangeSetup {
    MessagePlan plan;
    AggregatorSettings aggregator;
    std::vector<std::uint32_t> ranks; ///< of this process's workers
    std::uint32_t workers = 1;        ///< N, all processes
    std::string topology = "server";
    /// A server forms the mean of a part as soon as it is there from everybody; without, once the
    /// whole messages are: up and down follow each other, as the link model has them.
    bool overlap = true;
    bool denseRing = false; ///< reduce-scatter + all-gather instead of gathering messages
    LinkSettings link;
    std::uint64_t session = 0;
};

/// Throws if the mean must not be committed.
using MeanCheck = std::function<void()>;

/// One object a process. send() from worker threads, everything else from the run's thread.
class GRADLAB_ENGINE_EXPORT GradientExchange {
public:
    virtual ~GradientExchange();

    /// `replica` receives the step's mean, part by part, until finish() or abandonStep() returns.
    virtual void beginStep(std::uint64_t step, Aggregator& replica) = 0;
    /// Hands over part `part` of local worker `rank`. message[0, kFrameHeaderBytes) is filled in
    /// here.
    virtual void send(std::uint32_t rank, std::size_t part, ByteBuffer message) = 0;
    /// A buffer to encode into, recycled from earlier steps where possible.
    [[nodiscard]] virtual ByteBuffer takeBuffer(std::uint32_t rank, std::size_t part) = 0;
    /// Blocks until the step is committed; the replica then holds the mean of every part. `check`
    /// (may be empty) looks at the mean before this process agrees to the commit; it may be called
    /// again with another mean when a worker was lost meanwhile.
    /// @throws TransportError when too few workers are left; Cancelled when `stop` asks; what
    /// `check` throws. Then call abandonStep().
    virtual ExchangeOutcome finish(const MeanCheck& check, std::stop_token stop) = 0;
    /// Gives the current step up (a local worker failed, finish() threw); nothing of it was
    /// committed.
    virtual void abandonStep() = 0;
    /// New link speed, at a step boundary.
    virtual void setLink(const LinkSettings& link) = 0;
    /// The mean's encoding or plan changed with the method, at a step boundary.
    virtual void reconfigure(const ExchangeSetup& setup) = 0;
};

/// How programs give the engine its transport.
using ExchangeFactory = std::function<std::unique_ptr<GradientExchange>(const ExchangeSetup&)>;

} // namespace gradlab::engine
