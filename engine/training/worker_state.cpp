// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/worker_state.h"

#include "engine/core/errors.h"

#include <algorithm>

namespace gradlab::engine {

namespace {
constexpr const char* kMemory = "memory";
} // namespace

template <class T>
void addWorkerState(SafetensorsWriter& writer, const std::string& prefix,
                    const WorkerState<T>& state) {
    if (state.tensors.empty())
        return;
    for (const NamedState<T>& tensor : state.tensors)
        writer.add(prefix + tensor.name, {tensor.values.size()}, std::span<const T>(tensor.values));
    writer.setMetadata(prefix + kMemory, state.memory);
}

template <class T>
WorkerState<T> readWorkerState(const SafetensorsFile& file, const std::string& prefix) {
    WorkerState<T> state;
    if (!file.metadata().contains(prefix + kMemory))
        return state;
    state.memory = file.metadata(prefix + kMemory);
    for (const TensorView& view : file.tensors()) {
        if (!view.name.starts_with(prefix))
            continue;
        state.owned.emplace_back(view.elements());
        const std::span<T> values = state.owned.back().span();
        if (!values.empty())
            file.copyTo(view.name, values);
        state.tensors.push_back({view.name.substr(prefix.size()), values});
    }
    return state;
}

template <class T>
void copyWorkerState(const WorkerState<T>& from, const WorkerState<T>& into,
                     const std::string& origin) {
    for (const NamedState<T>& target : into.tensors) {
        const auto found =
            std::find_if(from.tensors.begin(), from.tensors.end(),
                         [&](const NamedState<T>& source) { return source.name == target.name; });
        if (found == from.tensors.end())
            throw DataError("a worker's " + target.name + " is missing: " + origin +
                            "; was it saved with other settings?");
        if (found->values.size() != target.values.size())
            throw DataError("a worker's " + target.name + " has " +
                            std::to_string(found->values.size()) + " values, " +
                            std::to_string(target.values.size()) + " are needed: " + origin +
                            "; was it saved with another model or batch?");
        std::copy(found->values.begin(), found->values.end(), target.values.begin());
    }
}

template void addWorkerState(SafetensorsWriter&, const std::string&, const WorkerState<float>&);
template void addWorkerState(SafetensorsWriter&, const std::string&, const WorkerState<double>&);
template WorkerState<float> readWorkerState(const SafetensorsFile&, const std::string&);
template WorkerState<double> readWorkerState(const SafetensorsFile&, const std::string&);
template void copyWorkerState(const WorkerState<float>&, const WorkerState<float>&,
                              const std::string&);
template void copyWorkerState(const WorkerState<double>&, const WorkerState<double>&,
                              const std::string&);

} // namespace gradlab::engine
