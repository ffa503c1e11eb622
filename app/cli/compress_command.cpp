// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/compress_command.h"

#include "app/cli/program_error.h"
#include "engine/compression/gradient_file.h"
#include "engine/core/errors.h"
#include "engine/core/json_text.h"
#include "engine/training/experiment_schema.h"

#include <filesystem>
#include <iostream>
#include <utility>

namespace gradlab::app {

namespace fs = std::filesystem;

namespace {

std::string costLine(const engine::UnitCost& cost) {
    engine::JsonLine line;
    line.add("tensor", cost.name);
    line.add("n", cost.elements);
    line.add("selected", cost.selected);
    line.add("bytes_message", cost.bytesMessage);
    line.add("bytes_paper", cost.bytesPaper);
    line.add("bound_bytes", cost.boundBytes);
    line.add("error", cost.error);
    line.add("energy_kept", cost.energyKept);
    line.add("encode_ms", cost.encodeMs);
    line.add("decode_ms", cost.decodeMs);
    return line.finish();
}

/// One worker's share is whatever the file holds: the batch means nothing here and must not be in
/// the way.
engine::Experiment experimentOf(const std::vector<FieldOverride>& overrides) {
    std::vector<engine::Experiment> one{engine::defaultExperiment()};
    one.front().cluster.workers = 1;
    applyOverrides(overrides, one);
    one.front().training.batch = one.front().cluster.workers;
    return one.front();
}

bool sameFile(const fs::path& one, const fs::path& other) {
    std::error_code error;
    return fs::equivalent(one, other, error) ||
           fs::weakly_canonical(one, error) == fs::weakly_canonical(other, error);
}

/// What is written must not take the place of what is read or written besides. Only the memory may
/// be kept where it came from.
void requireOwnFiles(const CompressArguments& arguments) {
    struct Use {
        const char* option;
        const std::string& file;
    };
    const Use out{"--out", arguments.output};
    const Use stateOut{"--state-out", arguments.stateOut};
    const Use in{"--in", arguments.input};
    const Use stateIn{"--state", arguments.stateIn};
    const Use uniforms{"--uniforms", arguments.uniforms};
    const std::vector<std::pair<Use, Use>> pairs = {
        {in, out},      {stateIn, out},       {uniforms, out},
        {in, stateOut}, {uniforms, stateOut}, {out, stateOut}};
    for (const auto& [first, second] : pairs) {
        if (!first.file.empty() && !second.file.empty() && sameFile(first.file, second.file))
            throw engine::ExperimentError(
                "", std::string(second.option) + " would overwrite the file of " + first.option +
                        ": " + second.option + " " + second.file + "; give another file");
    }
}

} // namespace

const std::vector<std::string>& compressFields() {
    static const std::vector<std::string> fields = {"compression.",    "training.precision",
                                                    "training.seed",   "training.lr",
                                                    "cluster.workers", "cluster.threads"};
    return fields;
}

int runCompress(const CompressArguments& arguments, const std::vector<FieldOverride>& overrides) {
    if (arguments.input.empty())
        throw engine::ExperimentError("",
                                      "no gradients are given: --in; give a safetensors file, see "
                                      "gradlab-cli compress --help");
    requireOwnFiles(arguments);
    engine::GradientFileRequest request;
    request.experiment = experimentOf(overrides);
    request.input = arguments.input;
    request.output = arguments.output;
    request.stateIn = arguments.stateIn;
    request.stateOut = arguments.stateOut;
    request.uniforms = arguments.uniforms;
    request.step = static_cast<std::uint64_t>(arguments.step);
    request.epoch = static_cast<std::uint64_t>(arguments.epoch);
    std::string lines;
    for (const engine::UnitCost& cost : engine::compressGradientFile(request))
        lines += costLine(cost);
    std::cout << lines << std::flush;
    return kExitDone;
}

} // namespace gradlab::app
