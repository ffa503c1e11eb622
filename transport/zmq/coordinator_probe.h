// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator's side of measuring the line to a worker: when probe frames left, when their
// echoes arrived, what the worker says of their arrival. Leaves out: which sizes, and what follows
// from the times (probe.h).
#pragma once

#include "engine/training/gradient_exchange.h"
#include "engine/training/membership.h"
#include "transport/zmq/control_message.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace gradlab::transport {

/// Some frames there and back.
struct LinkSample {
    double downS = 0.0;      ///< at the worker, from the first frame's arrival to the last one's
    double upS = 0.0;        ///< here, of the echoes
    double roundTripS = 0.0; ///< from sending to the first echo
    engine::SteadyTime sent{};
    engine::SteadyTime told{}; ///< the worker's word that all have arrived is here
    engine::SteadyTime firstEcho{};
    engine::SteadyTime lastEcho{};
};

/// The network thread's.
class CoordinatorProbe {
public:
    using Time = engine::SteadyTime;

    void sent(std::uint64_t request, engine::MemberId member, std::uint32_t frames, Time now);
    void echoed(engine::MemberId member, std::uint64_t request, Time now);
    void result(engine::MemberId member, const ProbeResult& result, Time now);
    /// A request whose echoes and result are there.
    struct Finished {
        std::uint64_t request = 0;
        LinkSample sample;
    };
    [[nodiscard]] std::optional<Finished> takeFinished();
    /// Requests that nobody answers any more.
    [[nodiscard]] std::vector<std::uint64_t> lose(engine::MemberId member);

private:
    struct Request {
        engine::MemberId member = 0;
        std::uint32_t echoesToCome = 0;
        Time sent{};
        Time firstEcho{};
        Time lastEcho{};
        Time told{};
        std::optional<double> downS;
    };
    [[nodiscard]] Request* find(engine::MemberId member, std::uint64_t request);

    std::map<std::uint64_t, Request> requests_; ///< under way
};

} // namespace gradlab::transport
