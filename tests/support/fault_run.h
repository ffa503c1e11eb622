// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Carries a FaultCase out on real processes and keeps what came of it.
#pragma once

#include "tests/support/cluster_run.h"
#include "tests/support/fault_case.h"
#include "tests/support/process_table.h"
#include "transport/zmq/local_processes.h"

#include <atomic>
#include <csignal>
#include <exception>
#include <map>
#include <thread>

namespace gradlab::tests {

inline std::string faultyWorker() {
    return GRADLAB_BINARY_DIR "/tests/faulty_worker";
}

/// Which steps went without the victim: [lost, joined); 0: never.
struct Absence {
    std::uint64_t lost = 0;
    std::uint64_t joined = 0;
    friend auto operator<=>(const Absence&, const Absence&) = default;
};

class FaultRun {
public:
    /// `frozen`: how long a freeze lasts; 0: until the loss is shown.
    FaultRun(FaultCase fault, std::chrono::milliseconds frozen)
        : fault_(std::move(fault)), frozen_(frozen), others_({faultyWorker()}),
          run_(zmqExperiment(fault_), options(&fault_.point)),
          endpoint_(QByteArray::fromStdString(run_.view().endpoint)) {}

    void carryOut() {
        const std::uint64_t at = fault_.point.step;
        std::jthread watch([this](const std::stop_token& stop) { watchOver(stop); });
        if (fault_.whileLoading()) {
            run_.advanceTo(at);
            run_.lose(fault_.victim);
            victim_ = startOther(&fault_.point);
            run_.awaitSpare();
        }
        run_.advanceTo(at + kStepsAfter);
        if (comesBack())
            awaitReturn();
        watch.request_stop();
        watch.join();
        if (watchFailure_)
            std::rethrow_exception(watchFailure_);
        steps = run_.step();
        hash = run_.parameterHash();
        run_.finish();
        ClusterRun::require("the end of the other workers", [this] {
            for (const transport::EndedProcess& ended : others_.reap())
                otherEnds[ended.pid] = ended.how;
            return others_.running() == 0;
        });
    }

    /// That should have been, and when the log says that the place was taken again.
    [[nodiscard]] Absence absence() const {
        Absence absence;
        if (fault_.kind == FaultKind::Cut ||
            (fault_.kind == FaultKind::Stall && !fault_.whileLoading()))
            return absence;
        absence.lost = fault_.point.step + (fault_.beforeCommit() ? 0 : 1);
        for (const engine::EventRecord& event : run_.records.events)
            if (event.event == "worker_joined" && event.step > 0)
                absence.joined = event.step + 1;
        return absence;
    }
    [[nodiscard]] bool redid() const {
        const auto& events = run_.records.events;
        return std::any_of(events.begin(), events.end(),
                           [](const auto& event) { return event.event == "step_redone"; });
    }
    [[nodiscard]] bool comesBack() const noexcept {
        return fault_.kind == FaultKind::Freeze || fault_.kind == FaultKind::Restart ||
               fault_.kind == FaultKind::Replace || fault_.kind == FaultKind::Sever ||
               (fault_.kind == FaultKind::Stall && fault_.whileLoading());
    }
    [[nodiscard]] const FaultCase& fault() const noexcept { return fault_; }
    [[nodiscard]] const CollectingSink& records() const noexcept { return run_.records; }
    [[nodiscard]] double longestStepS() const noexcept { return run_.longestStepS; }
    [[nodiscard]] std::int64_t victimPid() const noexcept { return victim_; }
    /// Who is in the place at the end, where somebody came back.
    [[nodiscard]] std::int64_t heirPid() const noexcept { return heir_ != 0 ? heir_ : victim_; }
    [[nodiscard]] const QByteArray& endpoint() const noexcept { return endpoint_; }

    std::uint64_t steps = 0;
    std::uint64_t hash = 0;
    std::map<std::int64_t, std::string> otherEnds; ///< of workers that the test started: pid → how

    [[nodiscard]] static engine::Experiment zmqExperiment(const FaultCase& fault) {
        engine::Experiment experiment =
            faultExperiment(fault.topology, fault.method, fault.workers);
        experiment.cluster.transport = "zmq";
        return experiment;
    }
    /// Local workers that are harmed at `point`, unless it is a joiner's.
    [[nodiscard]] static transport::CoordinatorOptions options(const FaultPoint* point) {
        transport::CoordinatorOptions options;
        options.workerCommand = {faultyWorker()};
        if (point != nullptr && point->phase != transport::WorkerPhase::Loading)
            options.workerCommand.insert(options.workerCommand.end(), {"--fault", point->text()});
        return options;
    }

private:
    static constexpr std::uint64_t kStepsAfter = 4;

    std::int64_t startOther(const FaultPoint* point) {
        std::vector<std::string> arguments;
        if (point != nullptr)
            arguments = {"--fault", point->text()};
        arguments.insert(arguments.end(), {"worker", "--connect", endpoint_.toStdString(), "--name",
                                           fault_.point.name});
        return others_.start(fault_.point.name, arguments);
    }
    /// Steps go on, at most twenty a second, until somebody has come back, then some more.
    void awaitReturn() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (absence().joined == 0) {
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("nobody came back within a minute");
            (void)waitUntil([this] { return run_.hasSpare(); }, std::chrono::milliseconds(50));
            run_.advanceTo(run_.step() + 1);
        }
        run_.advanceTo(run_.step() + kStepsAfter);
    }

    // — beside the run —
    void watchOver(const std::stop_token& stop) {
        try {
            ClusterRun::require("the victim",
                                [&] { return stop.stop_requested() || findVictim(); });
            react(stop);
        } catch (...) {
            watchFailure_ = std::current_exception();
        }
    }
    bool findVictim() {
        if (fault_.whileLoading())
            return victim_ != 0;
        for (const engine::ClusterMember& member : run_.view().members)
            if (member.name == fault_.point.name)
                victim_ = member.pid;
        return victim_ != 0;
    }
    void react(const std::stop_token& stop) {
        if (fault_.kind == FaultKind::Restart) {
            ClusterRun::require("the victim's end", [this] { return !isAlive(victim_); });
            heir_ = startOther(nullptr);
        }
        if (fault_.point.action != "stop")
            return;
        ClusterRun::require("the victim's stop", [this] { return stateOf(victim_) == 'T'; });
        if (fault_.kind == FaultKind::Stall) {
            std::this_thread::sleep_for(std::chrono::seconds(1)); // that is what is tested
        } else if (fault_.kind == FaultKind::Replace) {
            heir_ = startOther(nullptr);
            ClusterRun::require("its heir", [this] {
                const auto heir = run_.member(heir_);
                return heir && (heir->state == engine::MemberState::Active ||
                                heir->state == engine::MemberState::Computing);
            });
        } else if (frozen_.count() > 0) {
            std::this_thread::sleep_for(frozen_);
        } else {
            ClusterRun::require("the loss", [this] { return !run_.member(victim_); });
        }
        (void)::kill(static_cast<pid_t>(victim_), SIGCONT);
        if (fault_.kind == FaultKind::Replace)
            ClusterRun::require("the victim's end",
                                [&] { return !isAlive(victim_) || stop.stop_requested(); });
    }

    FaultCase fault_;
    std::chrono::milliseconds frozen_;
    transport::LocalProcesses others_;
    ClusterRun run_;
    QByteArray endpoint_;
    std::atomic<std::int64_t> victim_ = 0;
    std::atomic<std::int64_t> heir_ = 0;
    std::exception_ptr watchFailure_;
};

/// Parameters after `steps`, with the same workers at the same steps, but nothing going wrong in
/// the middle of one.
inline std::uint64_t referenceHash(const FaultCase& fault, const Absence& absence,
                                   std::uint64_t steps) {
    if (absence.lost == 0) {
        engine::Experiment experiment =
            faultExperiment(fault.topology, fault.method, fault.workers);
        experiment.training.steps = static_cast<std::int64_t>(steps);
        return runToEnd(engine::resolved(experiment)).hash;
    }
    ClusterRun run(FaultRun::zmqExperiment(fault), FaultRun::options(nullptr));
    run.advanceTo(absence.lost - 1);
    run.lose(fault.victim);
    if (absence.joined != 0) {
        run.advanceTo(absence.joined - 1);
        run.startLocalWorker();
    }
    run.advanceTo(steps);
    const std::uint64_t hash = run.parameterHash();
    run.finish();
    return hash;
}

} // namespace gradlab::tests
