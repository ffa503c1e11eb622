// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/bench_suite.h"

#include "app/cli/bench_json.h"
#include "app/cli/bench_pays.h"
#include "app/cli/transports.h"
#include "engine/benchmark/machine_limits.h"
#include "engine/benchmark/model_benchmark.h"
#include "engine/core/errors.h"
#include "engine/core/version.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>
#include <array>
#include <set>
#include <thread>
#include <utility>

namespace gradlab::app {

using Json = nlohmann::ordered_json;
using engine::Experiment;

namespace {

struct StudyModel {
    const char* name;
    std::int64_t hidden;
};
constexpr std::array kModels = {StudyModel{"small", 100}, StudyModel{"medium", 300},
                                StudyModel{"large", 500}};

std::int64_t hiddenOf(const std::string& model) {
    for (const StudyModel& known : kModels)
        if (model == known.name)
            return known.hidden;
    throw engine::ExperimentError("", "there is no model '" + model +
                                          "': --models; give some of small, medium, large");
}

/// A method with the parameters that a cell asks for.
struct Variant {
    const char* method;
    double ratio = 0.0;      ///< 0: the default
    std::int64_t levels = 0; ///< 0: the default
    const char* values = "auto";
    const char* levelCode = "auto";
};

void apply(const Variant& variant, Experiment& experiment) {
    experiment.compression.method = variant.method;
    experiment.compression.values = variant.values;
    experiment.compression.levelCode = variant.levelCode;
    if (variant.ratio > 0.0)
        engine::setField(experiment, "compression.ratio", variant.ratio);
    if (variant.levels > 0)
        engine::setField(experiment, "compression.levels", variant.levels);
}

constexpr std::array kCompressed = {
    Variant{"none"},
    Variant{"none", 0.0, 0, "f16"},
    Variant{"topk", 0.01},
    Variant{"topk", 0.001},
    Variant{"topk", 0.0001},
    Variant{"topk-sort", 0.01},
    Variant{"randomk", 0.01},
    Variant{"randomk", 0.001},
    Variant{"randomk", 0.0001},
    Variant{"dgc", 0.01},
    Variant{"dgc", 0.001},
    Variant{"qsgd", 0.0, 64, "auto", "fixed"},
    Variant{"qsgd", 0.0, 64},
    Variant{"qsgd", 0.0, 4},
};

constexpr std::array kTrained = {
    Variant{"none"},       Variant{"none", 0.0, 0, "f16"},
    Variant{"topk", 0.01}, Variant{"randomk", 0.01},
    Variant{"dgc", 0.01},  Variant{"qsgd", 0.0, 64, "auto", "fixed"},
};

/// One measurement: about how much work it is, and how it adds its result.
struct Task {
    std::string what;
    double work;
    std::function<void(Json&)> run;
};

class Suite {
public:
    explicit Suite(const BenchSuite& suite)
        : suite_(suite),
          cores_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {
        addLimits();
        for (const std::string& model : suite.models)
            addKernels(model);
        for (const Variant& variant : kCompressed)
            addCompression(variant);
        for (const std::string& model : suite.models)
            for (const std::int64_t workers : suite.workers)
                for (const Variant& variant : kTrained)
                    addTraining(model, workers, variant);
    }

    Json run(const BenchProgress& progress) {
        Json document = {{"schema", 1},
                         {"version", std::string(engine::version())},
                         {"cpu", engine::cpuName()},
                         {"isa", std::string(engine::isaLevel())},
                         {"cores", cores_},
                         {"limits", Json::object()},
                         {"kernels", Json::array()},
                         {"compress", Json::array()},
                         {"train", Json::array()}};
        double all = 0.0;
        for (const Task& task : tasks_)
            all += task.work;
        double done = 0.0;
        for (const Task& task : tasks_) {
            progress(task.what, done / all);
            task.run(document);
            done += task.work;
        }
        addPays(document);
        return document;
    }

private:
    // Rough seconds of one core; only their proportions count.
    static constexpr double kFlopsASecond = 1e11;

    [[nodiscard]] std::set<int> threadCounts() const { return {1, cores_}; }

    [[nodiscard]] static std::vector<std::pair<const char*, engine::Precision>>
    measuredPrecisions() {
        std::vector<std::pair<const char*, engine::Precision>> all = {
            {"f32", engine::Precision::F32}, {"f64", engine::Precision::F64}};
        if (engine::bf16Ability() == engine::Bf16Ability::Ready)
            all.emplace_back("bf16", engine::Precision::BF16);
        return all;
    }

    void addLimits() {
        for (const int threads : threadCounts()) {
            const std::string key = std::to_string(threads);
            tasks_.push_back({"copying, " + key + " threads", 1.0, [=](Json& document) {
                                  constexpr std::size_t kBytes = std::size_t{64} << 20U;
                                  document["limits"]["copy_bytes_per_second"][key] =
                                      engine::measureCopyRate(kBytes, threads);
                              }});
            for (const auto& [name, precision] : measuredPrecisions())
                tasks_.push_back({"products, " + key + " threads", 1.0,
                                  [=, type = std::string(name), which = precision](Json& document) {
                                      document["limits"]["product_gflops"][type][key] =
                                          engine::measureProductGflops(which, threads);
                                  }});
        }
    }

    [[nodiscard]] double tokenFlops(const std::string& model) const {
        const auto h = static_cast<double>(hiddenOf(model));
        return 6.0 * (static_cast<double>(suite_.vocabulary) * h + 16.0 * h * h);
    }

    void addKernels(const std::string& model) {
        const auto tokens = static_cast<double>(suite_.batch * suite_.bptt);
        for (const int threads : threadCounts())
            tasks_.push_back(
                {"kernels of the " + model + " model",
                 6.0 * tokens * tokenFlops(model) / kFlopsASecond,
                 [this, model, threads](Json& document) {
                     const double limit =
                         document["limits"]["product_gflops"]["f32"][std::to_string(threads)];
                     const engine::ModelShape shape{static_cast<std::size_t>(suite_.vocabulary),
                                                    static_cast<std::size_t>(hiddenOf(model)), 2,
                                                    true};
                     for (const engine::KernelCost& cost : engine::measureModelKernels(
                              shape, static_cast<std::size_t>(suite_.bptt),
                              static_cast<std::size_t>(suite_.batch), threads)) {
                         const double gflops = 1e-9 * cost.flops / cost.seconds;
                         document["kernels"].push_back({{"model", model},
                                                        {"kernel", cost.name},
                                                        {"size", cost.size},
                                                        {"threads", threads},
                                                        {"seconds", cost.seconds},
                                                        {"gflops", gflops},
                                                        {"share_of_limit", gflops / limit}});
                     }
                 }});
    }

    void addCompression(const Variant& variant) {
        engine::CompressionBenchmark request;
        request.experiment = engine::defaultExperiment();
        request.experiment.cluster.workers = 1;
        request.experiment.cluster.threads = 1;
        apply(variant, request.experiment);
        request.elements = static_cast<std::size_t>(suite_.elements);
        request.rounds = static_cast<int>(suite_.rounds);
        const double work = static_cast<double>(suite_.elements * suite_.rounds) * 3e-9;
        tasks_.push_back({"compressing, " + engine::displayName(request.experiment), work,
                          [request](Json& document) {
                              document["compress"].push_back(
                                  compressionLine(engine::resolved(request.experiment),
                                                  engine::measureCompression(request)));
                          }});
    }

    void addTraining(const std::string& model, std::int64_t workers, const Variant& variant) {
        Experiment experiment = engine::defaultExperiment();
        experiment.corpus.vocabulary = suite_.vocabulary;
        experiment.model.hidden = hiddenOf(model);
        experiment.training.batch = suite_.batch;
        experiment.training.bptt = suite_.bptt;
        experiment.cluster.workers = workers;
        apply(variant, experiment);
        static_cast<void>(engine::requireValid(experiment)); // before minutes of measuring
        const auto tokens = static_cast<double>(suite_.batch * suite_.bptt);
        const double work =
            static_cast<double>(suite_.steps + 2) * tokens * tokenFlops(model) / kFlopsASecond;
        tasks_.push_back(
            {"training the " + model + " model, " + std::to_string(workers) + " workers, " +
                 engine::displayName(experiment),
             work, [this, model, experiment](Json& document) {
                 Json line{{"model", model}};
                 line.update(trainingLine(
                     engine::resolved(experiment),
                     engine::measureTraining({experiment, static_cast<std::uint64_t>(suite_.steps)},
                                             makeTransports(false))));
                 document["train"].push_back(std::move(line));
             }});
    }

    BenchSuite suite_;
    int cores_;
    std::vector<Task> tasks_;
};

} // namespace

Json runBenchSuite(const BenchSuite& suite, const BenchProgress& progress) {
    return Suite(suite).run(progress);
}

} // namespace gradlab::app
