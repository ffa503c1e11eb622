// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A run, or a race of several experiments stepped in turn, in a thread of its own, with its
// controls. Programs and windows talk to this; every call returns at once and takes effect at a
// step boundary.
#pragma once

#include "engine/core/export.h"
#include "engine/training/trainer.h"

#include <cstddef>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::engine {

enum class RunState {
    Idle,    ///< not started
    Loading, ///< text and model are being made
    Running,
    Paused,
    Stopping, ///< stop requested; the current step ends
    Finished, ///< every member ended (completed, early_stop, stopped)
    Failed    ///< an error ended it: see error()
};
[[nodiscard]] GRADLAB_ENGINE_EXPORT const char* toString(RunState state) noexcept;

/// Gives the corpus of an experiment; called in the run's thread. Programs resolve builtin:kjv here
/// and cache.
using CorpusLoader = std::function<std::shared_ptr<const Corpus>(
    const CorpusSettings& settings, const std::function<void(double)>& progress)>;

/// One experiment of a run.
struct RunMember {
    Experiment experiment;      ///< valid; resolved by the run
    RecordSink* sink = nullptr; ///< outlives the run
    TrainerOptions options;
};

struct RunProgress {
    RunState state = RunState::Idle;
    double loading = 0.0; ///< 0…1 while Loading
    std::vector<TrainerProgress> members;
    double secondsLeft = 0.0; ///< estimate for all members; 0 = unknown
};

/// Thread-safe. The destructor stops and joins.
class GRADLAB_ENGINE_EXPORT TrainingRun {
public:
    struct Callbacks {
        /// After each change of state, in the run's thread. Must not block.
        std::function<void(RunState)> stateChanged;
    };

    TrainingRun(std::vector<RunMember> members, TransportFactories transports, CorpusLoader loader,
                Callbacks callbacks);
    ~TrainingRun();
    TrainingRun(const TrainingRun&) = delete;
    TrainingRun& operator=(const TrainingRun&) = delete;

    void start();
    void pause(); ///< saves a checkpoint where the run has a folder
    void resume();
    void stepOnce(); ///< one step of each member, then paused; starts an idle run
    void stop(); ///< saves a checkpoint where the run has a folder, writes the end records, ends
    /// Pauses by itself after member steps reach `step` (0 = never).
    void pauseAfter(std::uint64_t step);
    /// A change for one member, or for all with kAllMembers. An invalid one becomes a warning
    /// event.
    /// It takes effect once the member has done `afterStep` steps (0: at the next step boundary).
    void change(std::size_t member, const ParameterChange& change, std::uint64_t afterStep = 0);
    /// The member's next step is looked into; see Trainer::inspectNext. A request that was not
    /// served yet is replaced.
    void inspect(std::size_t member, const InspectionRequest& request);
    static constexpr std::size_t kAllMembers = static_cast<std::size_t>(-1);

    /// Blocks until Finished or Failed.
    void wait();
    [[nodiscard]] RunState state() const;
    [[nodiscard]] RunProgress progress() const;
    /// What made it fail; null otherwise.
    [[nodiscard]] std::exception_ptr error() const;
    /// Whose loading or step threw it; none if it was nobody's alone (saving, say).
    [[nodiscard]] std::optional<std::size_t> failedMember() const;
    /// A member's worker processes, for the table; none for threads or while it is loading.
    [[nodiscard]] std::optional<ClusterView> clusterView(std::size_t member) const;
    /// On purpose: see WorkerAction. Does nothing where there are no worker processes.
    void act(std::size_t member, std::uint32_t rank, WorkerAction action);
    /// One more worker process on this machine for the member.
    void startWorker(std::size_t member);
    /// Saves the member's parameters at the end of the run ("" = not).
    void saveParametersAtEnd(std::size_t member, std::filesystem::path file);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace gradlab::engine
