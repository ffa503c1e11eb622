// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What a worker's step took and gave, measured the same way whether the worker is a thread or a
// process: its commit, its replica's update, its account.
#pragma once

#include "engine/core/parallel.h"
#include "engine/training/replica.h"
#include "engine/training/step_accounting.h"
#include "engine/training/worker.h"

#include <cstdint>

namespace gradlab::engine {

/// What an update of the parameters did and cost.
struct ReplicaUpdate {
    SgdOutcome sgd;
    double wallS = 0.0;
    double cpuS = 0.0;
};

/// Commits the worker's step inside `arena`, counted as compression. @return CPU seconds
template <class T>
double commitTimed(Worker<T>& worker, ComputeArena& arena);
/// Applies the mean that the replica holds, inside `arena`.
template <class T>
ReplicaUpdate updateTimed(Replica<T>& replica, ComputeArena& arena, double meanNorm,
                          const SgdSettings& settings);
/// Everything of the account but what the exchange and the replica's update add.
template <class T>
void fillAccount(WorkerAccount& account, Worker<T>& worker, std::uint64_t epoch, double commitCpu,
                 bool overlap);

extern template double commitTimed(Worker<float>&, ComputeArena&);
extern template double commitTimed(Worker<double>&, ComputeArena&);
extern template ReplicaUpdate updateTimed(Replica<float>&, ComputeArena&, double,
                                          const SgdSettings&);
extern template ReplicaUpdate updateTimed(Replica<double>&, ComputeArena&, double,
                                          const SgdSettings&);
extern template void fillAccount(WorkerAccount&, Worker<float>&, std::uint64_t, double, bool);
extern template void fillAccount(WorkerAccount&, Worker<double>&, std::uint64_t, double, bool);

} // namespace gradlab::engine
