// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator's network thread: polls both sockets, runs orders that other threads post, and
// keeps the clock, whatever the run's thread does meanwhile. Leaves out: the protocol
// (CoordinatorSession).
#pragma once

#include "transport/zmq/coordinator_session.h"

#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gradlab::transport {

class CoordinatorNetwork {
public:
    using Order = std::function<void(CoordinatorSession&)>;

    /// Binds in the caller's thread. `inbox` outlives it. @throws engine::ExperimentError
    CoordinatorNetwork(const engine::ClusterSetup& setup, const CoordinatorOptions& options,
                       CoordinatorInbox& inbox);
    /// Leaves at once, without a word to anybody, unless join() has returned.
    ~CoordinatorNetwork();
    CoordinatorNetwork(const CoordinatorNetwork&) = delete;
    CoordinatorNetwork& operator=(const CoordinatorNetwork&) = delete;

    /// Any thread; orders are carried out in order.
    void post(Order order);
    /// After an order to finish: until everybody was told and local processes are gone.
    void join();

private:
    void run();
    void serve();
    void takeOrders();
    /// Of what has arrived, as much as lets the clock be kept.
    void receive();

    Wakeup wakeup_;
    std::mutex mutex_; ///< guards orders_ and leave_
    std::vector<Order> orders_;
    bool leave_ = false;
    CoordinatorInbox& inbox_;
    std::unique_ptr<CoordinatorSockets> sockets_;
    std::unique_ptr<CoordinatorSession> session_; ///< refers to *sockets_
    std::jthread thread_;
};

} // namespace gradlab::transport
