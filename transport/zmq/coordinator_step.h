// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The frames of the step in flight at the coordinator of the server topology: which parts are there
// from whom, when an emulated link lets them arrive, and what each worker's link carried. Leaves
// out: who contributes and what counts (Membership), the mean.
#pragma once

#include "engine/training/gradient_exchange.h"
#include "transport/emulated_link.h"
#include "transport/in_process/traffic_account.h"
#include "transport/zmq/coordinator_inbox.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gradlab::transport {

/// The network thread's.
class CoordinatorStep {
public:
    explicit CoordinatorStep(const engine::ExchangeSetup& setup);

    /// Begins or redoes a step: nothing is there yet.
    void begin(const std::vector<std::uint32_t>& contributors, engine::SteadyTime now);
    void end();

    /// A contributor's verified frame. `ready`: when it entered its sender's link, if known.
    void take(std::uint32_t rank, std::size_t part, std::shared_ptr<zmq::message_t> frame,
              std::optional<engine::SteadyTime> ready, engine::SteadyTime now);
    struct Arrived {
        std::uint32_t rank = 0;
        std::size_t part = 0;
    };
    /// The next frame that has arrived by now, at most one a call.
    [[nodiscard]] std::optional<Arrived> next(engine::SteadyTime now);
    /// When next() has something to do; max() if nothing is under way.
    [[nodiscard]] engine::SteadyTime nextEvent() const;
    /// It counts: gives the part's frames once everybody's is there; without overlap, all parts'
    /// once everything is.
    [[nodiscard]] std::vector<PartWork> count(const Arrived& frame, std::uint64_t epoch);
    /// The mean of a part goes down to everybody.
    void sendMean(std::size_t part, std::size_t bytes, engine::SteadyTime ready);

    /// As far as it shows here: when frames entered an emulated link; else only that nobody did so
    /// before this exchange, or its redo, began. Workers report the rest: when a frame is here, it
    /// has travelled.
    [[nodiscard]] engine::SteadyTime everyoneHandedOver() const;
    /// Seconds on the emulated link, by rank; zeros where nothing is emulated.
    [[nodiscard]] std::vector<engine::RankTraffic> traffic();
    /// Every part of the worker's message has been taken.
    [[nodiscard]] bool isComplete(std::uint32_t rank) const;
    [[nodiscard]] bool emulates() const noexcept { return emulate_; }

private:
    [[nodiscard]] double seconds(engine::SteadyTime time) const;

    [[nodiscard]] PartWork workOf(std::size_t part, std::uint64_t epoch) const;

    bool emulate_;
    bool overlap_;
    std::size_t parts_;
    std::uint32_t workers_;
    EmulatedLink link_;
    TrafficAccount account_; ///< by rank
    engine::SteadyTime origin_{};
    std::vector<std::uint32_t> contributors_;
    std::vector<std::vector<std::shared_ptr<zmq::message_t>>> frames_; ///< [part][rank]
    std::vector<std::size_t> counted_;                                 ///< of each part
    std::vector<std::size_t> meanBytes_;                               ///< of each part
};

} // namespace gradlab::transport
