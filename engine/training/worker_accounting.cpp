// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/worker_accounting.h"

#include "engine/core/allocation_count.h"
#include "engine/core/cpu_clock.h"

#include <chrono>

namespace gradlab::engine {

namespace {

struct Cost {
    double wallS = 0.0;
    double cpuS = 0.0;
};

/// Of the work in the calling thread and in the arena's helpers.
template <class Work>
Cost timed(ComputeArena& arena, const Work& work) {
    const AllocationScope counted;
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = threadCpuSeconds();
    static_cast<void>(arena.takeHelpersCpu());
    arena.execute(work);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    return {wall.count(), threadCpuSeconds() - cpu + arena.takeHelpersCpu()};
}

} // namespace

template <class T>
double commitTimed(Worker<T>& worker, ComputeArena& arena) {
    const Cost cost = timed(arena, [&] { worker.commit(); });
    worker.timer().addWall(Phase::Compress, cost.wallS);
    worker.timer().addCpu(Phase::Compress, cost.cpuS);
    return cost.cpuS;
}

template <class T>
ReplicaUpdate updateTimed(Replica<T>& replica, ComputeArena& arena, double meanNorm,
                          const SgdSettings& settings) {
    ReplicaUpdate update;
    const Cost cost = timed(arena, [&] { update.sgd = replica.update(meanNorm, settings); });
    update.wallS = cost.wallS;
    update.cpuS = cost.cpuS;
    return update;
}

template <class T>
void fillAccount(WorkerAccount& account, Worker<T>& worker, std::uint64_t epoch, double commitCpu,
                 bool overlap) {
    const WorkerResult& result = worker.result();
    account.rank = worker.rank();
    account.loss = result.loss;
    account.ratio = worker.compressor().effectiveRatio(epoch);
    account.bytesMessage = result.bytesMessage;
    account.stats = result.stats;
    account.parts = result.parts;
    account.cpuAtHandOver = result.cpuAtHandOver;
    account.commitCpu = commitCpu;
    account.t = worker.timer().wall();
    account.cpu = worker.timer().cpu();
    if (!overlap && !account.parts.empty())
        account.parts = {{account.cpuAtHandOver, static_cast<double>(account.bytesMessage),
                          account.parts.back().wallS}};
}

template double commitTimed(Worker<float>&, ComputeArena&);
template double commitTimed(Worker<double>&, ComputeArena&);
template ReplicaUpdate updateTimed(Replica<float>&, ComputeArena&, double, const SgdSettings&);
template ReplicaUpdate updateTimed(Replica<double>&, ComputeArena&, double, const SgdSettings&);
template void fillAccount(WorkerAccount&, Worker<float>&, std::uint64_t, double, bool);
template void fillAccount(WorkerAccount&, Worker<double>&, std::uint64_t, double, bool);

} // namespace gradlab::engine
