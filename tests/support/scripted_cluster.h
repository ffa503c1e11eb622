// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Worker processes as threads, with a scripted coordinator and nodes that send known contents.
#pragma once

#include "tests/support/fake_node.h"
#include "tests/support/scripted_coordinator.h"
#include "transport/zmq/worker_process.h"

#include <condition_variable>
#include <thread>

namespace gradlab::test {

/// Stops a worker's compute thread at a phase until the test lets it go on.
class Gate {
public:
    /// In the compute thread.
    void pass() {
        std::unique_lock lock(mutex_);
        reached_ = true;
        news_.wait(lock, [this] { return open_; });
    }
    void open() {
        const std::lock_guard lock(mutex_);
        open_ = true;
        news_.notify_all();
    }
    [[nodiscard]] bool isReached() {
        const std::lock_guard lock(mutex_);
        return reached_;
    }

private:
    std::mutex mutex_;
    std::condition_variable news_;
    bool reached_ = false;
    bool open_ = false;
};

/// A worker process's main function in a thread.
struct WorkerThread {
    WorkerThread(transport::WorkerOptions workerOptions, const engine::ExchangeSetup& setup,
                 Kinds kinds)
        : options(std::move(workerOptions)),
          thread([this, setup, kinds](const std::stop_token& stop) { run(setup, kinds, stop); }) {}

    std::optional<transport::WorkerLeave> left; ///< after the thread has ended
    std::string error;
    NodeLog log;
    std::atomic<bool> ended = false;
    transport::WorkerOptions options;
    std::jthread thread;

private:
    void run(engine::ExchangeSetup setup, Kinds kinds, const std::stop_token& stop) {
        const auto make = [&](engine::ByteView snapshot, const engine::ExchangeFactory& exchange,
                              std::size_t) {
            const std::string text(reinterpret_cast<const char*>(snapshot.data()), snapshot.size());
            setup.ranks = {static_cast<std::uint32_t>(std::stoul(text.substr(1)))};
            {
                const std::lock_guard lock(log.mutex);
                log.loaded.push_back(text);
            }
            return std::make_unique<FakeNode>(setup, exchange, kinds, log);
        };
        try {
            left = transport::runWorker(options, make, stop);
        } catch (const std::exception& failure) {
            error = failure.what();
        }
        ended = true;
    }
};

/// N workers that have joined.
struct ScriptedCluster {
    ScriptedCluster(
        const engine::ExchangeSetup& exchangeSetup, Kinds kinds,
        const std::function<void(std::uint32_t, transport::WorkerOptions&)>& change = {},
        const std::optional<transport::ClusterKeys>& keys = {})
        : setup(exchangeSetup), coordinator(keys) {
        for (std::uint32_t rank = 0; rank < setup.workers; ++rank) {
            transport::WorkerOptions options;
            options.connect = coordinator.endpoint();
            options.name = "w" + std::to_string(rank);
            options.lostAfter = std::chrono::seconds(20);
            if (change)
                change(rank, options);
            workers.push_back(std::make_unique<WorkerThread>(options, setup, kinds));
            ranks.push_back(rank);
        }
    }
    void join() {
        for (const std::uint32_t rank : ranks)
            coordinator.welcome(rank, setup.workers);
    }
    /// A whole step.
    std::vector<ScriptedCoordinator::Control> step(std::uint64_t number) {
        coordinator.begin(number, ranks);
        if (setup.topology == "server")
            coordinator.serve(setup, number, ranks);
        return coordinator.finishStep(number, ranks);
    }
    void finish() {
        for (const auto& [rank, member] : coordinator.members)
            if (!workers[rank]->ended)
                coordinator.say(member.control, transport::Finish{"done"}, 0, rank);
        for (auto& worker : workers)
            worker->thread.join();
    }
    [[nodiscard]] std::vector<std::byte> mean(std::uint32_t rank, std::uint64_t number) {
        const std::lock_guard lock(workers[rank]->log.mutex);
        return workers[rank]->log.means[number];
    }

    engine::ExchangeSetup setup;
    ScriptedCoordinator coordinator;
    std::vector<std::unique_ptr<WorkerThread>> workers; ///< by rank
    std::vector<std::uint32_t> ranks;
};

} // namespace gradlab::test
