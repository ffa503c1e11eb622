// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/seed_series.h"

#include "app/cli/program_error.h"
#include "app/cli/seed_report.h"
#include "app/cli/train_setup.h"
#include "engine/core/atomic_file.h"
#include "engine/core/errors.h"
#include "engine/metrics/run_folder.h"
#include "engine/metrics/run_log.h"
#include "engine/training/experiment_schema.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <utility>

namespace gradlab::app {

namespace fs = std::filesystem;
using engine::DataError;
using engine::Experiment;
using engine::ExperimentError;

namespace {

constexpr const char* kSeedsFile = "seeds.json";
constexpr const char* kExperimentFile = "experiment.json";

fs::path runFolder(const fs::path& series, std::int64_t seed) {
    return series / ("seed-" + std::to_string(seed));
}

std::vector<std::int64_t> readSeeds(const fs::path& file) {
    std::ifstream stream(file);
    try {
        return nlohmann::json::parse(stream).at("seeds").get<std::vector<std::int64_t>>();
    } catch (const nlohmann::json::exception&) {
        throw DataError("not a list of seeds: " + file.string() +
                        "; resume the runs beside it one by one");
    }
}

void writeFile(const fs::path& path, const std::string& text) {
    engine::AtomicFile file(path);
    file.write(text);
    file.commit();
}

std::vector<std::string> namesOf(const std::vector<Experiment>& race) {
    std::vector<std::string> names;
    names.reserve(race.size());
    for (const Experiment& experiment : race)
        names.push_back(engine::displayName(experiment));
    return names;
}

/// How the experiments of a run's folder ended; none for one that can go on.
std::vector<std::optional<engine::EndRecord>> endsOf(const fs::path& folder,
                                                     const std::vector<Experiment>& race) {
    std::vector<std::optional<engine::EndRecord>> ends(race.size());
    for (std::size_t i = 0; i < race.size(); ++i) {
        const fs::path own =
            race.size() == 1 ? folder : folder / engine::raceFolderName(i, race[i]);
        if (!fs::exists(own / "summary.json")) // written at a run's end
            continue;
        for (const engine::Record& record : engine::readRunLog(own / "metrics.jsonl"))
            if (const auto* end = std::get_if<engine::EndRecord>(&record))
                ends[i] = *end;
        if (ends[i] && ends[i]->reason == "stopped")
            ends[i].reset();
    }
    return ends;
}

void requireSeedsAlone(const TrainArguments& arguments,
                       const std::vector<FieldOverride>& overrides) {
    if (!arguments.log.empty() || !arguments.save.empty())
        throw ExperimentError("", std::string("one file for several seeds: ") +
                                      (arguments.log.empty() ? "--save" : "--log") +
                                      "; give --out, which has a folder for each");
    for (const FieldOverride& change : overrides)
        if (change.field->path == "training.seed")
            throw ExperimentError(
                change.field->path,
                "--seed beside --seeds: training.seed (--seed); give one of them");
    std::vector<std::int64_t> seeds = arguments.seeds;
    std::sort(seeds.begin(), seeds.end());
    const auto twice = std::adjacent_find(seeds.begin(), seeds.end());
    if (twice != seeds.end())
        throw ExperimentError("", "seed " + std::to_string(*twice) +
                                      " is given twice: --seeds; give each once");
}

/// The runs of one series, one after the other.
class Series {
public:
    Series(const TrainArguments& arguments, std::vector<FieldOverride> overrides,
           const std::vector<Experiment>& race, std::vector<std::int64_t> seeds, fs::path folder,
           const TrainOnce& trainOnce)
        : arguments_(arguments), overrides_(std::move(overrides)), race_(race),
          seeds_(std::move(seeds)), folder_(std::move(folder)), trainOnce_(trainOnce),
          report_(namesOf(race)) {}

    int run() {
        int exitCode = kExitDone;
        for (const std::int64_t seed : seeds_) {
            const int one = runSeed(seed);
            if (one == kExitInterrupted)
                return one;
            exitCode = std::max(exitCode, one);
            writeReport();
        }
        if (!arguments_.quiet)
            std::cout << report_.table() << std::flush;
        return exitCode;
    }
    /// What resuming needs.
    void writeDocuments() const {
        std::error_code failed; // the writer says what is wrong
        fs::create_directories(folder_, failed);
        writeFile(folder_ / kExperimentFile,
                  race_.size() == 1 ? engine::toJson(race_.front()) : engine::raceToJson(race_));
        writeReport();
    }
    /// Leaves nothing where no run began.
    void removeUnbegun() const {
        if (folder_.empty() || fs::exists(runFolder(folder_, seeds_.front())))
            return;
        std::error_code failed; // what cannot be removed stays
        fs::remove(folder_ / kExperimentFile, failed);
        fs::remove(folder_ / kSeedsFile, failed);
        fs::remove(folder_, failed);
    }

private:
    void writeReport() const {
        if (!folder_.empty())
            writeFile(folder_ / kSeedsFile, report_.json(seeds_));
    }

    int runSeed(std::int64_t seed) {
        TrainArguments arguments = arguments_;
        std::vector<FieldOverride> overrides = overrides_;
        arguments.series = folder_.string();
        if (!folder_.empty()) {
            const fs::path own = runFolder(folder_, seed);
            arguments.resume.clear();
            arguments.out.clear();
            if (fs::exists(own)) {
                auto ends = endsOf(own, race_);
                if (std::ranges::all_of(ends, [](const auto& end) { return end.has_value(); })) {
                    report_.add(seed, std::move(ends));
                    return kExitDone;
                }
                arguments.file.clear();
                arguments.resume = own.string();
                overrides.clear();
            } else {
                arguments.out = own.string();
            }
        }
        if (arguments.resume.empty())
            overrides.push_back({engine::findField("training.seed"), seed});
        if (!arguments.quiet)
            std::cout << "seed " << seed << std::endl;
        try {
            TrainOutcome outcome = trainOnce_(arguments, overrides);
            if (outcome.exitCode != kExitInterrupted)
                report_.add(seed, std::move(outcome.ends));
            return outcome.exitCode;
        } catch (const engine::NumericError&) {
            report_.add(seed, {});
            return reportError(describeProgramError(std::current_exception()));
        }
    }

    const TrainArguments& arguments_;
    std::vector<FieldOverride> overrides_;
    const std::vector<Experiment>& race_;
    std::vector<std::int64_t> seeds_;
    fs::path folder_; ///< empty: nothing is kept
    const TrainOnce& trainOnce_;
    SeedReport report_;
};

int resumeSeries(const TrainArguments& arguments, const std::vector<FieldOverride>& overrides,
                 const TrainOnce& trainOnce) {
    if (!arguments.seeds.empty() || !overrides.empty() || !arguments.file.empty() ||
        !arguments.out.empty())
        throw ExperimentError("", "runs from several seeds go on as they were: --resume " +
                                      arguments.resume + "; leave out what else is given");
    const fs::path folder = arguments.resume;
    const fs::path document = folder / kExperimentFile;
    const std::vector<Experiment> race = engine::readExperiments(document);
    TrainArguments rest = arguments;
    rest.file = document.string();
    return Series(rest, {}, race, readSeeds(folder / kSeedsFile), folder, trainOnce).run();
}

} // namespace

bool isSeedSeries(const std::string& folder) {
    std::error_code error;
    return !folder.empty() && fs::is_regular_file(fs::path(folder) / kSeedsFile, error);
}

int runSeedSeries(const TrainArguments& arguments, const std::vector<FieldOverride>& overrides,
                  const TrainOnce& trainOnce) {
    requireSeedsAlone(arguments, overrides);
    if (!arguments.resume.empty())
        return resumeSeries(arguments, overrides, trainOnce);
    const std::vector<Experiment> race = requestedRace(arguments, overrides);
    if (!arguments.out.empty())
        (void)engine::newRunFolders(arguments.out, race); // refuses one that is used
    Series series(arguments, overrides, race, arguments.seeds, arguments.out, trainOnce);
    if (arguments.out.empty())
        return series.run();
    series.writeDocuments();
    try {
        return series.run();
    } catch (...) {
        series.removeUnbegun();
        throw;
    }
}

} // namespace gradlab::app
