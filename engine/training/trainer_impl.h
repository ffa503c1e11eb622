// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The trainer in one precision; see trainer.h for what it promises.
#pragma once

#include "engine/training/checkpoint.h"
#include "engine/training/evaluator.h"
#include "engine/training/replica.h"
#include "engine/training/run_totals.h"
#include "engine/training/step_accounting.h"
#include "engine/training/trainer.h"
#include "engine/training/worker_group.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::engine {

template <class T>
class TrainerImpl final : public Trainer {
public:
    TrainerImpl(const Experiment& requested, std::shared_ptr<const Corpus> corpus,
                const TransportFactories& transports, RecordSink& sink, TrainerOptions options);

    bool advance(std::stop_token stop) override;
    void apply(const ParameterChange& change) override;
    void finish(const std::string& reason, const std::string& message) override;
    void saveCheckpoint(const std::filesystem::path& file) override;
    void saveParameters(const std::filesystem::path& file) override;
    void inspectNext(const InspectionRequest& request) override { inspectNext_ = request; }
    void writeEvent(const std::string& event, const std::string& details) override;
    [[nodiscard]] TrainerProgress progress() const override;
    [[nodiscard]] const Experiment& experiment() const override { return experiment_; }
    [[nodiscard]] std::uint64_t parameterHash() override;
    [[nodiscard]] ClusterCoordinator* cluster() override { return workers_->cluster(); }
    [[nodiscard]] bool takePauseRequest() override { return workers_->takePauseRequest(); }

private:
    // Construction
    void restore(const std::filesystem::path& checkpoint);
    void beginFork();
    void writeStart();

    [[nodiscard]] std::uint64_t stepOfChange(std::uint64_t id) const;
    void recordWhatFollowed(const EventRecord& cause, const Experiment& before);

    // One step (trainer_step.cpp)
    void step(const std::stop_token& stop);
    void accountStep(const WorkerStep& step, std::vector<WorkerAccount>& accounts,
                     const SgdOutcome& sgd);
    [[nodiscard]] StepInputs stepInputs(const WorkerStep& step, const SgdOutcome& sgd) const;
    void writeClusterEvents();
    [[nodiscard]] bool keepsGradient(std::uint64_t step) const;
    void writeGradient(std::uint64_t step);

    // Looking into a step (trainer_inspection.cpp)
    [[nodiscard]] bool inspectionScheduled(std::uint64_t step) const;
    [[nodiscard]] std::shared_ptr<const InspectionPlan> dueInspection(std::uint64_t step);
    void recordInspection(const WorkerStep& step, const std::vector<WorkerAccount>& accounts);

    // What is due after a step (trainer_evaluation.cpp)
    void evaluateIfDue(const std::stop_token& stop);
    void evaluateValid(const std::stop_token& stop);
    [[nodiscard]] Evaluation evaluate(std::span<const T> parameters, const std::string& split,
                                      const std::stop_token& stop);
    void writeEvaluation(const Evaluation& evaluation, const std::string& split,
                         std::string sample);
    [[nodiscard]] std::string endReason() const;
    void complete(const std::string& reason, const std::stop_token& stop);
    void writeDueCheckpoint();

    [[nodiscard]] std::uint64_t epochOf(std::uint64_t step) const { return (step - 1) / windows_; }
    [[nodiscard]] bool isDue(std::int64_t every) const;

    Experiment requested_;  ///< as asked, `auto` kept: a later change resolves anew
    Experiment experiment_; ///< resolved
    std::shared_ptr<const Corpus> corpus_;
    RecordSink& sink_; ///< the program's, outlives the trainer
    TrainerOptions options_;
    ModelShape shape_;
    MessagePlan plan_;
    ComputeArena arena_; ///< of the run's own thread: evaluation and update
    Replica<T> replica_;
    Evaluator<T> evaluator_;
    AlignedBuffer<T> best_; ///< parameters of the best validation
    RunTotals totals_;
    std::uint64_t windows_ = 1; ///< an epoch
    bool ended_ = false;
    std::string forkChanges_; ///< of a fork: what is not as in the checkpoint's run
    std::optional<InspectionRequest> inspectNext_;
    std::map<std::uint64_t, std::uint64_t> changeSteps_; ///< of changes with an id
    std::unique_ptr<WorkerGroup<T>> workers_;            ///< last: its threads use everything above
};

extern template class TrainerImpl<float>;
extern template class TrainerImpl<double>;

} // namespace gradlab::engine
