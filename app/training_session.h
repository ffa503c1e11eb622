// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The only bridge from the engine to Qt: owns the run that is on, takes commands, and turns what
// the run's thread says into signals of the GUI thread. Leaves out: everything that is drawn.
//
// Records wait in one bounded buffer a member; one timer empties them. A change of state is one
// queued call, never one a step. Everything carries the run's number, so that what a discarded run
// still says is dropped.
#pragma once

#include "app/cli/scripted_change.h"
#include "engine/metrics/step_record.h"
#include "engine/training/training_run.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace gradlab::app {

struct SessionMember;
struct SessionRun;

/// A run's checkpoint that another run goes on from.
struct SessionFork {
    std::filesystem::path checkpoint;
    std::string run; ///< for the log: its folder
};

/// What a session is to run: one experiment, or several stepped in turn.
struct SessionPlan {
    std::vector<engine::Experiment> experiments; ///< valid
    std::filesystem::path folder;                ///< run folder; empty = nothing is kept
    std::vector<ScriptedChange> script;          ///< changes that are due at a step
    std::filesystem::path scratch{};   ///< for the logs of what is not kept; empty = there are none
    std::optional<SessionFork> fork{}; ///< where every experiment begins; nothing: at step 0
};

/// Lives in the GUI thread; no command blocks.
class TrainingSession : public QObject {
    Q_OBJECT

public:
    static constexpr int kAllRuns = -1;

    TrainingSession(engine::TransportFactories transports, engine::CorpusLoader loader,
                    QObject* parent = nullptr);
    /// Stops the timer, then every run, and waits for their threads (the step under way is cut
    /// short).
    ~TrainingSession() override;

    /// Readies a run and returns the ids of its members, in order. A run before it is discarded.
    /// @throws ExperimentError, DataError when the run folder cannot be used; nothing changes then.
    std::vector<int> prepare(const SessionPlan& plan);

    [[nodiscard]] engine::RunState state() const noexcept { return state_; }
    /// Loading, running, paused or stopping.
    [[nodiscard]] bool isActive() const noexcept;
    [[nodiscard]] bool isPrepared() const noexcept { return current_ != nullptr; }
    [[nodiscard]] engine::RunProgress progress() const;
    /// Contract's exit code of the run that ended; 0 before.
    [[nodiscard]] int exitCode() const noexcept { return exitCode_; }
    /// The log of each member of the run that was prepared last; empty where there is none.
    [[nodiscard]] std::vector<std::filesystem::path> logs() const;
    /// Step records that were not handed on because the GUI lagged (the log has them).
    [[nodiscard]] std::size_t droppedRecords() const;
    /// Discarded runs whose threads have not ended yet.
    [[nodiscard]] std::size_t endingRuns() const noexcept { return discarded_.size(); }

    // Commands.
    void start();
    void pause();
    void resume();
    void stepOnce();
    void stop();
    /// Asks the run to end and forgets it: nothing that it says arrives any more.
    void discard();
    /// A live field of one run, or of all with kAllRuns, from the next step on.
    void change(int runId, const gradlab::engine::ParameterChange& change);
    /// The run's next step is looked into; what was seen comes as snapshotArrived().
    void inspect(int runId, const gradlab::engine::InspectionRequest& request);
    /// The worker processes of each member, in order; nothing for members with threads.
    [[nodiscard]] std::vector<std::optional<engine::ClusterView>> clusterViews() const;
    /// `member` counts from 0 as in prepare().
    void act(std::size_t member, std::uint32_t rank, engine::WorkerAction action);
    void startWorker(std::size_t member);

Q_SIGNALS:
    /// In order; the first record of a run is its StartRecord.
    void recordsArrived(int runId, const std::vector<gradlab::engine::Record>& records);
    void snapshotArrived(int runId,
                         const std::shared_ptr<const gradlab::engine::GradientSnapshot>& snapshot);
    void stateChanged(gradlab::engine::RunState state);
    void progressChanged(const gradlab::engine::RunProgress& progress);
    /// What ended the run, after its last records and before stateChanged(Failed). In a race the
    /// text starts with the name of the run that failed.
    void failed(const QString& text, int exitCode);

private:
    void queueStateCheck(SessionRun& run);
    void checkState(std::uint64_t runNumber);
    void queueScript(const std::vector<ScriptedChange>& script);
    void publish(engine::RunState state);
    void publishEnd(engine::RunState state);
    void tick();
    bool drain();
    void handOnSnapshots();
    bool handOn(SessionMember& member, const QElapsedTimer& clock);
    void joinEndedRuns();

    engine::TransportFactories transports_;
    engine::CorpusLoader loader_;
    QTimer timer_;
    engine::RunState state_ = engine::RunState::Idle;
    int exitCode_ = 0;
    int nextRunId_ = 1;
    std::uint64_t runNumber_ = 0;
    std::size_t firstToDrain_ = 0;                       ///< takes turns, so that no member starves
    std::vector<std::unique_ptr<SessionRun>> discarded_; ///< joined once they have ended
    std::unique_ptr<SessionRun> current_;
};

} // namespace gradlab::app
