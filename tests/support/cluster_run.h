// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A real trainer whose workers are real processes, step by step, and what a test wants to know of
// it meanwhile. One thread drives it; view() and member() from any.
#pragma once

#include "engine/core/errors.h"
#include "tests/support/small_run.h"
#include "transport/zmq/zmq_coordinator.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

namespace gradlab::tests {

/// Looks every millisecond; false after a minute, which is only ever a failure.
inline bool waitUntil(const std::function<bool()>& condition,
                      std::chrono::milliseconds most = std::chrono::minutes(1)) {
    const auto end = std::chrono::steady_clock::now() + most;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

class ClusterRun {
public:
    ClusterRun(const engine::Experiment& experiment,
               const transport::CoordinatorOptions& coordinator) {
        engine::TransportFactories factories = threadTransports();
        factories.cluster = [coordinator](const engine::ClusterSetup& setup) {
            return transport::makeZmqCoordinator(setup, coordinator);
        };
        engine::TrainerOptions options;
        options.perWorker = true;
        trainer_ = engine::Trainer::create(engine::resolved(experiment),
                                           loadExperimentCorpus(experiment.corpus), factories,
                                           records, options);
    }

    void advanceTo(std::uint64_t step) {
        while (trainer_->progress().step < step) {
            const auto begin = std::chrono::steady_clock::now();
            if (!trainer_->advance({}))
                throw std::runtime_error("the run ended early");
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
            if (trainer_->progress().step > 1) // the first one waits for processes to start
                longestStepS = std::max(longestStepS, took.count());
        }
    }
    /// False if `stop` asked before the step was final.
    bool advance(const std::stop_token& stop) {
        try {
            return trainer_->advance(stop);
        } catch (const engine::Cancelled&) {
            return false;
        }
    }
    /// Kills a worker between two steps: the next one is without it.
    void lose(std::uint32_t rank) {
        trainer_->cluster()->act(rank, engine::WorkerAction::Kill);
        require("the loss", [&] {
            for (const engine::ClusterMember& member : view().members)
                if (member.rank == rank)
                    return member.state == engine::MemberState::Lost;
            return false;
        });
    }
    void startLocalWorker() {
        trainer_->cluster()->startLocalWorker();
        awaitSpare();
    }
    /// The next step begins with placing it.
    void awaitSpare() {
        require("a spare", [this] { return hasSpare(); });
    }
    [[nodiscard]] bool hasSpare() const {
        const engine::ClusterView now = view();
        return std::any_of(now.members.begin(), now.members.end(), [](const auto& member) {
            return member.state == engine::MemberState::Spare;
        });
    }
    [[nodiscard]] engine::ClusterView view() const { return trainer_->cluster()->view(); }
    /// Not a lost one.
    [[nodiscard]] std::optional<engine::ClusterMember> member(std::int64_t pid) const {
        for (const engine::ClusterMember& member : view().members)
            if (member.pid == pid && member.state != engine::MemberState::Lost)
                return member;
        return std::nullopt;
    }
    [[nodiscard]] std::uint64_t step() const { return trainer_->progress().step; }
    [[nodiscard]] std::uint64_t parameterHash() { return trainer_->parameterHash(); }
    /// Ends the run and its processes.
    void finish() {
        trainer_->finish("completed", "");
        trainer_.reset();
    }
    static void require(const std::string& what, const std::function<bool()>& condition) {
        if (!waitUntil(condition))
            throw std::runtime_error("waited a minute for " + what);
    }

    CollectingSink records;
    double longestStepS = 0.0;

private:
    std::unique_ptr<engine::Trainer> trainer_; ///< writes to records
};

} // namespace gradlab::tests
