// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's inspection from one process to another. What arrives is hostile until it fits the
// plan.
#include "engine/compression/compression_parameters.h"
#include "engine/core/errors.h"
#include "engine/metrics/gradient_snapshot_json.h"
#include "engine/training/gradient_inspector.h"

#include <cstring>
#include <string>
#include <utility>

namespace gradlab::engine {

namespace {

double gradientWeight(const Experiment& experiment) {
    if (experiment.compression.memory != "residual")
        return 1.0;
    const double gamma = realParameter(experiment.compression, "gamma");
    const bool updates = textParameter(experiment.compression, "memory_units") == "update";
    return updates ? gamma * experiment.training.lr : gamma;
}

void append(ByteBuffer& out, const void* bytes, std::size_t size) {
    if (size == 0)
        return;
    const std::size_t at = out.size();
    out.resize(at + size);
    std::memcpy(out.data() + at, bytes, size);
}

[[noreturn]] void refuse(const char* what) {
    throw ProtocolError(std::string("inspection refused: ") + what);
}

/// The next `size` bytes; `bytes` loses them.
ByteView take(ByteView& bytes, std::size_t size) {
    if (size > bytes.size())
        refuse("it is too short");
    const ByteView taken = bytes.first(size);
    bytes = bytes.subspan(size);
    return taken;
}

std::uint32_t takeLength(ByteView& bytes) {
    std::uint32_t length = 0;
    std::memcpy(&length, take(bytes, sizeof(length)).data(), sizeof(length));
    return length;
}

std::vector<std::uint32_t> takeIndices(ByteView& bytes, std::uint64_t elements) {
    const std::uint32_t count = takeLength(bytes);
    const ByteView raw = take(bytes, std::size_t{count} * sizeof(std::uint32_t));
    std::vector<std::uint32_t> indices(count);
    if (count > 0)
        std::memcpy(indices.data(), raw.data(), raw.size());
    for (std::size_t i = 0; i < indices.size(); ++i)
        if (indices[i] >= elements || (i > 0 && indices[i] <= indices[i - 1]))
            refuse("its indices do not rise within the tensor");
    return indices;
}

} // namespace

std::shared_ptr<const InspectionPlan>
makeInspectionPlan(const Experiment& experiment, const ParameterLayout& layout,
                   const MessagePlan& plan, const std::optional<InspectionRequest>& focus) {
    return std::make_shared<const InspectionPlan>(
        InspectionPlan{snapshotTensors(layout, plan), focus, gradientWeight(experiment)});
}

ByteBuffer writeInspection(const WorkerInspection& inspection) {
    GradientSnapshot alone;
    alone.tensors.resize(inspection.snapshot.tensors.size());
    alone.workers.push_back(inspection.snapshot);
    const std::string line = toJsonLine(alone);
    ByteBuffer out;
    const auto length = static_cast<std::uint32_t>(line.size());
    append(out, &length, sizeof(length));
    append(out, line.data(), line.size());
    for (const std::vector<std::uint32_t>& chosen : inspection.chosen) {
        const auto count = static_cast<std::uint32_t>(chosen.size());
        append(out, &count, sizeof(count));
        append(out, chosen.data(), chosen.size() * sizeof(std::uint32_t));
    }
    return out;
}

WorkerInspection readInspection(ByteView bytes, const InspectionPlan& plan) {
    const ByteView line = take(bytes, takeLength(bytes));
    GradientSnapshot alone;
    try {
        alone = parseSnapshotLine({reinterpret_cast<const char*>(line.data()), line.size()});
    } catch (const DataError& error) {
        refuse(error.what());
    }
    WorkerInspection inspection;
    if (alone.workers.size() != 1 || alone.tensors.size() != plan.tensors.size())
        refuse("it has other tensors than the run");
    inspection.snapshot = std::move(alone.workers.front());
    for (std::size_t unit = 0; unit < plan.tensors.size(); ++unit) {
        const std::uint64_t elements = plan.tensors[unit].rows * plan.tensors[unit].columns;
        if (inspection.snapshot.tensors[unit].elements != elements)
            refuse("it has other tensors than the run");
        inspection.chosen.push_back(takeIndices(bytes, elements));
    }
    if (!bytes.empty())
        refuse("it is too long");
    return inspection;
}

} // namespace gradlab::engine
