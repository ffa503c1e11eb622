// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Which experiments are refused, which only warned about, and that both say why.
#include "engine/compression/compressor_registry.h"
#include "engine/core/errors.h"
#include "engine/training/experiment_schema.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace gradlab::engine;

namespace {

using Change = void (*)(Experiment&);

Experiment changed(Change change) {
    Experiment experiment = defaultExperiment();
    change(experiment);
    return experiment;
}

bool hasIssue(const std::vector<ExperimentIssue>& issues, ExperimentIssue::Severity severity,
              const std::string& field) {
    return std::any_of(issues.begin(), issues.end(), [&](const ExperimentIssue& issue) {
        return issue.severity == severity && issue.field == field;
    });
}

} // namespace

Q_DECLARE_METATYPE(Change)

class TestExperimentValidation : public QObject {
    Q_OBJECT

private slots:
    void defaultsAreValid() {
        const auto issues = validate(defaultExperiment());
        for (const auto& issue : issues)
            QVERIFY2(issue.severity == ExperimentIssue::Severity::Warning, issue.message.c_str());
    }

    void errors_data() {
        QTest::addColumn<Change>("change");
        QTest::addColumn<QString>("field");
        const auto row = [](const char* name, const char* field, Change change) {
            QTest::newRow(name) << change << field;
        };
        row("NaN", "training.lr", [](Experiment& e) { e.training.lr = std::nan(""); });
        row("infinite clip", "training.clip",
            [](Experiment& e) { e.training.clip = std::numeric_limits<double>::infinity(); });
        row("dropout 1", "model.dropout", [](Experiment& e) { e.model.dropout = 1.0; });
        row("hidden", "model.hidden", [](Experiment& e) { e.model.hidden = 4097; });
        row("layers", "model.layers", [](Experiment& e) { e.model.layers = 0; });
        row("choice", "corpus.unit", [](Experiment& e) { e.corpus.unit = "byte"; });
        row("no text", "corpus.source", [](Experiment& e) { e.corpus.source.clear(); });
        row("builtin", "corpus.source", [](Experiment& e) { e.corpus.source = "builtin:x"; });
        row("vocabulary", "corpus.vocabulary", [](Experiment& e) { e.corpus.vocabulary = 2; });
        row("batch", "training.batch", [](Experiment& e) { e.training.batch = 30; });
        row("batch too small", "training.batch", [](Experiment& e) { e.training.batch = 2; });
        row("target", "training.target_perplexity",
            [](Experiment& e) { e.training.targetPerplexity = 1.0; });
        row("wait for", "cluster.wait_for", [](Experiment& e) { e.cluster.waitFor = 5; });
        row("bandwidth 0", "cluster.link.bandwidth",
            [](Experiment& e) { e.cluster.link.bandwidth = 0.0; });
        row("two momenta", "training.momentum", [](Experiment& e) {
            e.compression.method = "dgc";
            e.training.momentum = 0.5;
        });
        row("unused yet out of range", "compression.levels",
            [](Experiment& e) { setField(e, "compression.levels", std::int64_t{0}); });
        row("zero byte", "model.init",
            [](Experiment& e) { e.model.init = std::string("a\0b", 3); });
    }
    void errors() {
        QFETCH(Change, change);
        QFETCH(QString, field);
        const Experiment experiment = changed(change);
        const auto issues = validate(experiment);
        QVERIFY(hasIssue(issues, ExperimentIssue::Severity::Error, field.toStdString()));
        QVERIFY(issues.front().severity == ExperimentIssue::Severity::Error);
        const QString message = QString::fromStdString(issues.front().message);
        QVERIFY2(message.contains(field) && message.contains("; ") && !message.contains('\n'),
                 qPrintable(message));
        try {
            (void)requireValid(experiment);
            QFAIL("accepted");
        } catch (const ExperimentError& error) {
            QCOMPARE(QString::fromStdString(error.field()), field);
        }
    }

    // Where it cannot be had, everywhere in the same words.
    void bf16IsRefusedWithTheReason() {
        const Experiment experiment = changed([](Experiment& e) { e.training.precision = "bf16"; });
        for (const Bf16Ability ability : {Bf16Ability::NotBuilt, Bf16Ability::NoInstructions}) {
            const auto issues = validate(experiment, ability);
            QVERIFY(!issues.empty() && issues.front().severity == ExperimentIssue::Severity::Error);
            QCOMPARE(issues.front().field, std::string("training.precision"));
            const std::string expected = "cannot train in bf16, " +
                                         std::string(whyNotBf16(ability)) +
                                         ": training.precision (--precision); give f32 or f64 "
                                         "(--values bf16 sends 16-bit values)";
            QCOMPARE(issues.front().message, expected);
            try {
                requirePrecision(experiment, ability);
                QFAIL("accepted");
            } catch (const ExperimentError& error) {
                QCOMPARE(error.what(), expected.c_str());
                QCOMPARE(error.field(), std::string("training.precision"));
            }
            QVERIFY(!hasIssue(validate(defaultExperiment(), ability),
                              ExperimentIssue::Severity::Error, "training.precision"));
        }
        QVERIFY(!hasIssue(validate(experiment, Bf16Ability::Ready),
                          ExperimentIssue::Severity::Error, "training.precision"));
        requirePrecision(experiment, Bf16Ability::Ready);
    }

    void messagesOfBf16TrainingAreF32() {
        Experiment experiment = changed([](Experiment& e) { e.training.precision = "bf16"; });
        QCOMPARE(resolved(experiment).compression.values, std::string("f32"));
        experiment.compression.values = "bf16";
        QCOMPARE(resolved(experiment).compression.values, std::string("bf16"));
    }

    void unusedFieldsAreOtherwiseIgnored() {
        Experiment experiment = defaultExperiment();
        setField(experiment, "compression.levels", std::int64_t{1});
        setField(experiment, "compression.memory_units", std::string("update"));
        experiment.cluster.hashEvery = 7;
        QVERIFY(!hasIssue(validate(experiment), ExperimentIssue::Severity::Error,
                          "compression.memory"));
        (void)requireValid(experiment);
    }

    void legalPairsComeFromTheRegistry() {
        int refused = 0;
        for (const MethodInfo& method : compressionMethods()) {
            for (const MemoryInfo& memory : compressionMemories()) {
                Experiment experiment = defaultExperiment();
                experiment.compression.method = method.name;
                experiment.compression.memory = memory.name;
                const bool legal = std::find(method.memories.begin(), method.memories.end(),
                                             memory.name) != method.memories.end();
                const bool error = hasIssue(validate(experiment), ExperimentIssue::Severity::Error,
                                            "compression.memory");
                QVERIFY2(legal != error, (method.name + " with " + memory.name).c_str());
                refused += legal ? 0 : 1;
            }
        }
        QVERIFY(refused > 0);
    }

    void riskyResidualWarns() {
        Experiment experiment = defaultExperiment();
        experiment.compression.method = "qsgd";
        experiment.compression.memory = "residual";
        setField(experiment, "compression.levels", std::int64_t{4});
        setField(experiment, "compression.norm", std::string("l2"));
        const auto warnings = requireValid(experiment);
        QVERIFY(hasIssue(warnings, ExperimentIssue::Severity::Warning, "compression.memory"));
        setField(experiment, "compression.levels", std::int64_t{64});
        setField(experiment, "compression.bucket", std::int64_t{512});
        QVERIFY(!hasIssue(requireValid(experiment), ExperimentIssue::Severity::Warning,
                          "compression.memory"));
    }

    void racesShareTextModelAndSeed() {
        std::vector<Experiment> race(3, defaultExperiment());
        race[1].compression.method = "topk";
        race[2].training.lr = 5.0;
        race[2].model.dropout = 0.1;
        (void)requireValidRace(race);
        race[2].training.seed = 7;
        QVERIFY_EXCEPTION_THROWN((void)requireValidRace(race), ExperimentError);
        race[2] = race[0];
        race[1].model.hidden = 32;
        QVERIFY_EXCEPTION_THROWN((void)requireValidRace(race), ExperimentError);
        race[1] = race[0];
        race[2].corpus.vocabulary = 50;
        QVERIFY_EXCEPTION_THROWN((void)requireValidRace(race), ExperimentError);
        QVERIFY_EXCEPTION_THROWN((void)requireValidRace({}), ExperimentError);
    }
};

QTEST_GUILESS_MAIN(TestExperimentValidation)
#include "test_experiment_validation.moc"
