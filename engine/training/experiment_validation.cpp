// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What makes sense: ranges of every field, rules between fields, and the values that `auto` stands
// for. Leaves out: what only the text or the files can tell (too few tokens, an init file of
// another shape).
#include "engine/compression/compressor_registry.h"
#include "engine/core/errors.h"
#include "engine/core/json_text.h"
#include "engine/training/experiment_schema.h"
#include "engine/training/field_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <thread>

namespace gradlab::engine {

namespace {

using Severity = ExperimentIssue::Severity;
using Issues = std::vector<ExperimentIssue>;

/// "<wrong>: <path> (<option>); <advice>".
void report(Issues& issues, Severity severity, const std::string& path, const std::string& wrong,
            const std::string& advice) {
    const FieldSpec* field = findField(path);
    const std::string option = field == nullptr ? "" : " (" + field->option + ")";
    issues.push_back({severity, path, wrong + ": " + path + option + "; " + advice});
}

void checkRanges(const Experiment& experiment, Issues& issues) {
    for (const FieldSpec& field : experimentSchema()) {
        const auto problem = valueProblem(field, getField(experiment, field.path));
        if (problem)
            issues.push_back({Severity::Error, field.path, fieldMessage(field, *problem)});
    }
}

void checkCorpus(const CorpusSettings& corpus, Issues& issues) {
    if (corpus.source.empty())
        report(issues, Severity::Error, "corpus.source", "no text is given",
               "give builtin:markov, builtin:kjv, a text file or a folder");
    const bool unknownBuiltin = corpus.source.starts_with("builtin:") &&
                                corpus.source != "builtin:markov" && corpus.source != "builtin:kjv";
    if (unknownBuiltin)
        report(issues, Severity::Error, "corpus.source", "source is " + inQuotes(corpus.source),
               "give builtin:markov, builtin:kjv, a text file or a folder");
    if (corpus.vocabulary == 1 || corpus.vocabulary == 2)
        report(issues, Severity::Error, "corpus.vocabulary",
               "vocabulary is " + std::to_string(corpus.vocabulary) +
                   ", which <eos> and <unk> fill alone",
               "give 0 (all) or at least 3");
}

void checkTraining(const Experiment& experiment, Issues& issues) {
    const TrainingSettings& training = experiment.training;
    const std::int64_t workers = experiment.cluster.workers;
    if (training.batch % workers != 0) {
        const std::int64_t below = training.batch / workers * workers;
        const std::string advice =
            below > 0 ? "give " + std::to_string(below) + " or " + std::to_string(below + workers)
                      : "give " + std::to_string(workers);
        report(issues, Severity::Error, "training.batch",
               "batch " + std::to_string(training.batch) + " is not a multiple of " +
                   std::to_string(workers) + " workers",
               advice);
    }
    if (training.targetPerplexity > 0.0 && training.targetPerplexity <= 1.0)
        report(issues, Severity::Error, "training.target_perplexity",
               "target_perplexity is " + formatReal(training.targetPerplexity) +
                   ", which no model reaches",
               "give a number above 1, or 0 for none");
}

void checkPrecision(const Experiment& experiment, Bf16Ability ability, Issues& issues) {
    if (experiment.training.precision == "bf16" && ability != Bf16Ability::Ready)
        report(issues, Severity::Error, "training.precision",
               "cannot train in bf16, " + std::string(whyNotBf16(ability)),
               "give f32 or f64 (--values bf16 sends 16-bit values)");
}

void throwFirstError(const Issues& issues) {
    if (!issues.empty() && issues.front().severity == Severity::Error)
        throw ExperimentError(issues.front().field, issues.front().message);
}

void checkCompression(const Experiment& experiment, Issues& issues) {
    const CompressionSettings settings =
        resolvedCompression(experiment.compression, experiment.training.precision);
    const std::string error = compressionError(settings);
    if (!error.empty())
        report(issues, Severity::Error, "compression.memory", error,
               "see gradlab-cli train --help for what goes together");
    if (settings.memory == "dgc" && experiment.training.momentum > 0.0)
        report(issues, Severity::Error, "training.momentum",
               "momentum " + formatReal(experiment.training.momentum) +
                   " would be applied twice: the dgc memory has its own (dgc_momentum)",
               "give 0, or another memory");
    // The recurrent weights are always there, so the warning is certain even before the text is
    // read.
    const auto hidden = static_cast<std::size_t>(experiment.model.hidden);
    const auto layers = static_cast<std::size_t>(experiment.model.layers);
    const std::size_t unit =
        settings.scope == "model" ? layers * 8 * hidden * hidden : 4 * hidden * hidden;
    const std::string risk = error.empty() ? compressionRisk(settings, unit) : std::string();
    if (!risk.empty())
        report(issues, Severity::Warning, "compression.memory", risk,
               "give --memory none, more levels or a smaller bucket");
}

void checkCluster(const ClusterSettings& cluster, Issues& issues) {
    if (cluster.waitFor > cluster.workers)
        report(issues, Severity::Error, "cluster.wait_for",
               "wait_for is " + std::to_string(cluster.waitFor) + " of " +
                   std::to_string(cluster.workers) + " workers",
               "give at most the number of workers");
    const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
    if (cores > 0 && cluster.threads > cores)
        report(issues, Severity::Warning, "cluster.threads",
               std::to_string(cluster.threads) + " threads on " + std::to_string(cores) +
                   " cores only wait for each other",
               "give at most " + std::to_string(cores));
}

/// What all entries of a race must agree on: the same text read by the same model from the same
/// start.
bool mustBeShared(std::string_view path) {
    return path.starts_with("corpus.") || path == "training.seed" ||
           (path.starts_with("model.") && path != "model.dropout");
}

void requireShared(const std::vector<Experiment>& race, std::size_t index) {
    for (const FieldSpec& field : experimentSchema()) {
        if (!mustBeShared(field.path))
            continue;
        const FieldValue first = getField(race.front(), field.path);
        const FieldValue value = getField(race[index], field.path);
        if (first == value)
            continue;
        throw ExperimentError(field.path,
                              "a race shares text, model and seed, but experiment " +
                                  std::to_string(index + 1) + " has " +
                                  inQuotes(formatFieldValue(field, value)) + " and the first " +
                                  inQuotes(formatFieldValue(field, first)) + ": " + field.path +
                                  "; give both the same, or run them apart");
    }
}

std::string ratioName(double ratio) {
    // A ratio such as 0.01 has no exact double; twelve digits hide that and keep every sensible
    // one.
    const double percent = ratio * 100.0;
    std::string text = formatReal(percent);
    if (text.size() > 8) {
        std::array<char, 32> digits{};
        const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(),
                                                percent, std::chars_format::general, 4);
        if (error == std::errc{})
            text.assign(digits.data(), end);
    }
    return text + " %";
}

} // namespace

std::vector<ExperimentIssue> validate(const Experiment& experiment, Bf16Ability ability) {
    Issues issues;
    checkRanges(experiment, issues);
    if (!issues.empty())
        return issues; // rules between fields assume that each is in its range
    checkCorpus(experiment.corpus, issues);
    checkTraining(experiment, issues);
    checkPrecision(experiment, ability, issues);
    checkCompression(experiment, issues);
    checkCluster(experiment.cluster, issues);
    std::stable_partition(issues.begin(), issues.end(), [](const ExperimentIssue& issue) {
        return issue.severity == Severity::Error;
    });
    return issues;
}

std::vector<ExperimentIssue> requireValid(const Experiment& experiment) {
    auto issues = validate(experiment);
    throwFirstError(issues);
    return issues;
}

void requirePrecision(const Experiment& experiment, Bf16Ability ability) {
    Issues issues;
    checkPrecision(experiment, ability, issues);
    throwFirstError(issues);
}

std::vector<ExperimentIssue> requireValidRace(const std::vector<Experiment>& race) {
    if (race.empty())
        throw ExperimentError("race", "a race without an experiment: race; give at least one");
    Issues warnings;
    for (std::size_t i = 0; i < race.size(); ++i) {
        requireShared(race, i);
        for (ExperimentIssue issue : requireValid(race[i])) {
            if (race.size() > 1)
                issue.message = displayName(race[i]) + ": " + issue.message;
            warnings.push_back(std::move(issue));
        }
    }
    return warnings;
}

std::string displayName(const Experiment& experiment) {
    if (!experiment.name.empty())
        return experiment.name;
    const CompressionSettings settings =
        resolvedCompression(experiment.compression, experiment.training.precision);
    const MethodInfo* method = findMethod(settings.method);
    if (method == nullptr || settings.method == "none")
        return "No compression";
    std::string name = method->label;
    const FieldValue detail =
        getField(experiment, method->sparse ? "compression.ratio" : "compression.levels");
    if (const auto* ratio = std::get_if<double>(&detail))
        name += " " + ratioName(*ratio);
    else if (const auto* levels = std::get_if<std::int64_t>(&detail))
        name += " s=" + std::to_string(*levels);
    if (method->sparse && settings.memory == "none")
        name += ", no memory";
    return name;
}

bool isFieldUsed(const FieldSpec& field, const Experiment& experiment) {
    const CompressionSettings settings =
        resolvedCompression(experiment.compression, experiment.training.precision);
    return std::all_of(field.usedWhen.begin(), field.usedWhen.end(), [&](const UsedWhen& when) {
        std::string value;
        if (when.path == "compression.memory")
            value = settings.memory; // `auto` counts as what it stands for
        else if (const FieldSpec* other = findField(when.path))
            value = formatFieldValue(*other, getField(experiment, when.path));
        return std::find(when.values.begin(), when.values.end(), value) != when.values.end();
    });
}

Experiment resolved(const Experiment& experiment) {
    Experiment result = experiment;
    result.compression = resolvedCompression(experiment.compression, experiment.training.precision);
    if (result.cluster.threads == 0)
        result.cluster.threads = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(std::thread::hardware_concurrency()));
    return result;
}

} // namespace gradlab::engine
