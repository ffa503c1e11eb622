// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.h"

#include "app/cli/help_text.h"
#include "app/cli/program_error.h"
#include "app/cli/schema_options.h"
#include "app/cli/train_command.h"
#include "engine/core/errors.h"
#include "engine/core/version.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace gradlab::app {

namespace {

/// Everything that the parser fills; at a fixed address while it does.
struct Parser {
    CLI::App app;
    CLI::App* train = nullptr;
    SchemaOptions trainFields;
    TrainArguments trainArguments;
    bool help = false;
    bool version = false;
};

/// --help and --version of a command. Help is our own text, so the parser's is off.
void addCommonFlags(Parser& parser, CLI::App& command) {
    command.set_help_flag();
    command.add_flag("-h,--help", parser.help);
    command.add_flag("--version", parser.version);
}

void addTrain(Parser& parser) {
    parser.train = parser.app.add_subcommand("train");
    addCommonFlags(parser, *parser.train);
    TrainArguments& arguments = parser.trainArguments;
    parser.train->add_option("FILE", arguments.file);
    parser.train->add_option("--out", arguments.out);
    parser.train->add_option("--log", arguments.log);
    parser.train->add_option("--resume", arguments.resume);
    parser.train->add_option("--save", arguments.save);
    parser.train->add_flag("--per-worker", arguments.perWorker);
    parser.train->add_flag("--quiet", arguments.quiet);
    parser.trainFields.addTo(*parser.train);
}

std::string versionLine() {
    return "gradlab-cli " + std::string(engine::version()) + " (engine built for " +
           std::string(engine::isaLevel()) + ")\n";
}

/// The parser's own complaint in our form.
engine::ExperimentError parseFailure(const Parser& parser, const CLI::ParseError& error) {
    const std::string command = parser.train->parsed() ? "gradlab-cli train" : "gradlab-cli";
    return {"", std::string(error.what()) + ": " + command + "; see " + command + " --help"};
}

int dispatch(const Parser& parser) {
    if (parser.version) {
        std::cout << versionLine();
        return kExitDone;
    }
    if (parser.help) {
        std::cout << (parser.train->parsed() ? trainHelp() : programHelp());
        return kExitDone;
    }
    if (parser.train->parsed())
        return runTrain(parser.trainArguments, parser.trainFields.overrides());
    throw engine::ExperimentError("", "no command is given: gradlab-cli; give train or compress, "
                                      "or see gradlab-cli --help");
}

} // namespace

int runCommandLine(int argc, char** argv) {
    try {
        Parser parser;
        addCommonFlags(parser, parser.app);
        addTrain(parser);
        try {
            parser.app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            throw parseFailure(parser, error);
        }
        return dispatch(parser);
    } catch (...) {
        return reportError(describeProgramError(std::current_exception()));
    }
}

} // namespace gradlab::app
