// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The server of the server topology: from everybody's part to the mean's frame and the
// coordinator's own replica. Leaves out: waiting, sockets, votes.
#pragma once

#include "engine/core/errors.h"
#include "engine/training/gradient_exchange.h"
#include "transport/zmq/coordinator_inbox.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace gradlab::transport {

/// A contributor's body does not decode.
class BadMessage : public engine::ProtocolError {
public:
    BadMessage(std::uint32_t rank, const std::string& what)
        : engine::ProtocolError(what), rank_(rank) {}
    [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }

private:
    std::uint32_t rank_ = 0;
};

/// The run's thread's.
class CoordinatorServer {
public:
    explicit CoordinatorServer(const engine::ExchangeSetup& setup);

    void begin(std::uint64_t step);
    /// The mean's frame of one part, ready to be sent. Work of a newer epoch starts anew.
    /// @throws BadMessage; engine::NumericError
    [[nodiscard]] SharedBytes aggregate(const PartWork& work);
    /// There are means of this epoch that the coordinator's own replica has not got yet.
    [[nodiscard]] bool hasMore() const noexcept { return !toApply_.empty(); }
    /// The first of them into the replica, as workers do. Others wait for means, so those go first.
    void applyNext(engine::Aggregator& replica);
    /// The replica holds the mean of every part under epoch().
    [[nodiscard]] bool isComplete() const noexcept;
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    /// Adds the wall and CPU times of the step so far.
    void addTimes(engine::ExchangeOutcome& outcome) const;

private:
    [[nodiscard]] SharedBytes takeBuffer(std::size_t part);
    void formMean(const PartWork& work, engine::ByteBuffer& frame);
    [[nodiscard]] std::uint32_t culprit(const PartWork& work) const;

    engine::ExchangeSetup setup_;
    std::unique_ptr<engine::Aggregator> server_; ///< beside the replica's
    std::vector<SharedBytes> down_;              ///< [part], recycled once sent
    std::deque<std::size_t> toApply_;            ///< parts of down_, under epoch_
    std::vector<bool> applied_;                  ///< by part, under epoch_
    std::uint64_t step_ = 0;
    std::uint64_t epoch_ = 0;
    engine::ExchangeOutcome times_;
};

} // namespace gradlab::transport
