// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A real coordinator with scripted workers around it. The coordinator's run runs in a thread of its
// own, everybody else in the test's.
#pragma once

#include "engine/core/errors.h"
#include "tests/support/exchange_case.h"
#include "tests/support/scripted_worker.h"
#include "transport/zmq/zmq_coordinator.h"

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradlab::test {

inline engine::ClusterSetup clusterSetup(std::uint32_t workers,
                                         const std::string& topology = "server") {
    engine::ClusterSetup setup;
    setup.exchange = exchangeSetup(threeParts(), workers, topology);
    setup.exchange.ranks.clear();
    setup.experiment.cluster.transport = "zmq";
    setup.experiment.cluster.topology = topology;
    setup.experiment.cluster.workers = workers;
    setup.experiment.cluster.threads = 2 * static_cast<std::int64_t>(workers);
    setup.experiment.cluster.waitFor = workers;
    setup.experiment.compression.memory = "residual";
    setup.snapshotBytes = 1000;
    return setup;
}

/// On a busy machine, or under a sanitizer, the test's thread may be silent for seconds.
inline transport::CoordinatorOptions patient() {
    transport::CoordinatorOptions options;
    options.lostAfter = std::chrono::seconds(30);
    return options;
}

struct CoordinatorCase {
    explicit CoordinatorCase(const engine::ClusterSetup& clusterSetup,
                             transport::CoordinatorOptions coordinatorOptions = patient())
        : setup(clusterSetup),
          coordinator(transport::makeZmqCoordinator(clusterSetup, std::move(coordinatorOptions))),
          replica(engine::Aggregator::create(setup.exchange.plan, setup.exchange.aggregator)) {}

    ScriptedWorker& add(const std::string& name, std::function<void(zmq::socket_t&)> secure = {}) {
        auto worker = std::make_unique<ScriptedWorker>(coordinator->view().endpoint, name,
                                                       setup.exchange.plan, std::move(secure));
        worker->draw = [this](std::uint64_t step, std::uint32_t rank) {
            return contentOf(step, rank);
        };
        return *workers.emplace_back(std::move(worker));
    }
    ScriptedWorker& join(const std::string& name) {
        ScriptedWorker& worker = add(name);
        worker.introduce();
        return worker;
    }
    [[nodiscard]] WorkerContent<float> contentOf(std::uint64_t step, std::uint32_t rank) const {
        return randomContent<float>(setup.exchange.plan, Kinds::Mixed, 21,
                                    static_cast<std::uint32_t>(step), rank);
    }
    [[nodiscard]] std::vector<float>
    expectedMean(std::uint64_t step, const std::vector<std::uint32_t>& contributors) const {
        std::vector<std::vector<float>> dense;
        for (const std::uint32_t rank : contributors)
            dense.push_back(expand<float>(setup.exchange.plan, contentOf(step, rank)));
        return meanOf<float>(dense);
    }

    void pump() {
        for (const auto& worker : workers)
            worker->pump();
    }
    /// Pumps until `condition`; throws after a minute, which is only ever a failure.
    template <class Condition>
    void until(Condition&& condition) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("waited for a minute");
            pump();
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    /// A call of the coordinator in the run's thread, while the workers are pumped.
    template <class Call>
    auto start(Call&& call) {
        return std::async(std::launch::async, std::forward<Call>(call));
    }
    template <class T>
    T finish(std::future<T>& future) {
        until(
            [&] { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
        return future.get();
    }
    auto startBoundary() {
        return start([this] {
            coordinator->boundary([](std::uint32_t rank) { return snapshotFor(rank); },
                                  stop.get_token());
        });
    }
    void boundary() {
        auto call = startBoundary();
        finish(call);
    }
    auto startStep(std::uint64_t step) {
        return start([this, step] {
            return coordinator->step(step, false, *replica, check, stop.get_token());
        });
    }
    engine::ExchangeOutcome step(std::uint64_t step) {
        auto call = startStep(step);
        return finish(call);
    }
    std::vector<engine::WorkerReport> reports() {
        auto call = start([this] { return coordinator->reports({}); });
        return finish(call);
    }
    /// A whole step with its boundary.
    engine::ExchangeOutcome wholeStep(std::uint64_t number) {
        boundary();
        engine::ExchangeOutcome outcome = step(number);
        (void)reports();
        return outcome;
    }
    [[nodiscard]] bool isRight(std::uint64_t step,
                               const std::vector<std::uint32_t>& contributors) const {
        return sameBits<float>(replica->mean(), expectedMean(step, contributors));
    }
    /// What a worker got, decoded, is that mean.
    [[nodiscard]] bool workerIsRight(const ScriptedWorker& worker, std::uint64_t step,
                                     const std::vector<std::uint32_t>& contributors) const {
        const auto own = engine::Aggregator::create(setup.exchange.plan, setup.exchange.aggregator);
        for (const auto& [part, body] : worker.means)
            own->applyDownlink(part, body);
        return sameBits<float>(own->mean(), expectedMean(step, contributors));
    }
    static engine::ByteBuffer snapshotFor(std::uint32_t rank) {
        return engine::ByteBuffer(100 + rank, std::byte{static_cast<unsigned char>(rank)});
    }
    /// Events of one kind so far, in order.
    std::vector<engine::ClusterEvent> events(const std::string& kind) {
        for (auto& event : coordinator->takeEvents())
            happened.push_back(std::move(event));
        std::vector<engine::ClusterEvent> found;
        for (const auto& event : happened)
            if (event.event == kind)
                found.push_back(event);
        return found;
    }

    engine::ClusterSetup setup;
    std::unique_ptr<engine::ClusterCoordinator> coordinator;
    std::unique_ptr<engine::Aggregator> replica;
    engine::MeanCheck check;
    std::stop_source stop;
    std::vector<std::unique_ptr<ScriptedWorker>> workers;
    std::vector<engine::ClusterEvent> happened;
};

/// Everybody who is welcome joins.
inline void gather(CoordinatorCase& one, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        std::string name = std::to_string(i);
        name.insert(0, 1, 'w');
        one.join(name);
        // One after the other, so that ranks are in the order of names.
        one.until([&] { return one.coordinator->view().members.size() > i; });
    }
    one.boundary();
}

} // namespace gradlab::test
