// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Looks over a worker's shoulder for one step: copies what the compressor sees, decodes the
// messages that it made, and reduces both to a WorkerSnapshot. Reads only: no bit of the step
// depends on it. Lives for one step; used in the worker's thread. Leaves out: the reduction
// (metrics/gradient_reduction.h) and when to look (Trainer).
#pragma once

#include "engine/compression/message_plan.h"
#include "engine/compression/seen_copy.h"
#include "engine/compression/unit_decoder.h"
#include "engine/core/export.h"
#include "engine/metrics/gradient_snapshot.h"
#include "engine/training/experiment.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace gradlab::engine {

/// What is asked of the next step. The map of `tensor` of worker `rank` is made finer than the
/// rest.
struct InspectionRequest {
    std::uint32_t rank = 0;
    std::uint32_t tensor = 0; ///< index in GradientSnapshot::tensors
};

/// What a step's inspectors share.
struct InspectionPlan {
    std::vector<SnapshotTensor> tensors; ///< by unit, chosenBy empty
    std::optional<InspectionRequest> focus;
    double gradientWeight = 1.0; ///< with which the memory takes a gradient in
};
[[nodiscard]] std::vector<SnapshotTensor> snapshotTensors(const ParameterLayout& layout,
                                                          const MessagePlan& plan);
/// The same in every process of a run. `experiment` is resolved.
[[nodiscard]] std::shared_ptr<const InspectionPlan>
makeInspectionPlan(const Experiment& experiment, const ParameterLayout& layout,
                   const MessagePlan& plan, const std::optional<InspectionRequest>& focus);

/// One worker's part, and the selections that are counted across workers.
struct WorkerInspection {
    WorkerSnapshot snapshot;
    std::vector<std::vector<std::uint32_t>> chosen; ///< by unit; empty where nothing is chosen
};

/// For another process: the snapshot's line, then each list of indices with its length.
[[nodiscard]] ByteBuffer writeInspection(const WorkerInspection& inspection);
/// @throws ProtocolError for what does not fit the plan: other tensors, indices that do not rise
/// or are beyond a tensor's elements
[[nodiscard]] WorkerInspection readInspection(ByteView bytes, const InspectionPlan& plan);

/// Puts the workers' parts together; `chosen` of each is used up. Leaves step, method, memory and
/// stepCost to the caller.
[[nodiscard]] GradientSnapshot assembleSnapshot(const InspectionPlan& plan,
                                                std::vector<WorkerInspection>& workers);

template <class T>
class GradientInspector {
public:
    /// Both outlive the inspector.
    GradientInspector(const MessagePlan& plan, std::shared_ptr<const InspectionPlan> inspection,
                      std::uint32_t rank);
    /// For the compressor's first walk.
    [[nodiscard]] SeenCopy<T>& seen() noexcept { return seen_; }
    /// CPU seconds of copying in the part just encoded; counted in the snapshot's cost.
    [[nodiscard]] double copySeconds() noexcept;
    /// Before the part is encoded: the gradient as the model left it.
    void lookAtGradient(std::size_t part, std::span<const T> gradient);
    /// After it: its body as it travels. `remembers`: what is not sent waits.
    void lookAtMessage(std::size_t part, ByteView body, bool remembers);
    /// Everything, once every part was looked at.
    [[nodiscard]] WorkerInspection take();

private:
    void reduce(const UnitView& view, bool remembers);
    void readNorms(const UnitView& view);

    const MessagePlan& plan_;
    std::shared_ptr<const InspectionPlan> inspection_;
    SeenCopy<T> seen_;
    UnitDecoder<T> decoder_;
    std::vector<T> decoded_; ///< one unit
    std::vector<T> values_;
    std::vector<T> norms_;
    WorkerInspection result_;
};

extern template class GradientInspector<float>;
extern template class GradientInspector<double>;

} // namespace gradlab::engine
