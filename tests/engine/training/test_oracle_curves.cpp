// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The twelve training runs that PyTorch made in double precision, reproduced step by step.
#include "tests/support/run_training.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

using namespace gradlab;
using namespace gradlab::tests;
using nlohmann::json;

namespace {

json curves() {
    std::ifstream file(GRADLAB_TEST_DATA "/curves.json");
    return json::parse(file);
}

engine::Experiment experimentOf(const json& run) {
    engine::Experiment experiment = oracleExperiment();
    experiment.cluster.workers = run.at("workers");
    experiment.training.lr = run.at("lr");
    experiment.training.clip = run.at("clip");
    setCompression(experiment, run.at("method"),
                   run.at("error_feedback").get<bool>() ? "auto" : "none");
    if (!run.at("ratio").is_null())
        engine::setField(experiment, "compression.ratio", run.at("ratio").get<double>());
    if (run.at("method") == "dgc") {
        engine::setField(experiment, "compression.dgc_momentum", run.at("momentum").get<double>());
        engine::setField(experiment, "compression.sample", 1.0);
    }
    return experiment;
}

double lossOf(const json& run, std::size_t step) {
    return run.at("loss_per_step").at(step);
}

} // namespace

class TestOracleCurves : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void doublePrecision_data() { addRows(); }
    void doublePrecision() {
        QFETCH(int, index);
        const json run = curves().at("runs").at(static_cast<std::size_t>(index));
        const CollectedRun ours = runToEnd(experimentOf(run));
        QCOMPARE(ours.records.steps.size(), std::size_t{80});
        for (std::size_t i = 0; i < 80; ++i) {
            const engine::StepRecord& step = ours.records.steps[i];
            QVERIFY2(std::abs(step.loss - lossOf(run, i)) <= 1e-7,
                     qPrintable(QStringLiteral("step %1: %2 against %3")
                                    .arg(i + 1)
                                    .arg(step.loss, 0, 'g', 17)
                                    .arg(lossOf(run, i), 0, 'g', 17)));
            QCOMPARE(step.nonzero * run.at("workers").get<double>(),
                     run.at("nonzeros_per_step").at(i).get<double>());
        }
        const double expected = run.at("valid_perplexity_B4");
        QVERIFY(ours.records.end.has_value());
        QVERIFY(std::abs(*ours.records.end->testPerplexity / expected - 1.0) <= 1e-7);
    }

    void singlePrecision_data() { addRows(); }
    void singlePrecision() {
        QFETCH(int, index);
        const json run = curves().at("runs").at(static_cast<std::size_t>(index));
        engine::Experiment experiment = experimentOf(run);
        experiment.training.precision = "f32";
        const CollectedRun ours = runToEnd(experiment);
        const bool exactChoices = run.at("method") == "none";
        double mean = 0.0;
        double expectedMean = 0.0;
        for (std::size_t i = 0; i < 80; ++i) {
            const double loss = ours.records.steps[i].loss;
            mean += loss / 80;
            expectedMean += lossOf(run, i) / 80;
            if (exactChoices || i < 5)
                QVERIFY2(std::abs(loss - lossOf(run, i)) <= 1e-5,
                         qPrintable(QStringLiteral("step %1").arg(i + 1)));
        }
        QVERIFY(std::abs(mean / expectedMean - 1.0) <= 0.005);
    }

private:
    static void addRows() {
        QTest::addColumn<int>("index");
        const json all = curves();
        for (std::size_t i = 0; i < all.at("runs").size(); ++i) {
            const json& run = all.at("runs").at(i);
            QTest::addRow("%s ratio %s workers %d memory %d",
                          run.at("method").get<std::string>().c_str(),
                          run.at("ratio").dump().c_str(), run.at("workers").get<int>(),
                          int(run.at("error_feedback").get<bool>()))
                << int(i);
        }
    }
};

QTEST_GUILESS_MAIN(TestOracleCurves)
#include "test_oracle_curves.moc"
