// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One worker: its columns of the text, hidden state, gradient, memory and compressor. Computes its
// gradient and hands encoded parts to the exchange, during backward where overlap is on. Leaves
// out: the parameters (Replica), the model's scratch memory (the seat's that computes), threads and
// permits (WorkerTeam), the exchange itself. A step changes state once: compute() keeps the new
// hidden state and memory aside, commit() makes them so.
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/core/parallel.h"
#include "engine/data/batch_iterator.h"
#include "engine/metrics/link_model.h"
#include "engine/metrics/phase_timer.h"
#include "engine/model/language_model.h"
#include "engine/training/gradient_exchange.h"
#include "engine/training/gradient_inspector.h"
#include "engine/training/worker_state.h"

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace gradlab::engine {

/// What one step asks of a worker.
struct WorkerStep {
    StepPosition position;
    std::size_t window = 0; ///< within the epoch; 0 starts from zero hidden state
    double dropout = 0.0;
    std::uint32_t seed = 0;
    bool overlap = true;
    bool keepGradient = false;                        ///< a copy of it, for keptGradient()
    std::shared_ptr<const InspectionPlan> inspection; ///< null: nobody looks
};

/// What one step gave; valid until the next compute().
struct WorkerResult {
    double loss = 0.0; ///< mean cross-entropy of the window
    std::uint64_t bytesMessage = 0;
    std::vector<PartReady> parts; ///< CPU seconds after the step's start, bytes
    double cpuAtHandOver = 0.0;   ///< CPU seconds when the last part was handed over
    CompressionStats stats;
};

template <class T>
class Worker {
public:
    Worker(const MessagePlan& plan, const ModelShape& shape, ColumnBlock columns, std::size_t bptt,
           const CompressionSettings& compression, const CompressorIdentity& identity);
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Forward, backward, compress, encode, send. In the worker's thread, inside `arena`, with a
    /// `model` of the worker's shape whose scratch memory nobody else uses meanwhile.
    /// @throws NumericError, Cancelled; then call discard().
    void compute(const WorkerStep& step, LanguageModel<T>& model, std::span<const T> parameters,
                 ComputeArena& arena, GradientExchange& exchange, const std::stop_token& stop);
    /// Makes the step's memory and hidden state final. In the worker's thread.
    void commit();
    void discard() noexcept;

    /// What the committed step's inspection found; empty if nobody asked for one. In any thread,
    /// between steps.
    [[nodiscard]] std::optional<WorkerInspection> takeInspection();

    [[nodiscard]] const WorkerResult& result() const noexcept { return result_; }
    /// The gradient of the last computed step that asked for it, before memory and compressor
    /// changed it; empty before the first.
    [[nodiscard]] std::span<const T> keptGradient() const noexcept { return kept_.span(); }
    [[nodiscard]] PhaseTimer& timer() noexcept { return timer_; }
    [[nodiscard]] std::uint32_t rank() const noexcept { return identity_.rank; }
    [[nodiscard]] std::size_t windows() const noexcept { return windows_.windows(); }
    [[nodiscard]] GradientCompressor<T>& compressor() noexcept { return compressor_; }
    /// Memory and (h, c), L·B·H each, as they are between steps: views.
    [[nodiscard]] WorkerState<T> state();
    /// Between steps. @throws DataError naming `origin`
    void setState(const WorkerState<T>& state, const std::string& origin);

private:
    class Pipeline;
    void forwardBackward(const WorkerStep& step, LanguageModel<T>& model,
                         std::span<const T> parameters, const std::stop_token& stop,
                         Pipeline& pipeline);

    MessagePlan plan_;
    CompressorIdentity identity_;
    ColumnBlock columns_;
    BatchIterator windows_;
    GradientCompressor<T> compressor_;
    AlignedBuffer<T> gradient_;
    AlignedBuffer<T> kept_;            ///< see keptGradient()
    std::vector<std::size_t> missing_; ///< the pipeline's, kept for its memory
    AlignedBuffer<T> h_, c_;           ///< committed
    AlignedBuffer<T> nextH_, nextC_;   ///< of the step in flight
    PhaseTimer timer_;
    WorkerResult result_;
    std::unique_ptr<GradientInspector<T>> inspector_; ///< of this step; null: nobody looks
};

extern template class Worker<float>;
extern template class Worker<double>;

} // namespace gradlab::engine
