// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/gradient_inspector.h"

#include "engine/compression/tile_kernels.h"
#include "engine/compression/value_code.h"
#include "engine/core/cpu_clock.h"
#include "engine/metrics/gradient_reduction.h"

#include <algorithm>
#include <utility>

namespace gradlab::engine {

std::vector<SnapshotTensor> snapshotTensors(const ParameterLayout& layout,
                                            const MessagePlan& plan) {
    std::vector<SnapshotTensor> tensors;
    for (const CompressionUnit& unit : plan.units()) {
        SnapshotTensor tensor{unit.name, 1, unit.size, {}};
        if (plan.scope() == CompressionScope::Tensor) {
            const std::vector<std::size_t>& shape = layout.tensors()[unit.id].shape;
            if (shape.size() > 1 && shape.front() > 0) {
                tensor.rows = shape.front();
                tensor.columns = unit.size / shape.front();
            }
        }
        tensors.push_back(std::move(tensor));
    }
    return tensors;
}

GradientSnapshot assembleSnapshot(const InspectionPlan& plan,
                                  std::vector<WorkerInspection>& workers) {
    const double begin = threadCpuSeconds();
    GradientSnapshot snapshot;
    snapshot.tensors = plan.tensors;
    const auto share = 1.0 / static_cast<double>(std::max<std::size_t>(1, workers.size()));
    for (std::size_t unit = 0; unit < plan.tensors.size(); ++unit) {
        std::vector<std::vector<std::uint32_t>> lists;
        lists.reserve(workers.size());
        for (WorkerInspection& worker : workers)
            lists.push_back(std::move(worker.chosen.at(unit)));
        const bool everybodyChose =
            std::none_of(lists.begin(), lists.end(), [](const auto& list) { return list.empty(); });
        SnapshotTensor& tensor = snapshot.tensors[unit];
        if (everybodyChose)
            tensor.chosenBy = countChosenBy(lists, tensor.rows * tensor.columns);
    }
    for (WorkerInspection& worker : workers) {
        snapshot.cost += worker.snapshot.cost * share;
        snapshot.workers.push_back(std::move(worker.snapshot));
    }
    snapshot.cost += (threadCpuSeconds() - begin) * share;
    return snapshot;
}

template <class T>
GradientInspector<T>::GradientInspector(const MessagePlan& plan,
                                        std::shared_ptr<const InspectionPlan> inspection,
                                        std::uint32_t rank)
    : plan_(plan), inspection_(std::move(inspection)), seen_(plan.size()) {
    result_.snapshot.rank = rank;
    result_.snapshot.tensors.resize(plan.units().size());
    result_.chosen.resize(plan.units().size());
}

template <class T>
void GradientInspector<T>::lookAtGradient(std::size_t part, std::span<const T> gradient) {
    const double begin = threadCpuSeconds();
    for (const std::uint32_t id : plan_.parts()[part]) {
        const CompressionUnit& unit = plan_.units()[id];
        result_.snapshot.tensors[id].squaredGradient =
            sumSquares(gradient.subspan(unit.offset, unit.size)) * inspection_->gradientWeight *
            inspection_->gradientWeight;
    }
    result_.snapshot.cost += threadCpuSeconds() - begin;
}

template <class T>
double GradientInspector<T>::copySeconds() noexcept {
    const double seconds = seen_.takeSeconds();
    result_.snapshot.cost += seconds;
    return seconds;
}

template <class T>
void GradientInspector<T>::lookAtMessage(std::size_t part, ByteView body, bool remembers) {
    const double begin = threadCpuSeconds();
    const auto units = static_cast<std::uint32_t>(plan_.parts()[part].size());
    for (const UnitView& view : splitBody(body, units))
        reduce(view, remembers);
    result_.snapshot.cost += threadCpuSeconds() - begin;
}

template <class T>
void GradientInspector<T>::reduce(const UnitView& view, bool remembers) {
    const UnitDescriptor& descriptor = view.descriptor;
    const CompressionUnit& unit = plan_.units()[descriptor.unit];
    decoded_.assign(unit.size, T{0});
    UnitContents<T> contents;
    contents.selected = descriptor.selected;
    std::vector<std::uint32_t>& chosen = result_.chosen[unit.id];
    if (isSparse(descriptor)) {
        decoder_.decodeSparse(view, unit, chosen, values_);
        for (std::size_t i = 0; i < chosen.size(); ++i)
            decoded_[chosen[i]] = values_[i];
        contents.indices = chosen;
    } else {
        decoder_.decode(view, unit, decoded_);
    }
    contents.selection = isSparse(descriptor) || descriptor.selected < descriptor.elements;
    if (descriptor.codec == Codec::Levels) {
        readNorms(view);
        contents.levels = descriptor.flags >> 16U;
        contents.bucket = descriptor.parameter == 0 ? unit.size : descriptor.parameter;
        contents.norms = norms_;
    }
    const SnapshotTensor& shape = inspection_->tensors[unit.id];
    UnitLayout layout{shape.rows, shape.columns};
    const auto& focus = inspection_->focus;
    if (focus && focus->rank == result_.snapshot.rank && focus->tensor == unit.id) {
        layout.mapRows = HeatMap::kFocusRows;
        layout.mapColumns = HeatMap::kFocusColumns;
    }
    TensorSnapshot& out = result_.snapshot.tensors[unit.id];
    const double squaredGradient = out.squaredGradient;
    out = reduceUnit<T>(seen_.values().subspan(unit.offset, unit.size), decoded_, contents, layout);
    out.squaredGradient = squaredGradient;
    out.squaredResidual = remembers ? out.squaredError : 0.0;
}

/// The norms stand before the levels, one a bucket.
template <class T>
void GradientInspector<T>::readNorms(const UnitView& view) {
    const UnitDescriptor& descriptor = view.descriptor;
    const std::size_t n = descriptor.elements;
    const std::size_t bucket =
        descriptor.parameter == 0 ? std::max<std::size_t>(1, n) : descriptor.parameter;
    norms_.resize((n + bucket - 1) / bucket);
    readValues(view.payload.first(norms_.size() * valueBytes(descriptor.values)), descriptor.values,
               std::span<T>(norms_));
}

template <class T>
WorkerInspection GradientInspector<T>::take() {
    return std::move(result_);
}

template class GradientInspector<float>;
template class GradientInspector<double>;

} // namespace gradlab::engine
