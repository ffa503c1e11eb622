// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Options by CLI11; files and values by the engine's own parsers, so that the messages are the same
// as everywhere.
#include "app/window_options.h"

#include "app/cli/program_error.h"
#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/training/experiment_schema.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace gradlab::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostSteps = 4'000'000'000;

struct RawOptions {
    std::vector<std::string> files;
    std::vector<std::string> changes;
    std::vector<std::string> actions;
    std::optional<std::string> steps;
    std::string size;
    std::string out;
    std::string screenshot;
    std::string report;
    std::string zoom;
};

constexpr const char* kFooter =
    "Keys: F5 start, Space pause, F10 one step, Shift+F5 stop, F7 add to the queue, X next x "
    "axis,\n"
    "Ctrl+K tuning, Ctrl+G gradient, F11 presentation, P Pareto front, L logarithmic y, + and - "
    "zoom,\n"
    "Ctrl+1 Teach, Ctrl+2 Tune, Ctrl+3 Network.\n"
    "Without a FILE the first-look race is shown.\n\n"
    "Examples:\n"
    "  gradlab --start\n"
    "  gradlab my-race.json --start --out runs/monday\n"
    "  gradlab runs/monday\n"
    "  gradlab runs/monday runs/tuesday --report week.html --quit\n"
    "  gradlab --start --steps 600 --screenshot race.png --quit --size 1280x800\n"
    "  gradlab --start --change \"400:Top-k:compression.memory=residual\"";

void declare(CLI::App& app, WindowOptions& options, RawOptions& raw) {
    app.add_option("FILE", raw.files, "Experiment files, or run folders to look at");
    app.add_flag("--start", options.start, "Start at once");
    app.add_option("--steps", raw.steps, "End every run after this many steps");
    app.add_option("--screenshot", raw.screenshot, "Save the window as PNG once the runs end");
    app.add_option("--report", raw.report,
                   "Save an HTML page about the runs once they end, or about those opened");
    app.add_flag("--quit", options.quit, "Leave then, with the run's exit code");
    app.add_option("--out", raw.out, "Keep the runs in this folder (new or empty)");
    app.add_option("--size", raw.size, "Size of the window, for example 1280x800");
    app.add_option("--theme", options.theme, "Colours (default: the desktop's)")
        ->check(CLI::IsMember({"light", "dark"}));
    app.add_flag("--present", options.present, "Presentation: strip and charts in large type");
    app.add_option("--x-axis", options.xAxis, "What the charts run along")
        ->check(CLI::IsMember({"step", "bytes", "simulated", "wall", "epoch", "tokens"}));
    app.add_option("--zoom", raw.zoom,
                   "Show this part of the x axis in the picture, in its unit: FROM:TO");
    app.add_option("--layout", options.layout,
                   "Arrange the window: teach, tune, network, or a layout that was saved");
    app.add_option("--baseline", options.baseline,
                   "Compare the opened runs with the one whose name begins so");
    app.add_option("--gradient", options.gradient,
                   "Show what is sent of a gradient, with this view below the histogram")
        ->check(CLI::IsMember({"tensors", "overlap", "levels", "map"}));
    app.add_option("--change", raw.changes,
                   "Change a live field after a step: STEP:[RUN:]FIELD=VALUE; may be repeated. A "
                   "method or memory may end in ,keep or ,flush or ,drop: what happens to what "
                   "waits")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.add_option("--worker", raw.actions,
                   "Do something to a worker process after a step: STEP:RANK=ACTION with freeze, "
                   "thaw, kill or leave; may be repeated")
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    app.set_version_flag("--version", "gradlab " + std::string(engine::version()));
    app.footer(kFooter);
}

void readSteps(const std::string& text, WindowOptions& options) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, options.steps);
    if (read.ec != std::errc() || read.ptr != end || options.steps < 1 ||
        options.steps > kMostSteps)
        throw engine::ExperimentError("", "steps is '" + text +
                                              "': --steps; give a whole number in [1, " +
                                              std::to_string(kMostSteps) + "]");
}

void readSize(const std::string& text, WindowOptions& options) {
    const char* end = text.data() + text.size();
    const auto width = std::from_chars(text.data(), end, options.width);
    const bool cross = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
    const auto height = cross ? std::from_chars(width.ptr + 1, end, options.height) : width;
    const bool sane = options.width >= 640 && options.width <= 16384 && options.height >= 480 &&
                      options.height <= 16384;
    if (!cross || height.ec != std::errc() || height.ptr != end || !sane)
        throw engine::ExperimentError("", "not a size: --size " + text +
                                              "; write WIDTHxHEIGHT in pixels, from 640x480 to "
                                              "16384x16384");
}

void readZoom(const std::string& text, WindowOptions& options) {
    const char* end = text.data() + text.size();
    const auto from = std::from_chars(text.data(), end, options.zoomFrom);
    const bool colon = from.ec == std::errc() && from.ptr != end && *from.ptr == ':';
    const auto to = colon ? std::from_chars(from.ptr + 1, end, options.zoomTo) : from;
    if (!colon || to.ec != std::errc() || to.ptr != end || !(options.zoomFrom < options.zoomTo) ||
        !std::isfinite(options.zoomTo - options.zoomFrom))
        throw engine::ExperimentError("", "not a part of an axis: --zoom " + text +
                                              "; write FROM:TO, for example 100:200");
}

void requireWritable(const char* option, const fs::path& file) {
    std::error_code error;
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::current_path(error);
    if (!file.empty() && !fs::is_directory(folder, error))
        throw engine::ExperimentError("", "the folder does not exist: " + std::string(option) +
                                              " " + file.string() + "; create " + folder.string() +
                                              " first");
}

void readFiles(const RawOptions& raw, WindowOptions& options) {
    for (const std::string& name : raw.files) {
        std::error_code error;
        if (fs::is_directory(name, error)) {
            options.runFolders.emplace_back(name);
            continue;
        }
        options.experimentFile = options.experiments.empty() ? name : std::string();
        for (engine::Experiment& experiment : engine::readExperiments(name))
            options.experiments.push_back(std::move(experiment));
    }
}

void requireLimitsAndValidity(WindowOptions& options) {
    if (options.experiments.empty() && options.runFolders.empty())
        options.experiments = firstLookRace();
    for (engine::Experiment& experiment : options.experiments) {
        if (options.steps != 0)
            experiment.training.steps = static_cast<std::int64_t>(options.steps);
        // With --start an invalid experiment ends the program; else the form shows what is wrong.
        if (options.start || options.quit)
            engine::requireValid(experiment);
    }
    if (options.start && options.experiments.empty())
        throw engine::ExperimentError("", "nothing to run: --start; name an experiment file");
}

/// No worker process would do what is asked of one that never exists.
void requireKnownWorkers(const RawOptions& raw, const WindowOptions& options) {
    std::int64_t workers = 0;
    for (const engine::Experiment& run : options.experiments)
        if (run.cluster.transport == "zmq")
            workers = std::max(workers, run.cluster.workers);
    for (std::size_t i = 0; i < options.actions.size(); ++i) {
        const std::string where = ": --worker " + raw.actions[i];
        if (workers == 0)
            throw engine::ExperimentError("cluster.transport",
                                          "no run has worker processes" + where +
                                              "; give an experiment with transport zmq");
        if (options.actions[i].rank >= workers)
            throw engine::ExperimentError(
                "cluster.workers", "no run has a worker " +
                                       std::to_string(options.actions[i].rank) + where +
                                       "; give a rank from 0 to " + std::to_string(workers - 1));
    }
}

void interpret(const RawOptions& raw, WindowOptions& options) {
    options.out = raw.out;
    options.screenshot = raw.screenshot;
    if (raw.steps)
        readSteps(*raw.steps, options);
    if (!raw.size.empty())
        readSize(raw.size, options);
    options.report = raw.report;
    if (!raw.zoom.empty())
        readZoom(raw.zoom, options);
    requireWritable("--screenshot", options.screenshot);
    requireWritable("--report", options.report);
    for (const std::string& text : raw.changes)
        options.script.push_back(parseScriptedChange(text));
    for (const std::string& text : raw.actions)
        options.actions.push_back(parseScriptedAction(text));
    readFiles(raw, options);
    requireLimitsAndValidity(options);
    requireKnownRuns(options.script, options.experiments);
    requireKnownWorkers(raw, options);
}

WindowCommand ended(int exitCode, std::string text) {
    WindowCommand command;
    command.exitCode = exitCode;
    command.text = std::move(text);
    return command;
}

/// What follows the program's name, last word first as CLI11 wants it, without Qt's "-platform X".
std::vector<std::string> withoutToolkitOptions(int argc, const char* const* argv) {
    std::vector<std::string> words;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "-platform")
            ++i;
        else
            words.push_back(word);
    }
    std::reverse(words.begin(), words.end());
    return words;
}

std::string firstLine(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

} // namespace

WindowCommand readCommandLine(int argc, const char* const* argv) {
    WindowCommand command;
    RawOptions raw;
    CLI::App app("See what gradient compression does to distributed training.", "gradlab");
    declare(app, command.options, raw);
    try {
        std::vector<std::string> words = withoutToolkitOptions(argc, argv);
        app.parse(words);
        interpret(raw, command.options);
    } catch (const CLI::CallForHelp&) {
        return ended(0, app.help());
    } catch (const CLI::CallForVersion& version) {
        return ended(0, std::string(version.what()) + "\n");
    } catch (const CLI::ParseError& error) {
        return ended(2, "gradlab: " + firstLine(error.what()) + "; see gradlab --help\n");
    } catch (const std::exception&) {
        const ProgramError error = describeProgramError(std::current_exception());
        return ended(error.exitCode, "gradlab: " + error.message + "\n");
    }
    return command;
}

} // namespace gradlab::app
