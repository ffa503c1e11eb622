// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/train_command.h"

#include "app/cli/corpus_loading.h"
#include "app/cli/interrupt.h"
#include "app/cli/program_error.h"
#include "app/cli/run_report.h"
#include "app/cli/seed_series.h"
#include "app/cli/terminal_line.h"
#include "app/cli/train_setup.h"
#include "app/cli/transports.h"
#include "engine/core/errors.h"
#include "engine/metrics/run_folder.h"

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <set>

namespace gradlab::app {

namespace {

using engine::RunState;

/// Wakes the terminal's thread when the run ends, which is otherwise asleep between looks.
class EndSignal {
public:
    void note(RunState state) {
        {
            const std::lock_guard lock(mutex_);
            ended_ = state == RunState::Finished || state == RunState::Failed;
        }
        changed_.notify_all();
    }
    /// @return whether the run has ended
    bool waitFor(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, time, [&] { return ended_; });
    }

private:
    std::mutex mutex_; ///< guards ended_
    std::condition_variable changed_;
    bool ended_ = false;
};

/// What the terminal shows while a run goes on.
class Console {
public:
    Console(const TrainSetup& setup, bool quiet)
        : setup_(setup), report_(setup.names), line_(!quiet), quiet_(quiet) {}

    /// Once for each member that waits for workers from elsewhere: how they join.
    void sayHowToJoin(const engine::TrainingRun& run) {
        for (std::size_t member = 0; member < setup_.members.size(); ++member) {
            const engine::ClusterSettings& cluster = setup_.members[member].experiment.cluster;
            const auto view = run.clusterView(member);
            if (cluster.waitFor == 0 || !view || !view->waiting || !told_.insert(member).second)
                continue;
            print("waiting for " + std::to_string(cluster.waitFor) +
                  " workers: gradlab-cli worker --connect " + view->endpoint +
                  (cluster.keys.empty() ? "" : " --keys " + cluster.keys + " --name NAME") + "\n");
        }
    }
    void update(const engine::RunProgress& progress) {
        for (std::size_t member = 0; member < setup_.sinks.size(); ++member) {
            for (const engine::Record& record : setup_.sinks[member]->buffer.take())
                print(report_.take(member, record));
        }
        if (line_.isDue())
            line_.show(report_.progressLine(progress, line_.columns()));
    }
    void finish() {
        line_.clear();
        if (!quiet_)
            std::cout << report_.table() << std::flush;
    }
    [[nodiscard]] bool wasStopped() const { return report_.wasStopped(); }
    [[nodiscard]] std::vector<std::optional<engine::EndRecord>> ends() const {
        return report_.ends();
    }

private:
    void print(const std::string& text) {
        if (text.empty() || quiet_)
            return;
        line_.clear();
        std::cout << text << std::endl; // seen at once, also through a pipe
    }

    const TrainSetup& setup_; ///< outlives the console
    RunReport report_;
    TerminalLine line_;
    bool quiet_;
    std::set<std::size_t> told_; ///< members that said how to join
};

bool canResume(const std::string& folder) {
    try {
        return !engine::findResumePoints(folder).empty();
    } catch (const engine::DataError&) {
        return false;
    }
}

int reportInterrupt(const TrainArguments& arguments) {
    const std::string& folder = arguments.out.empty() ? arguments.resume : arguments.out;
    std::error_code error;
    std::string advice;
    if (!arguments.series.empty() && canResume(folder))
        advice = "go on with gradlab-cli train --resume " + arguments.series;
    else if (folder.empty())
        advice = "nothing is saved without --out";
    else if (canResume(folder))
        advice = "go on with gradlab-cli train --resume " + folder;
    else if (std::filesystem::is_directory(folder, error) &&
             !std::filesystem::is_empty(folder, error))
        advice = "there is no checkpoint yet, remove " + folder + " and start anew";
    else
        advice = "nothing was made yet, start anew";
    return reportError({"stopped by Ctrl-C: gradlab-cli train; " + advice, kExitInterrupted});
}

TrainOutcome trainOnce(const TrainArguments& arguments,
                       const std::vector<FieldOverride>& overrides) {
    const TrainSetup setup = prepareTraining(arguments, overrides);
    for (const engine::RunMember& member : setup.members)
        requireKeysOfLocalWorkers(member.experiment.cluster);
    Console console(setup, arguments.quiet);
    EndSignal end;
    engine::TrainingRun run(setup.members, makeTransports(arguments.insecure), makeCorpusLoader(),
                            {[&end](RunState state) { end.note(state); }});
    for (const engine::ParameterChange& change : setup.changes)
        run.change(engine::TrainingRun::kAllMembers, change);
    for (const ScriptedChange& change : setup.script)
        for (std::size_t member = 0; member < setup.members.size(); ++member)
            if (concerns(change, setup.members[member].experiment.name))
                run.change(member, change.change, change.step);
    if (!arguments.save.empty())
        run.saveParametersAtEnd(0, arguments.save);
    run.start();
    bool stopping = false;
    while (!end.waitFor(std::chrono::milliseconds(50))) {
        if (interrupted() && !stopping) {
            stopping = true;
            run.stop();
        }
        console.sayHowToJoin(run);
        console.update(run.progress());
    }
    console.update(run.progress());
    console.finish();
    if (const std::exception_ptr error = run.error())
        std::rethrow_exception(error);
    // A run that ended by itself just before Ctrl-C is done.
    const bool interruptedRun =
        console.wasStopped() ||
        (stopping && !run.progress().members.empty() && run.progress().members.front().step == 0);
    return {interruptedRun ? reportInterrupt(arguments) : kExitDone, console.ends()};
}

} // namespace

int runTrain(const TrainArguments& arguments, const std::vector<FieldOverride>& overrides) {
    catchInterrupts();
    if (arguments.fork.empty() && (!arguments.seeds.empty() || isSeedSeries(arguments.resume)))
        return runSeedSeries(arguments, overrides, trainOnce);
    return trainOnce(arguments, overrides).exitCode;
}

} // namespace gradlab::app
