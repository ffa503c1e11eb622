// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// When a step is looked into, and where what was seen goes.
#include "engine/training/trainer_impl.h"

#include <utility>

namespace gradlab::engine {

template <class T>
bool TrainerImpl<T>::inspectionScheduled(std::uint64_t step) const {
    const auto every = static_cast<std::uint64_t>(experiment_.training.inspectEvery);
    return every > 0 && step % every == 0;
}

template <class T>
std::shared_ptr<const InspectionPlan> TrainerImpl<T>::dueInspection(std::uint64_t step) {
    const std::optional<InspectionRequest> asked = std::exchange(inspectNext_, std::nullopt);
    if (!asked && !inspectionScheduled(step))
        return nullptr;
    return makeInspectionPlan(experiment_, replica_.layout(), plan_, asked);
}

template <class T>
void TrainerImpl<T>::recordInspection(const WorkerStep& step,
                                      const std::vector<WorkerAccount>& accounts) {
    if (!step.inspection)
        return;
    std::vector<WorkerInspection> workers = workers_->takeInspections();
    if (workers.empty())
        return;
    GradientSnapshot snapshot = assembleSnapshot(*step.inspection, workers);
    snapshot.step = step.position.step;
    snapshot.scheduled = inspectionScheduled(snapshot.step);
    snapshot.method = experiment_.compression.method;
    snapshot.memory = experiment_.compression.memory;
    for (const WorkerAccount& account : accounts)
        snapshot.stepCost += (account.cpu.compute() + account.cpu.compression()) /
                             static_cast<double>(accounts.size());
    sink_.snapshot(std::make_shared<const GradientSnapshot>(std::move(snapshot)));
}

template class TrainerImpl<float>;
template class TrainerImpl<double>;

} // namespace gradlab::engine
