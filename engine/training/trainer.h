// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One experiment, step by step: the coordinator's side of training. Owns the replica and the local
// workers, drives the exchange, evaluates, stops early, writes records and checkpoints, applies
// changes between steps. Leaves out: threads of its own for pausing and races (TrainingRun),
// reading text (Corpus), files of a run's log.
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/core/export.h"
#include "engine/data/corpus.h"
#include "engine/metrics/record_sink.h"
#include "engine/training/cluster_coordinator.h"
#include "engine/training/experiment.h"
#include "engine/training/gradient_inspector.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace gradlab::engine {

/// A field that takes a new value at the next step boundary.
struct ParameterChange {
    std::string path; ///< a live field of the schema
    FieldValue value;
    MemoryChange memory = MemoryChange::Keep; ///< of a change of method or memory; else unused
    std::uint64_t id = 0;      ///< the sender's own number for it; 0: nobody refers to it later
    std::uint64_t undoes = 0;  ///< id of the change that this one takes back; 0: of none
    std::uint64_t repeats = 0; ///< id of the change that is made once more; 0: of none
};

/// Whether it is one of method or memory, which asks what happens to the memory's content.
[[nodiscard]] GRADLAB_ENGINE_EXPORT bool concernsMemory(const ParameterChange& change) noexcept;

struct TrainerOptions {
    std::filesystem::path checkpointFolder;          ///< empty: no checkpoints on their own
    std::optional<std::filesystem::path> resumeFrom; ///< a checkpoint file
    /// With resumeFrom: the checkpoint is this run's, folder or name, and another run, maybe with
    /// other settings, goes on from it. See run_fork.h.
    std::string forkedFrom;
    bool perWorker = false; ///< worker records too
    /// Steps whose gradient, worker 0's before memory and compressor, is kept as a file
    /// `gradientFolder`/step-N.safetensors. Only of workers that are threads.
    std::vector<std::uint64_t> gradientSteps;
    std::filesystem::path gradientFolder;
};

struct TrainerProgress {
    std::uint64_t step = 0;
    std::uint64_t lastStep = 0; ///< first limit that is known in advance; 0 = none
    double wallS = 0.0;         ///< cumulative, pauses excluded
};

/// Not thread-safe: one thread drives it. Its own workers, threads or processes, live as long as it
/// does.
class GRADLAB_ENGINE_EXPORT Trainer {
public:
    /// `experiment` must be valid and resolved. Writes the start record. `sink` and `corpus`
    /// outlive nothing: the sink must live as long as the trainer.
    /// @throws DataError for a bad init or checkpoint file, or a corpus that is too short;
    /// ExperimentError for a fork that changes what cannot change, or that has nothing left to do.
    [[nodiscard]] static std::unique_ptr<Trainer>
    create(const Experiment& experiment, std::shared_ptr<const Corpus> corpus,
           const TransportFactories& transports, RecordSink& sink, const TrainerOptions& options);
    virtual ~Trainer();

    /// One step, and what is due after it (evaluation, checkpoint). False once the run has ended:
    /// then the end record is written. @throws NumericError (nothing of the step is committed),
    /// TransportError, Cancelled when `stop` asks in mid-step (state is that of the last whole
    /// step).
    virtual bool advance(std::stop_token stop) = 0;
    /// Takes effect before the next step; writes a parameter_changed event.
    /// @throws ExperimentError if the field is not live, the result is not valid, or what waits
    /// cannot be flushed (updates at learning rate 0); nothing changes then.
    virtual void apply(const ParameterChange& change) = 0;
    /// Ends the run early, with an end record; `reason` as in EndRecord. Does nothing if it has
    /// ended.
    virtual void finish(const std::string& reason, const std::string& message) = 0;
    /// Everything that decides the next step, in one safetensors file, written aside and renamed.
    virtual void saveCheckpoint(const std::filesystem::path& file) = 0;
    /// Parameters only, with PyTorch's names.
    virtual void saveParameters(const std::filesystem::path& file) = 0;
    /// The next step is looked into and a GradientSnapshot goes to the sink. No bit of training
    /// depends on it.
    virtual void inspectNext(const InspectionRequest& request) = 0;
    virtual void writeEvent(const std::string& event, const std::string& details) = 0;

    [[nodiscard]] virtual TrainerProgress progress() const = 0;
    [[nodiscard]] virtual const Experiment& experiment() const = 0; ///< with changes applied
    /// XXH3-64 of the parameters' bytes: equal bits, equal hash.
    [[nodiscard]] virtual std::uint64_t parameterHash() = 0;
    /// The worker processes, whose view() and act() any thread may use; null for threads. Lives as
    /// long as the trainer.
    [[nodiscard]] virtual ClusterCoordinator* cluster() = 0;
    /// A lost worker asked for a pause (on_loss) since the last call.
    [[nodiscard]] virtual bool takePauseRequest() = 0;
};

} // namespace gradlab::engine
