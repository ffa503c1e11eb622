// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/coordinator_network.h"

#include "transport/zmq/prompt_thread.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace gradlab::transport {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::milliseconds kFinishTick{10};
constexpr int kFramesAtOnce = 64;

SocketLimits dataLimits(const engine::ClusterSetup& setup) {
    SocketLimits limits;
    limits.highWater = 2 * static_cast<int>(setup.exchange.plan.parts().size()) + 8;
    limits.mostBytes = static_cast<std::int64_t>(mostDataBytes(setup));
    return limits;
}

} // namespace

CoordinatorNetwork::CoordinatorNetwork(const engine::ClusterSetup& setup,
                                       const CoordinatorOptions& options, CoordinatorInbox& inbox)
    : inbox_(inbox), sockets_(std::make_unique<CoordinatorSockets>(
                         setup.experiment.cluster, dataLimits(setup), options.insecure)),
      session_(std::make_unique<CoordinatorSession>(setup, options, *sockets_, inbox)),
      thread_([this] { run(); }) {}

CoordinatorNetwork::~CoordinatorNetwork() {
    {
        const std::lock_guard lock(mutex_);
        leave_ = true;
    }
    wakeup_.signal();
}

void CoordinatorNetwork::post(Order order) {
    {
        const std::lock_guard lock(mutex_);
        orders_.push_back(std::move(order));
    }
    wakeup_.signal();
}

void CoordinatorNetwork::join() {
    if (thread_.joinable())
        thread_.join();
}

void CoordinatorNetwork::run() {
    becomePrompt();
    try {
        serve();
    } catch (...) {
        inbox_.change([](InboxState& state) { state.broken = std::current_exception(); });
    }
    // In this thread, whose they were.
    session_.reset();
    sockets_.reset();
}

void CoordinatorNetwork::serve() {
    auto nextTick = steady_clock::now();
    for (;;) {
        takeOrders();
        receive();
        const auto now = steady_clock::now();
        session_->deliver(now);
        if (session_->finished(now))
            return;
        if (const std::lock_guard lock(mutex_); leave_)
            return;
        if (session_->finishing()) {
            nextTick = now + kFinishTick;
        } else if (now >= nextTick) {
            session_->tick(now);
            nextTick = now + kTick;
        }
        sockets_->wait(wakeup_, std::min(nextTick, session_->nextEvent()));
    }
}

void CoordinatorNetwork::takeOrders() {
    wakeup_.drain();
    std::vector<Order> orders;
    {
        const std::lock_guard lock(mutex_);
        std::swap(orders, orders_);
    }
    for (const Order& order : orders)
        order(*session_);
}

void CoordinatorNetwork::receive() {
    for (int i = 0; i < kFramesAtOnce; ++i) {
        auto received = sockets_->receiveControl();
        if (!received)
            break;
        session_->receiveControl(*received);
    }
    for (int i = 0; i < kFramesAtOnce; ++i) {
        auto received = sockets_->receiveData();
        if (!received)
            break;
        session_->receiveData(*received);
    }
    sockets_->flush();
}

} // namespace gradlab::transport
