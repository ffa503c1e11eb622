// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/training/training_run.h"

#include "engine/training/training_run_impl.h"

#include <utility>

namespace gradlab::engine {

const char* toString(RunState state) noexcept {
    switch (state) {
    case RunState::Idle:
        return "idle";
    case RunState::Loading:
        return "loading";
    case RunState::Running:
        return "running";
    case RunState::Paused:
        return "paused";
    case RunState::Stopping:
        return "stopping";
    case RunState::Finished:
        return "finished";
    case RunState::Failed:
        break;
    }
    return "failed";
}

TrainingRun::TrainingRun(std::vector<RunMember> members, TransportFactories transports,
                         CorpusLoader loader, Callbacks callbacks)
    : impl_(std::make_unique<Impl>()) {
    impl_->transports = std::move(transports);
    impl_->loader = std::move(loader);
    impl_->callbacks = std::move(callbacks);
    impl_->shared.resize(members.size());
    for (RunMember& member : members)
        impl_->lanes.push_back({std::move(member), nullptr, false});
}

TrainingRun::~TrainingRun() {
    stop();
    if (impl_->thread.joinable())
        impl_->thread.join();
}

ClusterCoordinator* TrainingRun::Impl::clusterOf(std::size_t member) const {
    const std::lock_guard lock(mutex);
    return member < shared.size() ? shared[member].cluster : nullptr;
}

std::optional<ClusterView> TrainingRun::clusterView(std::size_t member) const {
    if (const ClusterCoordinator* cluster = impl_->clusterOf(member))
        return cluster->view();
    return std::nullopt;
}

void TrainingRun::act(std::size_t member, std::uint32_t rank, WorkerAction action) {
    if (ClusterCoordinator* cluster = impl_->clusterOf(member))
        cluster->act(rank, action);
}

void TrainingRun::startWorker(std::size_t member) {
    if (ClusterCoordinator* cluster = impl_->clusterOf(member))
        cluster->startLocalWorker();
}

RunState TrainingRun::Impl::seenState() const {
    const bool active =
        state == RunState::Loading || state == RunState::Running || state == RunState::Paused;
    return active && stopSource.stop_requested() ? RunState::Stopping : state;
}

void TrainingRun::start() {
    if (state() == RunState::Paused) {
        resume();
        return;
    }
    impl_->launch(false);
}

void TrainingRun::pause() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->pauseRequested = true;
    }
    impl_->wake.notify_all();
}

void TrainingRun::resume() {
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->pauseRequested = false;
    }
    impl_->wake.notify_all();
}

void TrainingRun::stepOnce() {
    if (state() == RunState::Idle) {
        impl_->launch(true);
        return;
    }
    {
        const std::lock_guard lock(impl_->mutex);
        impl_->singleStep = true;
        impl_->pauseRequested = true;
    }
    impl_->wake.notify_all();
}

void TrainingRun::stop() {
    impl_->stopSource.request_stop();
    impl_->wake.notify_all();
}

void TrainingRun::pauseAfter(std::uint64_t step) {
    const std::lock_guard lock(impl_->mutex);
    impl_->pauseAfterStep = step;
}

void TrainingRun::change(std::size_t member, const ParameterChange& change,
                         std::uint64_t afterStep) {
    const std::lock_guard lock(impl_->mutex);
    for (std::size_t index = 0; index < impl_->shared.size(); ++index)
        if (member == kAllMembers || member == index)
            impl_->shared[index].changes.push_back({change, afterStep});
}

void TrainingRun::inspect(std::size_t member, const InspectionRequest& request) {
    const std::lock_guard lock(impl_->mutex);
    if (member < impl_->shared.size())
        impl_->shared[member].inspection = request;
}

void TrainingRun::saveParametersAtEnd(std::size_t member, std::filesystem::path file) {
    const std::lock_guard lock(impl_->mutex);
    impl_->shared.at(member).saveParameters = std::move(file);
}

void TrainingRun::wait() {
    std::unique_lock lock(impl_->mutex);
    impl_->wake.wait(lock, [&] {
        return impl_->state == RunState::Finished || impl_->state == RunState::Failed;
    });
}

RunState TrainingRun::state() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->seenState();
}

RunProgress TrainingRun::progress() const {
    const std::lock_guard lock(impl_->mutex);
    RunProgress progress;
    progress.state = impl_->seenState();
    progress.loading = impl_->loading;
    for (const Impl::Shared& member : impl_->shared) {
        progress.members.push_back(member.progress);
        if (!member.ended && member.progress.lastStep > member.progress.step)
            progress.secondsLeft +=
                member.secondsPerStep *
                static_cast<double>(member.progress.lastStep - member.progress.step);
    }
    return progress;
}

std::exception_ptr TrainingRun::error() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->error;
}

std::optional<std::size_t> TrainingRun::failedMember() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->failedMember;
}

} // namespace gradlab::engine
