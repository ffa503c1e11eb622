// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/train_setup.h"

#include "engine/core/errors.h"
#include "engine/metrics/run_folder.h"
#include "engine/training/checkpoint.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/run_fork.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

namespace gradlab::app {

namespace fs = std::filesystem;
using engine::Experiment;
using engine::ExperimentError;

namespace {

/// What a resumed run may set anew without an event: the limits.
bool isLimit(std::string_view path) {
    constexpr std::array<std::string_view, 3> kLimits = {"training.epochs", "training.steps",
                                                         "training.patience"};
    return std::find(kLimits.begin(), kLimits.end(), path) != kLimits.end();
}

/// A file that will be written at the end must be possible now.
void requireWritableFile(const std::string& option, const fs::path& file) {
    std::error_code error;
    const fs::path folder = fs::absolute(file).parent_path();
    if (fs::is_directory(file, error) || !fs::is_directory(folder, error) ||
        ::access(folder.c_str(), W_OK | X_OK) != 0)
        throw ExperimentError("", "the file cannot be written: " + option + " " + file.string() +
                                      "; give a file in a folder that exists and may be written");
}

void requireNothingBesideResume(const TrainArguments& arguments) {
    if (!arguments.file.empty() || !arguments.out.empty())
        throw ExperimentError("", "a resumed run has its experiment and folder: --resume " +
                                      arguments.resume +
                                      "; leave out the experiment's file and --out");
}

/// Where the gradients go, and that they are this process's.
void requireGradientsKept(const TrainArguments& arguments, const std::vector<Experiment>& race) {
    if (arguments.gradientSteps.empty())
        return;
    if (arguments.out.empty() && arguments.resume.empty())
        throw ExperimentError("", "the gradients have no folder: --record-gradients; give --out");
    for (const Experiment& experiment : race)
        if (experiment.cluster.transport != "threads")
            throw ExperimentError("cluster.transport",
                                  "the gradients are other processes': --record-gradients with "
                                  "--transport zmq; use --transport threads");
}

void requireConsistent(const TrainArguments& arguments, const std::vector<Experiment>& race) {
    const std::size_t members = race.size();
    if (members > 1 && !arguments.log.empty())
        throw ExperimentError("", "one log for " + std::to_string(members) +
                                      " experiments: --log " + arguments.log +
                                      "; give --out, which has a folder for each");
    if (members > 1 && !arguments.save.empty())
        throw ExperimentError("", "one file for the parameters of " + std::to_string(members) +
                                      " experiments: --save " + arguments.save +
                                      "; run them apart");
    requireGradientsKept(arguments, race);
    if (!arguments.save.empty())
        requireWritableFile("--save", arguments.save);
    if (!arguments.log.empty())
        requireWritableFile("--log", arguments.log);
}

void addMember(TrainSetup& setup, const TrainArguments& arguments, const Experiment& experiment,
               std::unique_ptr<engine::RunFolder> folder, const fs::path& checkpoint) {
    auto sink = std::make_unique<MemberSink>();
    engine::RunMember member{experiment, sink.get(), {}};
    member.options.perWorker = arguments.perWorker;
    if (!checkpoint.empty())
        member.options.resumeFrom = checkpoint;
    if (!arguments.log.empty())
        sink->files.push_back(std::make_unique<engine::RunLog>(arguments.log));
    if (folder != nullptr) {
        member.options.checkpointFolder = folder->checkpoints();
        member.options.gradientSteps.assign(arguments.gradientSteps.begin(),
                                            arguments.gradientSteps.end());
        member.options.gradientFolder = folder->path() / "gradients";
        sink->files.push_back(std::move(folder));
    }
    setup.names.push_back(engine::displayName(experiment));
    setup.sinks.push_back(std::move(sink));
    setup.members.push_back(std::move(member));
}

void requireNothingBesideFork(const TrainArguments& arguments) {
    if (!arguments.file.empty() || !arguments.resume.empty() || !arguments.seeds.empty())
        throw ExperimentError("", "a fork has its experiment from the run: --fork " +
                                      arguments.fork +
                                      "; leave out the experiment's file, --resume and --seeds");
}

TrainSetup prepareForked(const TrainArguments& arguments,
                         const std::vector<FieldOverride>& overrides,
                         const std::vector<ScriptedChange>& script) {
    requireNothingBesideFork(arguments);
    const engine::ForkPoint point = engine::findForkPoint(arguments.fork);
    const Experiment origin = engine::readCheckpointExperiment(point.checkpoint);
    std::vector<Experiment> forked{origin};
    applyOverrides(overrides, forked);
    requireConsistent(arguments, forked);
    requireKnownRuns(script, forked);
    (void)engine::requireValidRace(forked);
    engine::requireForkable(origin, forked.front());
    std::vector<std::unique_ptr<engine::RunFolder>> folders(1);
    if (!arguments.out.empty())
        folders = engine::newRunFolders(arguments.out, forked);
    TrainSetup setup;
    addMember(setup, arguments, forked.front(), std::move(folders.front()), point.checkpoint);
    setup.members.front().options.forkedFrom =
        point.checkpoint.parent_path().parent_path().string();
    return setup;
}

TrainSetup prepareNew(const TrainArguments& arguments, const std::vector<FieldOverride>& overrides,
                      const std::vector<ScriptedChange>& script) {
    const std::vector<Experiment> race = requestedRace(arguments, overrides);
    requireKnownRuns(script, race);
    std::vector<std::unique_ptr<engine::RunFolder>> folders(race.size());
    if (!arguments.out.empty())
        folders = engine::newRunFolders(arguments.out, race);
    TrainSetup setup;
    for (std::size_t i = 0; i < race.size(); ++i)
        addMember(setup, arguments, race[i], std::move(folders[i]), {});
    return setup;
}

/// A checkpoint that was put there from another run, or an experiment.json that was edited.
void requireSameRun(const engine::ResumePoint& point, const Experiment& kept) {
    const fs::path document = point.folder / "experiment.json";
    std::error_code error;
    if (!fs::exists(document, error))
        return;
    const Experiment now = engine::resolved(kept);
    const Experiment start = engine::resolved(engine::readExperiments(document).front());
    for (const engine::FieldSpec& field : engine::experimentSchema()) {
        if (field.live || isLimit(field.path))
            continue;
        const std::string before =
            engine::formatFieldValue(field, engine::getField(start, field.path));
        const std::string after =
            engine::formatFieldValue(field, engine::getField(now, field.path));
        if (before == after)
            continue;
        std::string message = "the checkpoint is of another run: " + point.checkpoint.string();
        message += " has " + field.path + " " + after;
        message += ", " + document.string() + " " + before;
        message += "; start another run with what you want to change";
        throw engine::DataError(message);
    }
}

TrainSetup prepareResumed(const TrainArguments& arguments,
                          const std::vector<FieldOverride>& overrides,
                          const std::vector<ScriptedChange>& script) {
    requireNothingBesideResume(arguments);
    const auto points = engine::findResumePoints(arguments.resume);
    TrainSetup setup;
    std::vector<FieldOverride> limits;
    for (const FieldOverride& change : overrides) {
        if (isLimit(change.field->path)) {
            limits.push_back(change);
            continue;
        }
        if (!change.field->live)
            throw ExperimentError(change.field->path,
                                  "it cannot change in a resumed run: " + change.field->path +
                                      " (" + change.field->option + "); start another run with it");
        setup.changes.push_back({change.field->path, change.value, engine::MemoryChange::Keep});
    }
    std::vector<Experiment> race;
    race.reserve(points.size());
    for (const engine::ResumePoint& point : points) {
        race.push_back(engine::readCheckpointExperiment(point.checkpoint));
        requireSameRun(point, race.back());
    }
    requireConsistent(arguments, race);
    requireKnownRuns(script, race);
    applyOverrides(limits, race);
    // What the changes would make must be valid before anything starts.
    std::vector<Experiment> changed = race;
    applyOverrides(overrides, changed);
    (void)engine::requireValidRace(changed);
    for (std::size_t i = 0; i < race.size(); ++i) {
        const std::uint64_t step = engine::readCheckpointStep(points[i].checkpoint);
        addMember(setup, arguments, race[i],
                  std::make_unique<engine::RunFolder>(points[i].folder, step),
                  points[i].checkpoint);
    }
    return setup;
}

} // namespace

void MemberSink::record(const engine::Record& record) {
    for (const auto& file : files)
        file->record(record);
    buffer.record(record);
}

void MemberSink::snapshot(const std::shared_ptr<const engine::GradientSnapshot>& snapshot) {
    for (const auto& file : files)
        file->snapshot(snapshot);
}

void MemberSink::flush() {
    for (const auto& file : files)
        file->flush();
}

std::vector<Experiment> requestedRace(const TrainArguments& arguments,
                                      const std::vector<FieldOverride>& overrides) {
    std::vector<Experiment> race{engine::defaultExperiment()};
    if (!arguments.file.empty())
        race = engine::readExperiments(arguments.file);
    applyOverrides(overrides, race);
    requireConsistent(arguments, race);
    (void)engine::requireValidRace(race); // warnings become events of the run
    return race;
}

TrainSetup prepareTraining(const TrainArguments& arguments,
                           const std::vector<FieldOverride>& overrides) {
    std::vector<ScriptedChange> script;
    script.reserve(arguments.changes.size());
    for (const std::string& text : arguments.changes)
        script.push_back(parseScriptedChange(text));
    const auto prepare = !arguments.fork.empty()    ? prepareForked
                         : arguments.resume.empty() ? prepareNew
                                                    : prepareResumed;
    TrainSetup setup = prepare(arguments, overrides, script);
    setup.script = std::move(script);
    return setup;
}

} // namespace gradlab::app
