// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The thread behind TrainingRun: loads, steps its members in turn, obeys the commands. Private to
// training_run*.cpp.
#pragma once

#include "engine/training/training_run.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace gradlab::engine {

struct TrainingRun::Impl {
    struct PendingChange {
        ParameterChange change;
        std::uint64_t afterStep = 0;
    };
    // A member with what only the run's thread touches.
    struct Lane {
        RunMember member;
        std::unique_ptr<Trainer> trainer;
        bool ended = false;
    };
    // A member as others see it.
    struct Shared {
        std::deque<PendingChange> changes;
        std::optional<InspectionRequest> inspection; ///< for the next step
        TrainerProgress progress;
        double secondsPerStep = 0.0;
        bool ended = false;
        std::filesystem::path saveParameters;
        ClusterCoordinator* cluster = nullptr; ///< the trainer's, lives until the run is gone
    };

    TransportFactories transports;
    CorpusLoader loader;
    Callbacks callbacks;
    std::vector<Lane> lanes; ///< of the run's thread

    mutable std::mutex mutex; ///< guards everything down to `wake`
    RunState state = RunState::Idle;
    bool pauseRequested = false;
    bool singleStep = false;
    std::uint64_t pauseAfterStep = 0;
    double loading = 0.0;
    std::vector<Shared> shared;
    std::exception_ptr error;
    std::optional<std::size_t> failedMember;
    std::condition_variable_any wake; ///< a command came, or the state changed

    std::optional<std::size_t> atWork; ///< the member that loads or steps; of the run's thread

    std::stop_source stopSource;
    std::jthread thread;

    // — called by others —
    void launch(bool oneStep);

    // — the run's thread —
    void main();
    void load();
    void loop();
    void waitWhilePaused();
    bool pauseIfAsked();
    bool round();
    void advance(std::size_t index);
    void applyChanges(std::size_t index);
    void endMember(std::size_t index);
    void saveAll();
    void endAfterFailure(const std::string& message) noexcept;
    void finishAll(const std::string& reason, const std::string& message);
    void setState(RunState next);
    [[nodiscard]] RunState seenState() const; ///< with `mutex` held: a requested stop shows at once
    void note(std::exception_ptr what);
    [[nodiscard]] bool allEnded() const;
    [[nodiscard]] ClusterCoordinator* clusterOf(std::size_t member) const; ///< any thread
};

} // namespace gradlab::engine
