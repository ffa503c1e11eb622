// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The document that a trainer gives a joining process (cluster_node.h says what is in it).
#pragma once

#include "engine/core/byte_buffer.h"
#include "engine/core/safetensors.h"
#include "engine/data/batch_iterator.h"
#include "engine/training/experiment.h"
#include "engine/training/replica.h"
#include "engine/training/worker_state.h"

#include <cstdint>
#include <string>

namespace gradlab::engine {

inline constexpr const char* kWorkerPrefix = "worker.";

/// What does not depend on the precision.
struct NodeDescription {
    std::uint32_t rank = 0;
    std::size_t vocabulary = 0;
    Experiment experiment; ///< resolved
    ColumnBlock columns;
};

/// Everything for a joiner. An empty `state` = zero memory and hidden state.
template <class T>
[[nodiscard]] ByteBuffer makeJoinSnapshot(const NodeDescription& node, Replica<T>& replica,
                                          const WorkerState<T>& state);
/// @throws DataError
[[nodiscard]] NodeDescription readDescription(const SafetensorsFile& snapshot);

/// A worker's state alone, or a replica alone.
template <class T>
[[nodiscard]] ByteBuffer makeStateSnapshot(const WorkerState<T>& state);
template <class T>
[[nodiscard]] ByteBuffer makeReplicaSnapshot(Replica<T>& replica);

/// Any of them, checked. @throws ProtocolError
[[nodiscard]] SafetensorsFile parseSnapshot(ByteView bytes);

extern template ByteBuffer makeJoinSnapshot(const NodeDescription&, Replica<float>&,
                                            const WorkerState<float>&);
extern template ByteBuffer makeJoinSnapshot(const NodeDescription&, Replica<double>&,
                                            const WorkerState<double>&);
extern template ByteBuffer makeStateSnapshot(const WorkerState<float>&);
extern template ByteBuffer makeStateSnapshot(const WorkerState<double>&);
extern template ByteBuffer makeReplicaSnapshot(Replica<float>&);
extern template ByteBuffer makeReplicaSnapshot(Replica<double>&);

} // namespace gradlab::engine
