// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The run's thread: loading, rounds of steps, pauses, changes, the end.
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/training/checkpoint.h"
#include "engine/training/training_run_impl.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gradlab::engine {

void TrainingRun::Impl::setState(RunState next) {
    {
        const std::lock_guard lock(mutex);
        if (state == next)
            return;
        state = next;
    }
    wake.notify_all();
    if (callbacks.stateChanged)
        callbacks.stateChanged(next);
}

void TrainingRun::Impl::note(std::exception_ptr what) {
    const std::lock_guard lock(mutex);
    if (error != nullptr)
        return;
    error = std::move(what);
    failedMember = atWork;
}

bool TrainingRun::Impl::allEnded() const {
    return std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.ended; });
}

void TrainingRun::Impl::main() {
    try {
        setState(RunState::Loading);
        load();
        loop();
    } catch (const Cancelled&) {
        // A stop while loading: nothing to save.
    } catch (const std::exception& failure) {
        note(std::current_exception());
        endAfterFailure(failure.what());
    } catch (...) {
        note(std::current_exception());
        endAfterFailure("unknown error");
    }
    const bool failed = [&] {
        const std::lock_guard lock(mutex);
        return error != nullptr;
    }();
    setState(failed ? RunState::Failed : RunState::Finished);
}

void TrainingRun::Impl::load() {
    for (std::size_t index = 0; index < lanes.size(); ++index) {
        atWork = index;
        Lane& lane = lanes[index];
        const auto progress = [&, index](double part) {
            const std::lock_guard lock(mutex);
            loading = (static_cast<double>(index) + part) / static_cast<double>(lanes.size());
        };
        if (stopSource.stop_requested())
            throw Cancelled();
        auto corpus = loader(lane.member.experiment.corpus, progress);
        if (stopSource.stop_requested())
            throw Cancelled();
        lane.trainer = Trainer::create(lane.member.experiment, std::move(corpus), transports,
                                       *lane.member.sink, lane.member.options);
        const std::lock_guard lock(mutex);
        shared[index].progress = lane.trainer->progress();
        shared[index].cluster = lane.trainer->cluster();
    }
    atWork.reset();
}

void TrainingRun::Impl::loop() {
    while (!stopSource.stop_requested() && !allEnded()) {
        waitWhilePaused();
        if (stopSource.stop_requested() || !round())
            break;
        if (pauseIfAsked())
            saveAll();
    }
    if (allEnded())
        return;
    setState(RunState::Stopping);
    saveAll();
    finishAll("stopped", "");
}

// Enters Paused where a pause or a single step asked for it. True on the way into a pause.
bool TrainingRun::Impl::pauseIfAsked() {
    const std::lock_guard lock(mutex);
    const bool reached =
        pauseAfterStep > 0 && std::any_of(shared.begin(), shared.end(), [&](const Shared& member) {
            return member.progress.step >= pauseAfterStep;
        });
    if (reached)
        pauseAfterStep = 0;
    if (reached || singleStep)
        pauseRequested = true;
    singleStep = false;
    return pauseRequested;
}

void TrainingRun::Impl::waitWhilePaused() {
    const auto paused = [&] {
        const std::lock_guard lock(mutex);
        return pauseRequested && !singleStep;
    };
    if (!paused()) {
        setState(RunState::Running);
        return;
    }
    setState(RunState::Paused);
    {
        std::unique_lock lock(mutex);
        wake.wait(lock, stopSource.get_token(), [&] { return !pauseRequested || singleStep; });
    }
    if (!stopSource.stop_requested())
        setState(RunState::Running);
}

// One step of every member that is still running; false when a stop ended it early.
bool TrainingRun::Impl::round() {
    for (std::size_t index = 0; index < lanes.size(); ++index) {
        if (stopSource.stop_requested())
            return false;
        if (lanes[index].ended)
            continue;
        atWork = index;
        try {
            applyChanges(index);
            advance(index);
        } catch (const Cancelled&) {
            return false;
        } catch (const NumericError& diverged) {
            // The others of a race go on.
            note(std::current_exception());
            lanes[index].trainer->finish("diverged", diverged.what());
            endMember(index);
        }
    }
    atWork.reset();
    return true;
}

void TrainingRun::Impl::advance(std::size_t index) {
    Lane& lane = lanes[index];
    const auto begin = std::chrono::steady_clock::now();
    const bool goesOn = lane.trainer->advance(stopSource.get_token());
    const double took =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    {
        const std::lock_guard lock(mutex);
        Shared& seen = shared[index];
        seen.progress = lane.trainer->progress();
        seen.secondsPerStep =
            seen.secondsPerStep == 0.0 ? took : 0.97 * seen.secondsPerStep + 0.03 * took;
    }
    if (lane.trainer->takePauseRequest()) {
        const std::lock_guard lock(mutex);
        pauseRequested = true;
    }
    if (!goesOn)
        endMember(index);
}

void TrainingRun::Impl::endMember(std::size_t index) {
    lanes[index].ended = true;
    std::filesystem::path file;
    {
        const std::lock_guard lock(mutex);
        shared[index].ended = true;
        file = shared[index].saveParameters;
    }
    if (!file.empty())
        lanes[index].trainer->saveParameters(file);
}

void TrainingRun::Impl::applyChanges(std::size_t index) {
    Trainer& trainer = *lanes[index].trainer;
    std::vector<ParameterChange> due;
    {
        const std::lock_guard lock(mutex);
        if (const auto asked = std::exchange(shared[index].inspection, std::nullopt))
            trainer.inspectNext(*asked);
        auto& changes = shared[index].changes;
        const std::uint64_t step = trainer.progress().step;
        for (auto it = changes.begin(); it != changes.end();) {
            if (it->afterStep > step) {
                ++it;
                continue;
            }
            due.push_back(std::move(it->change));
            it = changes.erase(it);
        }
    }
    for (const ParameterChange& change : due) {
        try {
            trainer.apply(change);
        } catch (const ExperimentError& refused) {
            trainer.writeEvent("warning", refused.what());
        }
    }
}

void TrainingRun::Impl::saveAll() {
    for (Lane& lane : lanes) {
        if (lane.trainer == nullptr || lane.ended || lane.member.options.checkpointFolder.empty())
            continue;
        lane.trainer->saveCheckpoint(lane.member.options.checkpointFolder /
                                     checkpointName(lane.trainer->progress().step));
    }
}

// After a failure: what the trainers still hold is worth keeping, and what fails now (the disk is
// full, say) must not hide what failed first.
void TrainingRun::Impl::endAfterFailure(const std::string& message) noexcept {
    const auto attempt = [](const auto& action) {
        try {
            action();
        } catch (const std::exception&) { // told already: the first failure is the run's
        }
    };
    attempt([this] { saveAll(); });
    for (std::size_t index = 0; index < lanes.size(); ++index)
        if (lanes[index].trainer != nullptr && !lanes[index].ended) {
            attempt([&] { lanes[index].trainer->finish("failed", message); });
            attempt([&] { endMember(index); });
        }
}

void TrainingRun::Impl::finishAll(const std::string& reason, const std::string& message) {
    for (std::size_t index = 0; index < lanes.size(); ++index) {
        if (lanes[index].trainer == nullptr || lanes[index].ended)
            continue;
        lanes[index].trainer->finish(reason, message);
        endMember(index);
    }
}

void TrainingRun::Impl::launch(bool oneStep) {
    {
        const std::lock_guard lock(mutex);
        GRADLAB_CHECK(state == RunState::Idle, toString(state));
        singleStep = oneStep;
    }
    thread = std::jthread([this] { main(); });
}

} // namespace gradlab::engine
