// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/compress_command.h"

#include "app/cli/program_error.h"
#include "engine/compression/gradient_file.h"
#include "engine/core/errors.h"
#include "engine/core/json_text.h"
#include "engine/training/experiment_schema.h"

#include <iostream>

namespace gradlab::app {

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
    // Random numbers count steps in 32 bits, from 1.
    if (arguments.step < 1 || arguments.step > 4'000'000'000U)
        throw engine::ExperimentError("", "step is " + std::to_string(arguments.step) +
                                              ": --step; give a whole number in [1, 4000000000]");
    engine::GradientFileRequest request;
    request.experiment = experimentOf(overrides);
    request.input = arguments.input;
    request.output = arguments.output;
    request.stateIn = arguments.stateIn;
    request.stateOut = arguments.stateOut;
    request.uniforms = arguments.uniforms;
    request.step = arguments.step;
    request.epoch = arguments.epoch;
    std::string lines;
    for (const engine::UnitCost& cost : engine::compressGradientFile(request))
        lines += costLine(cost);
    std::cout << lines << std::flush;
    return kExitDone;
}

} // namespace gradlab::app
