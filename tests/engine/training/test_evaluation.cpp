// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Evaluation and early stopping: the same perplexity for any window, nothing of training disturbed,
// consecutive evaluations counted; and what the start and end records promise.
#include "engine/core/errors.h"
#include "engine/training/evaluator.h"
#include "engine/training/run_totals.h"
#include "tests/support/run_training.h"

#include <QTest>

#include <bit>
#include <cmath>

using namespace gradlab;
using namespace gradlab::tests;

class TestEvaluation : public QObject {
    Q_OBJECT
private Q_SLOTS:
    // The window is only how the text is cut for computing.
    void perplexityDoesNotDependOnTheWindow() {
        const engine::Experiment experiment = oracleExperiment();
        const auto corpus = loadExperimentCorpus(experiment.corpus);
        const engine::ModelShape shape{corpus->vocabulary.size(), 12, 2, true};
        const engine::ParameterLayout layout(shape);
        engine::AlignedBuffer<double> parameters(layout.size());
        engine::initialiseParameters<double>(layout, shape, 3, parameters.span());
        double reference = 0.0;
        for (const std::size_t window : {5U, 35U, 100000U}) {
            engine::Evaluator<double> evaluator(shape, 4, window);
            const engine::Evaluation result =
                evaluator.evaluate(std::as_const(parameters).span(), corpus->valid, {});
            const std::size_t rows = corpus->valid.size() / 4;
            QCOMPARE(result.tokens, std::uint64_t{(rows - 1) * 4});
            if (reference == 0.0)
                reference = result.perplexity();
            QVERIFY(std::abs(result.perplexity() / reference - 1.0) < 1e-9);
        }
    }

    void evaluatingOftenChangesNoTrainingBit() {
        engine::Experiment experiment = oracleExperiment();
        experiment.training.steps = 12;
        experiment.training.evalEvery = 1000;
        const CollectedRun seldom = runToEnd(experiment);
        experiment.training.evalEvery = 1;
        const CollectedRun often = runToEnd(experiment);
        QCOMPARE(often.hash, seldom.hash);
        QCOMPARE(often.records.evals.size(), std::size_t{13}); // 12 valid, 1 test
        QCOMPARE(seldom.records.evals.size(), std::size_t{2});
        QCOMPARE(std::bit_cast<std::uint64_t>(often.records.evals[11].nll),
                 std::bit_cast<std::uint64_t>(seldom.records.evals[0].nll));
    }

    void earlyStoppingCountsConsecutiveEvaluations() {
        engine::RunTotals totals;
        QVERIFY(totals.observe(100.0, 0.0));
        QVERIFY(!totals.observe(101.0, 0.0));
        QVERIFY(!totals.observe(100.0, 0.0));
        QCOMPARE(totals.evaluationsWithoutGain, std::uint64_t{2});
        QVERIFY(totals.observe(99.0, 0.0));
        QCOMPARE(totals.evaluationsWithoutGain, std::uint64_t{0});
    }

    void patienceEndsARun() {
        engine::Experiment experiment = oracleExperiment();
        experiment.training.lr = 0.0;
        experiment.training.evalEvery = 2;
        experiment.training.patience = 3;
        const CollectedRun run = runToEnd(experiment);
        QCOMPARE(run.records.end->reason, std::string("early_stop"));
        QCOMPARE(run.records.end->steps, std::uint64_t{8}); // first is the best, three without gain
    }

    void epochsEndARun() {
        engine::Experiment experiment = oracleExperiment();
        experiment.training.steps = 0;
        experiment.training.epochs = 1;
        const CollectedRun run = runToEnd(experiment);
        QCOMPARE(run.records.steps.size(), run.records.starts.at(0).stepsPerEpoch);
        QCOMPARE(run.records.end->reason, std::string("completed"));
    }

    void targetIsRecordedOnce() {
        engine::RunTotals totals;
        totals.step = 5;
        totals.bytesUp = 100.0;
        (void)totals.observe(20.0, 25.0);
        totals.step = 10;
        totals.bytesUp = 200.0;
        (void)totals.observe(19.0, 25.0);
        QCOMPARE(*totals.targetSteps, std::uint64_t{5});
        QCOMPARE(*totals.targetBytes, 100.0);
    }

    void totalsSurviveTheirText() {
        engine::RunTotals totals;
        totals.step = 7;
        totals.wallS = 0.1 + 0.2;
        totals.bytesUp = 1e300;
        totals.bestValid = 1.0 / 3.0;
        totals.evaluatedStep = 6;
        const engine::RunTotals read = engine::totalsFromJson(engine::totalsToJson(totals), "test");
        QCOMPARE(std::bit_cast<std::uint64_t>(read.wallS),
                 std::bit_cast<std::uint64_t>(totals.wallS));
        QCOMPARE(read.bytesUp, totals.bytesUp);
        QCOMPARE(*read.bestValid, *totals.bestValid);
        QCOMPARE(read.evaluatedStep, totals.evaluatedStep);
        QVERIFY(!read.targetSteps.has_value());
        QVERIFY_EXCEPTION_THROWN((void)engine::totalsFromJson("{}", "test"), engine::DataError);
    }

    void sharedCoresAreSaid() {
        engine::Experiment experiment = oracleExperiment();
        experiment.training.steps = 1;
        experiment.cluster.workers = 4;
        experiment.cluster.threads = 1;
        QVERIFY(runToEnd(experiment).records.starts.at(0).cpuTimeShown);
        experiment.cluster.workers = 1;
        QVERIFY(!runToEnd(experiment).records.starts.at(0).cpuTimeShown);
    }
};

QTEST_GUILESS_MAIN(TestEvaluation)
#include "test_evaluation.moc"
