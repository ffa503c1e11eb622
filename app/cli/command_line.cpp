// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.h"

#include "app/cli/bench_command.h"
#include "app/cli/compress_command.h"
#include "app/cli/help_text.h"
#include "app/cli/keygen_command.h"
#include "app/cli/probe_command.h"
#include "app/cli/program_error.h"
#include "app/cli/schema_options.h"
#include "app/cli/train_command.h"
#include "app/cli/worker_command.h"
#include "engine/core/errors.h"
#include "engine/core/version.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <functional>
#include <iostream>
#include <limits>
#include <sstream>

namespace gradlab::app {

namespace {

constexpr std::int64_t kMostCounted = 4'000'000'000;
constexpr std::int64_t kMostRejoin = 365LL * 24 * 3600; // seconds
constexpr std::int64_t kMostThreads = 4096;
constexpr std::int64_t kMostElements = 1 << 30;
constexpr std::int64_t kMostWorkers = 4096;
constexpr std::int64_t kMostSeed = 4'294'967'295;

/// Everything that the parser fills; at a fixed address while it does.
struct Parser {
    CLI::App app;
    CLI::App* train = nullptr;
    SchemaOptions trainFields;
    TrainArguments trainArguments;
    CLI::App* compress = nullptr;
    SchemaOptions compressFields;
    CompressArguments compressArguments;
    CLI::App* worker = nullptr;
    WorkerArguments workerArguments;
    CLI::App* keygen = nullptr;
    KeygenArguments keygenArguments;
    CLI::App* probe = nullptr;
    SchemaOptions probeFields;
    ProbeArguments probeArguments;
    CLI::App* bench = nullptr;
    BenchArguments benchArguments;
    CLI::App* benchCompress = nullptr;
    SchemaOptions benchCompressFields;
    BenchCompressArguments benchCompressArguments;
    CLI::App* benchTrain = nullptr;
    SchemaOptions benchTrainFields;
    bool help = false;
    bool version = false;
};

/// --help and --version of a command. Help is our own text, so the parser's is off.
void addCommonFlags(Parser& parser, CLI::App& command) {
    command.set_help_flag();
    command.add_flag("-h,--help", parser.help);
    command.add_flag("--version", parser.version);
}

/// An empty path is a shell variable that was not set, never a wish.
CLI::Validator named() {
    return {[](const std::string& text) {
                return text.empty() ? std::string("is empty; give a name, or leave the option out")
                                    : std::string();
            },
            ""};
}

/// The parser's own complaint would not say which numbers an option takes.
std::int64_t wholeNumber(const std::string& option, const std::string& text, std::int64_t least,
                         std::int64_t most) {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const bool whole = read.ec == std::errc() && read.ptr == end;
    if (whole && value >= least && value <= most)
        return value;
    throw engine::ExperimentError("", option.substr(2) + " is " +
                                          (whole ? text : "'" + text + "'") + ": " + option +
                                          "; give a whole number in [" + std::to_string(least) +
                                          ", " + std::to_string(most) + "]");
}

/// An option that takes a whole number.
void addWhole(CLI::App& command, const std::string& option, std::int64_t& target,
              std::int64_t least, std::int64_t most) {
    const std::function<void(const std::string&)> take = [option, &target, least,
                                                          most](const std::string& text) {
        target = wholeNumber(option, text, least, most);
    };
    command.add_option_function(option, take);
}

/// The same for several, separated by commas.
void addWholeList(CLI::App& command, const std::string& option, std::vector<std::int64_t>& target,
                  std::int64_t least, std::int64_t most) {
    const std::function<void(const std::string&)> take = [option, &target, least,
                                                          most](const std::string& text) {
        target.clear();
        std::istringstream items(text + ','); // so that "" and "1," have an empty last item
        for (std::string item; std::getline(items, item, ',');)
            target.push_back(wholeNumber(option, item, least, most));
    };
    command.add_option_function(option, take);
}

void addTrain(Parser& parser) {
    parser.train = parser.app.add_subcommand("train");
    addCommonFlags(parser, *parser.train);
    TrainArguments& arguments = parser.trainArguments;
    parser.train->add_option("FILE", arguments.file)->check(named());
    parser.train->add_option("--out", arguments.out)->check(named());
    parser.train->add_option("--log", arguments.log)->check(named());
    parser.train->add_option("--resume", arguments.resume)->check(named());
    parser.train->add_option("--fork", arguments.fork)->check(named());
    parser.train->add_option("--save", arguments.save)->check(named());
    addWholeList(*parser.train, "--seeds", arguments.seeds, 0, kMostSeed);
    parser.train->add_option("--change", arguments.changes)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    parser.train->add_flag("--per-worker", arguments.perWorker);
    addWholeList(*parser.train, "--record-gradients", arguments.gradientSteps, 1, kMostCounted);
    parser.train->add_flag("--quiet", arguments.quiet);
    parser.train->add_flag("--insecure", arguments.insecure);
    parser.trainFields.addTo(*parser.train);
}

void addCompress(Parser& parser) {
    parser.compress = parser.app.add_subcommand("compress");
    addCommonFlags(parser, *parser.compress);
    CompressArguments& arguments = parser.compressArguments;
    parser.compress->add_option("--in", arguments.input)->check(named());
    parser.compress->add_option("--out", arguments.output)->check(named());
    parser.compress->add_option("--state", arguments.stateIn)->check(named());
    parser.compress->add_option("--state-out", arguments.stateOut)->check(named());
    parser.compress->add_option("--uniforms", arguments.uniforms)->check(named());
    // Random numbers count steps in 32 bits, from 1.
    addWhole(*parser.compress, "--step", arguments.step, 1, kMostCounted);
    addWhole(*parser.compress, "--epoch", arguments.epoch, 0, kMostCounted);
    parser.compressFields.addTo(*parser.compress, compressFields());
}

void addWorker(Parser& parser) {
    parser.worker = parser.app.add_subcommand("worker");
    addCommonFlags(parser, *parser.worker);
    WorkerArguments& arguments = parser.workerArguments;
    parser.worker->add_option("--connect", arguments.connect);
    parser.worker->add_option("--name", arguments.name);
    parser.worker->add_option("--keys", arguments.keys);
    parser.worker->add_option("--listen", arguments.listen);
    addWhole(*parser.worker, "--rejoin", arguments.rejoin, 0, kMostRejoin);
    addWhole(*parser.worker, "--threads", arguments.threads, 0, kMostThreads);
    // For coordinators: not in the help.
    addWhole(*parser.worker, "--parent-pid", arguments.parentPid, 0,
             std::numeric_limits<std::int32_t>::max());
    parser.worker->add_flag("--insecure", arguments.insecure);
    parser.worker->add_flag("--quiet", arguments.quiet);
}

void addKeygen(Parser& parser) {
    parser.keygen = parser.app.add_subcommand("keygen");
    addCommonFlags(parser, *parser.keygen);
    parser.keygen->add_option("--out", parser.keygenArguments.out)->check(named());
    addWhole(*parser.keygen, "--workers", parser.keygenArguments.workers, 1, kMostWorkers);
}

void addProbe(Parser& parser) {
    parser.probe = parser.app.add_subcommand("probe");
    addCommonFlags(parser, *parser.probe);
    parser.probe->add_option("FILE", parser.probeArguments.file)->check(named());
    parser.probe->add_flag("--insecure", parser.probeArguments.insecure);
    parser.probeFields.addTo(*parser.probe);
}

void addBench(Parser& parser) {
    parser.bench = parser.app.add_subcommand("bench");
    addCommonFlags(parser, *parser.bench);
    parser.bench->require_subcommand(0, 1);
    BenchArguments& all = parser.benchArguments;
    constexpr std::int64_t kMost = 1'000'000;
    parser.bench->add_option("--models", all.models)->check(named());
    parser.bench->add_option("--worker-counts", all.workers)->check(named());
    addWhole(*parser.bench, "--batch", all.suite.batch, 1, kMost);
    addWhole(*parser.bench, "--bptt", all.suite.bptt, 1, kMost);
    addWhole(*parser.bench, "--vocabulary", all.suite.vocabulary, 2, kMost);
    addWhole(*parser.bench, "--steps", all.suite.steps, 1, kMost);
    addWhole(*parser.bench, "--elements", all.suite.elements, 1, kMostElements);
    addWhole(*parser.bench, "--rounds", all.suite.rounds, 1, kMost);
    parser.benchCompress = parser.bench->add_subcommand("compress");
    addCommonFlags(parser, *parser.benchCompress);
    BenchCompressArguments& arguments = parser.benchCompressArguments;
    addWhole(*parser.benchCompress, "--elements", arguments.elements, 1, kMostElements);
    addWhole(*parser.benchCompress, "--rounds", arguments.rounds, 1, kMost);
    parser.benchCompress->add_option("--gradient", arguments.gradient)->check(named());
    parser.benchCompressFields.addTo(*parser.benchCompress, benchCompressFields());
    parser.benchTrain = parser.bench->add_subcommand("train");
    addCommonFlags(parser, *parser.benchTrain);
    parser.benchTrainFields.addTo(*parser.benchTrain, benchTrainFields());
}

/// The name of the command that was given, "bench train" say; empty if none was.
std::string commandOf(const Parser& parser) {
    for (const CLI::App* command : {parser.train, parser.compress, parser.worker, parser.keygen,
                                    parser.probe, parser.bench}) {
        if (command->count() == 0)
            continue;
        std::string name = command->get_name();
        for (const CLI::App* part : command->get_subcommands())
            name += " " + part->get_name();
        return name;
    }
    return {};
}

std::string versionLine() {
    return "gradlab-cli " + std::string(engine::version()) + " (engine built for " +
           std::string(engine::isaLevel()) + ")\n";
}

/// The parser's own complaint in our form.
engine::ExperimentError parseFailure(const Parser& parser, const CLI::ParseError& error) {
    const std::string command = commandOf(parser);
    const std::string program = command.empty() ? "gradlab-cli" : "gradlab-cli " + command;
    std::string wrong = error.what();
    const auto unknown = parser.app.remaining(true);
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) &&
        !unknown.empty()) {
        const std::string& first = unknown.front();
        const char* kind = first.starts_with("-") ? "unknown option "
                           : command.empty()      ? "unknown command "
                                                  : "one argument too many ";
        wrong = kind + ("'" + first + "'");
    }
    return {"", wrong + ": " + program + "; see " + program + " --help"};
}

std::string helpText(const std::string& command) {
    if (command == "train")
        return trainHelp();
    if (command == "worker")
        return workerHelp();
    if (command == "keygen")
        return keygenHelp();
    if (command == "probe")
        return probeHelp();
    if (command.starts_with("bench"))
        return benchHelp();
    return command == "compress" ? compressHelp() : programHelp();
}

int dispatch(const Parser& parser) {
    const std::string command = commandOf(parser);
    if (parser.version) {
        std::cout << versionLine();
        return kExitDone;
    }
    if (parser.help) {
        std::cout << helpText(command);
        return kExitDone;
    }
    if (command == "train")
        return runTrain(parser.trainArguments, parser.trainFields.overrides());
    if (command == "compress")
        return runCompress(parser.compressArguments, parser.compressFields.overrides());
    if (command == "worker")
        return runWorkerCommand(parser.workerArguments);
    if (command == "keygen")
        return runKeygen(parser.keygenArguments);
    if (command == "probe")
        return runProbe(parser.probeArguments, parser.probeFields.overrides());
    if (command == "bench")
        return runBench(parser.benchArguments);
    if (command == "bench compress")
        return runBenchCompress(parser.benchCompressArguments,
                                parser.benchCompressFields.overrides());
    if (command == "bench train")
        return runBenchTrain(parser.benchTrainFields.overrides());
    throw engine::ExperimentError("", "no command is given: gradlab-cli; give train, compress, "
                                      "bench, worker, keygen or probe, or see gradlab-cli --help");
}

} // namespace

int runCommandLine(int argc, char** argv) {
    try {
        Parser parser;
        addCommonFlags(parser, parser.app);
        addTrain(parser);
        addCompress(parser);
        addWorker(parser);
        addKeygen(parser);
        addProbe(parser);
        addBench(parser);
        parser.app.require_subcommand(0, 1);
        try {
            parser.app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            throw parseFailure(parser, error);
        }
        const int exitCode = dispatch(parser);
        // A run goes on without its words; what else is printed is what was asked for.
        if (exitCode == kExitDone && parser.train->count() == 0 && parser.worker->count() == 0 &&
            !std::cout.flush())
            throw engine::DataError("the result cannot be written: standard output; check the disk "
                                    "or the program that reads it");
        return exitCode;
    } catch (...) {
        return reportError(describeProgramError(std::current_exception()));
    }
}

} // namespace gradlab::app
