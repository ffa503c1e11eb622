// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What is due between steps: evaluation, early stopping, checkpoints, the end of a run.
#include "engine/core/errors.h"
#include "engine/model/text_sampler.h"
#include "engine/training/trainer_impl.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gradlab::engine {

namespace {
constexpr std::size_t kCheckpointsKept = 3;
} // namespace

template <class T>
bool TrainerImpl<T>::advance(std::stop_token stop) {
    if (ended_)
        return false;
    evaluateIfDue(stop); // of a run that was stopped between a step and its evaluation
    if (const std::string reason = endReason(); !reason.empty()) {
        complete(reason, stop);
        return false;
    }
    step(stop);
    evaluateIfDue(stop);
    if (!options_.checkpointFolder.empty() && isDue(experiment_.training.checkpointEvery))
        writeDueCheckpoint();
    return true;
}

template <class T>
void TrainerImpl<T>::evaluateIfDue(const std::stop_token& stop) {
    if (totals_.evaluatedStep != totals_.step && isDue(experiment_.training.evalEvery))
        evaluateValid(stop);
}

// Every `every` steps; 0 stands for every epoch.
template <class T>
bool TrainerImpl<T>::isDue(std::int64_t every) const {
    const std::uint64_t interval = every > 0 ? static_cast<std::uint64_t>(every) : windows_;
    return totals_.step % interval == 0;
}

template <class T>
void TrainerImpl<T>::writeDueCheckpoint() {
    saveCheckpoint(options_.checkpointFolder / checkpointName(totals_.step));
    pruneCheckpoints(options_.checkpointFolder, kCheckpointsKept);
}

template <class T>
Evaluation TrainerImpl<T>::evaluate(std::span<const T> parameters, const std::string& split,
                                    const std::stop_token& stop) {
    const auto begin = std::chrono::steady_clock::now();
    Evaluation result;
    arena_.execute([&] {
        result =
            evaluator_.evaluate(parameters, split == "test" ? corpus_->test : corpus_->valid, stop);
    });
    totals_.wallS +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

template <class T>
void TrainerImpl<T>::evaluateValid(const std::stop_token& stop) {
    workers_->synchronise(stop);
    const Evaluation result = evaluate(std::as_const(replica_).parameters(), "valid", stop);
    if (totals_.observe(result.perplexity(), experiment_.training.targetPerplexity)) {
        const std::span<const T> parameters = std::as_const(replica_).parameters();
        if (best_.empty())
            best_ = AlignedBuffer<T>(parameters.size());
        std::copy(parameters.begin(), parameters.end(), best_.begin());
    }
    std::string sample =
        sampleSentence<T>(evaluator_.model(), std::as_const(replica_).parameters(), *corpus_,
                          static_cast<std::uint32_t>(experiment_.training.seed),
                          static_cast<std::uint32_t>(totals_.step));
    writeEvaluation(result, "valid", std::move(sample));
}

template <class T>
void TrainerImpl<T>::writeEvaluation(const Evaluation& evaluation, const std::string& split,
                                     std::string sample) {
    EvalRecord record;
    record.step = totals_.step;
    record.epoch = totals_.step == 0 ? 0 : epochOf(totals_.step);
    record.split = split;
    record.nll = evaluation.nll;
    record.tokens = evaluation.tokens;
    record.perplexity = evaluation.perplexity();
    record.wallS = totals_.wallS;
    record.simulatedS = totals_.simulatedS;
    record.sample = std::move(sample);
    sink_.record(record);
}

template <class T>
std::string TrainerImpl<T>::endReason() const {
    const TrainerProgress now = progress();
    if (now.step >= now.lastStep)
        return "completed";
    const auto patience = static_cast<std::uint64_t>(experiment_.training.patience);
    return totals_.evaluationsWithoutGain >= patience ? "early_stop" : "";
}

template <class T>
void TrainerImpl<T>::complete(const std::string& reason, const std::stop_token& stop) {
    if (totals_.evaluatedStep != totals_.step)
        evaluateValid(stop);
    if (!options_.checkpointFolder.empty())
        writeDueCheckpoint();
    const Evaluation last = evaluate(std::as_const(replica_).parameters(), "test", stop);
    writeEvaluation(last, "test", "");
    EndRecord end = totals_.endRecord(reason, "");
    end.testPerplexity = last.perplexity();
    if (!best_.empty())
        end.testPerplexityAtBest = evaluate(std::as_const(best_).span(), "test", stop).perplexity();
    end.wallS = totals_.wallS;
    ended_ = true;
    sink_.record(end);
    sink_.flush();
    workers_->end(reason);
}

template <class T>
void TrainerImpl<T>::finish(const std::string& reason, const std::string& message) {
    if (ended_)
        return;
    ended_ = true;
    writeClusterEvents();
    sink_.record(totals_.endRecord(reason, message));
    sink_.flush();
    workers_->end(reason);
}

template class TrainerImpl<float>;
template class TrainerImpl<double>;

} // namespace gradlab::engine
