// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The table of fields: the contract's order and defaults, access by path and option, command lines.
#include "engine/compression/compressor_registry.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <set>

using namespace gradlab::engine;

namespace {

std::string defaultText(const char* path) {
    const FieldSpec* field = findField(path);
    return field == nullptr ? "no such field" : formatFieldValue(*field, field->defaultValue);
}

/// Every field of the contract, in its order.
constexpr std::array kContractFields = {"corpus.source",
                                        "corpus.valid",
                                        "corpus.test",
                                        "corpus.unit",
                                        "corpus.vocabulary",
                                        "model.kind",
                                        "model.hidden",
                                        "model.layers",
                                        "model.tied",
                                        "model.dropout",
                                        "model.init",
                                        "training.batch",
                                        "training.bptt",
                                        "training.epochs",
                                        "training.steps",
                                        "training.patience",
                                        "training.lr",
                                        "training.momentum",
                                        "training.weight_decay",
                                        "training.clip",
                                        "training.precision",
                                        "training.seed",
                                        "training.eval_batch",
                                        "training.eval_every",
                                        "training.checkpoint_every",
                                        "training.target_perplexity",
                                        "training.inspect_every",
                                        "compression.method",
                                        "compression.ratio",
                                        "compression.levels",
                                        "compression.norm",
                                        "compression.bucket",
                                        "compression.scope",
                                        "compression.memory",
                                        "compression.beta",
                                        "compression.gamma",
                                        "compression.memory_units",
                                        "compression.dgc_momentum",
                                        "compression.masking",
                                        "compression.nesterov",
                                        "compression.local_clip",
                                        "compression.sample",
                                        "compression.warmup_epochs",
                                        "compression.pattern",
                                        "compression.scale",
                                        "compression.values",
                                        "compression.indices",
                                        "compression.level_code",
                                        "compression.downlink",
                                        "cluster.workers",
                                        "cluster.threads",
                                        "cluster.transport",
                                        "cluster.topology",
                                        "cluster.overlap",
                                        "cluster.bind",
                                        "cluster.wait_for",
                                        "cluster.keys",
                                        "cluster.on_loss",
                                        "cluster.on_straggler",
                                        "cluster.hash_every",
                                        "cluster.link.bandwidth",
                                        "cluster.link.latency",
                                        "cluster.link.server_bandwidth",
                                        "cluster.link.emulate"};

} // namespace

class TestExperimentSchema : public QObject {
    Q_OBJECT

private slots:
    void contractOrder() {
        const auto& order = kContractFields;
        const auto& schema = experimentSchema();
        // A field of a later method may stand between.
        std::size_t next = 0;
        for (const FieldSpec& field : schema) {
            if (next < order.size() && field.path == order[next])
                ++next;
        }
        QVERIFY2(next == order.size(), next < order.size() ? order[next] : "");
    }

    void contractDefaults_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("value");
        const std::vector<std::pair<const char*, const char*>> defaults = {
            {"corpus.source", "builtin:markov"},
            {"corpus.vocabulary", "10000"},
            {"model.hidden", "64"},
            {"model.layers", "2"},
            {"model.tied", "true"},
            {"training.batch", "32"},
            {"training.bptt", "35"},
            {"training.epochs", "50"},
            {"training.steps", "0"},
            {"training.patience", "10"},
            {"training.lr", "20"},
            {"training.momentum", "0"},
            {"training.weight_decay", "0"},
            {"training.clip", "0.25"},
            {"training.precision", "f32"},
            {"training.seed", "42"},
            {"training.eval_batch", "10"},
            {"compression.method", "none"},
            {"compression.ratio", "0.01"},
            {"compression.levels", "64"},
            {"compression.norm", "max"},
            {"compression.bucket", "0"},
            {"compression.scope", "tensor"},
            {"compression.memory", "auto"},
            {"compression.beta", "1"},
            {"compression.gamma", "1"},
            {"compression.memory_units", "gradient"},
            {"compression.dgc_momentum", "0.5"},
            {"compression.masking", "true"},
            {"compression.nesterov", "false"},
            {"compression.local_clip", "0"},
            {"compression.sample", "0.01"},
            {"compression.warmup_epochs", "0"},
            {"compression.pattern", "worker"},
            {"compression.scale", "auto"},
            {"compression.values", "auto"},
            {"cluster.workers", "4"},
            {"cluster.transport", "threads"},
            {"cluster.topology", "server"},
            {"cluster.overlap", "true"},
            {"cluster.bind", "tcp://127.0.0.1:*"},
            {"cluster.on_loss", "continue"},
            {"cluster.on_straggler", "wait"},
            {"cluster.hash_every", "50"},
            {"cluster.link.bandwidth", "100Mbit"},
            {"cluster.link.latency", "1ms"},
            {"cluster.link.server_bandwidth", "as-bandwidth"},
            {"cluster.link.emulate", "false"}};
        for (const auto& [path, value] : defaults)
            QTest::addRow("%s", path) << path << value;
    }
    void contractDefaults() {
        QFETCH(QString, path);
        QFETCH(QString, value);
        QCOMPARE(QString::fromStdString(defaultText(path.toUtf8().constData())), value);
    }

    void everyFieldIsDescribed() {
        std::set<std::string> paths;
        std::set<std::string> options;
        for (const FieldSpec& field : experimentSchema()) {
            QVERIFY2(!field.label.empty(), field.path.c_str());
            QVERIFY2(field.help.size() > 20, field.path.c_str());
            QVERIFY2(field.option.starts_with("--"), field.path.c_str());
            QVERIFY2(paths.insert(field.path).second, field.path.c_str());
            QVERIFY2(options.insert(field.option).second, field.option.c_str());
            if (field.type == FieldType::Choice)
                QVERIFY2(!field.choices.empty(), field.path.c_str());
            for (const UsedWhen& when : field.usedWhen)
                QVERIFY2(findField(when.path) != nullptr, when.path.c_str());
        }
    }

    void registryDecidesMethodsAndParameters() {
        const FieldSpec* method = findField("--method");
        QVERIFY(method != nullptr);
        QCOMPARE(method->choices.size(), compressionMethods().size());
        for (const FieldSpec& parameter : compressionParameters())
            QVERIFY2(findField(parameter.path) != nullptr, parameter.path.c_str());
    }

    void liveFields() {
        for (const char* path :
             {"training.lr", "compression.ratio", "compression.levels", "compression.method",
              "compression.memory", "model.dropout", "training.clip", "cluster.link.bandwidth",
              "cluster.link.latency"}) {
            const FieldSpec* field = findField(path);
            QVERIFY2(field != nullptr && field->live, path);
        }
        for (const char* path :
             {"model.hidden", "training.batch", "training.seed", "corpus.source"})
            QVERIFY2(!findField(path)->live, path);
    }

    void getAndSet() {
        Experiment experiment = defaultExperiment();
        setField(experiment, "training.lr", 3.5);
        setField(experiment, "training.clip", std::int64_t{1}); // whole numbers are reals too
        setField(experiment, "compression.ratio", 0.5);
        setField(experiment, "compression.masking", false);
        QVERIFY(experiment.training.lr == 3.5);
        QVERIFY(experiment.training.clip == 1.0);
        QVERIFY(std::get<double>(getField(experiment, "compression.ratio")) == 0.5);
        QVERIFY(!std::get<bool>(getField(experiment, "compression.masking")));
        QVERIFY_EXCEPTION_THROWN(setField(experiment, "training.seed", 1.5), ExperimentError);
        QVERIFY_EXCEPTION_THROWN(setField(experiment, "compression.ratio", std::string("x")),
                                 ExperimentError);
        QVERIFY_EXCEPTION_THROWN(setField(experiment, "training.nothing", 1.0), ExperimentError);
        QVERIFY_EXCEPTION_THROWN((void)getField(experiment, "lr"), ExperimentError);
    }

    void parameterMissingInSettingsHasItsDefault() {
        const Experiment bare; // no parameters at all
        QVERIFY(std::get<double>(getField(bare, "compression.ratio")) == 0.01);
        QVERIFY(resolved(bare).compression.parameters.contains("ratio"));
    }

    void usedFields() {
        Experiment experiment = defaultExperiment();
        QVERIFY(!isFieldUsed(*findField("compression.ratio"), experiment));
        experiment.compression.method = "topk";
        QVERIFY(isFieldUsed(*findField("compression.ratio"), experiment));
        QVERIFY(isFieldUsed(*findField("compression.indices"), experiment));
        QVERIFY(!isFieldUsed(*findField("compression.levels"), experiment));
        QVERIFY(isFieldUsed(*findField("compression.beta"), experiment)); // auto means residual
        experiment.compression.memory = "none";
        QVERIFY(!isFieldUsed(*findField("compression.beta"), experiment));
        experiment.compression.method = "dgc";
        experiment.compression.memory = "auto";
        QVERIFY(isFieldUsed(*findField("compression.dgc_momentum"), experiment));
        QVERIFY(!isFieldUsed(*findField("cluster.bind"), experiment));
    }

    void resolvedLeavesNoDefaultWords() {
        Experiment experiment = defaultExperiment();
        experiment.compression.method = "dgc";
        experiment.training.precision = "f64";
        const Experiment result = resolved(experiment);
        QCOMPARE(QString::fromStdString(result.compression.memory), QString("dgc"));
        QCOMPARE(QString::fromStdString(result.compression.values), QString("f64"));
        QVERIFY(result.cluster.threads >= 1);
        QCOMPARE(result.cluster.waitFor, std::int64_t{0}); // it says who starts the workers
        QCOMPARE(QString::fromStdString(toJson(resolved(result))),
                 QString::fromStdString(toJson(result)));
    }

    void commandLine() {
        Experiment experiment = defaultExperiment();
        QVERIFY(commandLineOptions(experiment).empty());
        experiment.compression.method = "topk";
        setField(experiment, "compression.ratio", 0.001);
        experiment.model.tied = false;
        experiment.cluster.overlap = false;
        experiment.cluster.link.bandwidth = 10e9;
        experiment.corpus.source = "my texts/it's one.txt";
        QCOMPARE(
            QString::fromStdString(commandLineOptions(experiment)),
            QString("--corpus 'my texts/it'\\''s one.txt' --untied --method topk --ratio 0.001 "
                    "--no-overlap --bandwidth 10Gbit"));
    }

    void displayNames() {
        Experiment experiment = defaultExperiment();
        QCOMPARE(QString::fromStdString(displayName(experiment)), QString("No compression"));
        experiment.compression.method = "topk";
        QCOMPARE(QString::fromStdString(displayName(experiment)), QString("Top-k 1 %"));
        experiment.compression.memory = "none";
        setField(experiment, "compression.ratio", 0.0001);
        QCOMPARE(QString::fromStdString(displayName(experiment)),
                 QString("Top-k 0.01 %, no memory"));
        experiment.compression.method = "qsgd";
        QCOMPARE(QString::fromStdString(displayName(experiment)), QString("QSGD s=64"));
        experiment.name = "mine";
        QCOMPARE(QString::fromStdString(displayName(experiment)), QString("mine"));
    }
};

QTEST_GUILESS_MAIN(TestExperimentSchema)
#include "test_experiment_schema.moc"
