// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker carries from step to step besides its place in the text: memory and hidden state,
// by name, for checkpoints and for processes that send it to each other.
#pragma once

#include "engine/compression/gradient_compressor.h"
#include "engine/core/aligned_buffer.h"
#include "engine/core/safetensors.h"

#include <string>
#include <vector>

namespace gradlab::engine {

/// Views of a live worker's buffers, valid until its next step, or of its own copies in `owned`.
/// No tensors: a slot that nobody holds.
template <class T>
struct WorkerState {
    std::vector<NamedState<T>> tensors; ///< "residual", "dgc.u", …, "h", "c"
    std::string memory;                 ///< GradientCompressor::scalarState()
    std::vector<AlignedBuffer<T>> owned;
};

/// Adds the tensors as <prefix><name> and the text as metadata <prefix>memory. The state must live
/// until the writer has written.
template <class T>
void addWorkerState(SafetensorsWriter& writer, const std::string& prefix,
                    const WorkerState<T>& state);
/// Copies; without metadata <prefix>memory the state is that of an empty slot.
/// @throws DataError naming file and tensor
template <class T>
[[nodiscard]] WorkerState<T> readWorkerState(const SafetensorsFile& file,
                                             const std::string& prefix);
/// `from`'s tensors into `into`'s buffers, by name. @throws DataError naming `origin` if one is
/// missing or of another size
template <class T>
void copyWorkerState(const WorkerState<T>& from, const WorkerState<T>& into,
                     const std::string& origin);

extern template void addWorkerState(SafetensorsWriter&, const std::string&,
                                    const WorkerState<float>&);
extern template void addWorkerState(SafetensorsWriter&, const std::string&,
                                    const WorkerState<double>&);
extern template WorkerState<float> readWorkerState(const SafetensorsFile&, const std::string&);
extern template WorkerState<double> readWorkerState(const SafetensorsFile&, const std::string&);
extern template void copyWorkerState(const WorkerState<float>&, const WorkerState<float>&,
                                     const std::string&);
extern template void copyWorkerState(const WorkerState<double>&, const WorkerState<double>&,
                                     const std::string&);

} // namespace gradlab::engine
