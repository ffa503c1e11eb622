// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// What probe predicts of a step: the network's slowest parts, the link model's seconds, shared
// cores. How near it comes on a real network is tests/bench/probe_prediction.py's.
#include "app/cli/step_prediction.h"
#include "engine/core/errors.h"
#include "tests/support/small_run.h"
#include "transport/in_process/in_process_exchange.h"
#include "transport/zmq/zmq_coordinator.h"

#include <QTest>

#include <cmath>

using namespace gradlab;
using namespace gradlab::app;

namespace {

transport::MeasuredLink worker(const std::string& machine, double up, double down, double latency) {
    transport::MeasuredLink link;
    link.machine = machine;
    link.cores = 2;
    link.rateUp = up;
    link.rateDown = down;
    link.latencyS = latency;
    return link;
}

/// Three on one machine of two cores, one elsewhere.
PredictionLink fourWorkers() {
    transport::MeasuredNetwork network;
    network.workers = {worker("a", 4e6, 9e6, 1e-3), worker("a", 5e6, 8e6, 2e-3),
                       worker("a", 6e6, 7e6, 1e-3), worker("b", 7e6, 8e6, 1e-3)};
    network.serverRateUp = 10e6;
    network.serverRateDown = 40e6;
    return predictionLink(network);
}

engine::Experiment experimentOf(const std::string& topology, bool overlap) {
    engine::Experiment experiment = tests::smallExperiment();
    experiment.cluster.workers = 4;
    experiment.cluster.topology = topology;
    experiment.cluster.overlap = overlap;
    return engine::resolved(experiment);
}

StepPrediction predict(const engine::Experiment& experiment, const std::string& method,
                       const PredictionLink& link, const std::stop_token& stop = {}) {
    const auto processes = [](const engine::ClusterSetup& setup) {
        transport::CoordinatorOptions options;
        options.workerCommand = {GRADLAB_BINARY_DIR "/bin/gradlab-cli"};
        return transport::makeZmqCoordinator(setup, options);
    };
    return predictStep(experiment, method, link, tests::loadSmallCorpus(experiment.corpus, {}),
                       {transport::makeInProcessExchange, processes}, stop);
}

bool isNear(double value, double expected, double share = 1e-9) {
    return std::abs(value - expected) <= share * std::abs(expected);
}

} // namespace

class TestStepPrediction : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theSlowestCounts() {
        const PredictionLink link = fourWorkers();
        QCOMPARE(link.workers, std::size_t{4});
        QCOMPARE(link.rateUp, 4e6);
        QCOMPARE(link.rateDown, 7e6);
        QCOMPARE(link.latencyS, 2e-3);
        QCOMPARE(link.workersACore, 1.5);
        QCOMPARE(link.workersAMachine, std::size_t{3});
        QCOMPARE(link.rate(), 4e6);
        QCOMPARE(link.serverRate(), 10e6);
    }

    void aMachineEachSharesNoCore() {
        transport::MeasuredNetwork network;
        network.workers = {worker("a", 1e6, 1e6, 0.0), worker("b", 1e6, 1e6, 0.0)};
        QCOMPARE(predictionLink(network).workersACore, 1.0);
        QCOMPARE(predictionLink(network).workersAMachine, std::size_t{1});
    }

    // Up, four share 10 Mbit/s; down, each has 7 of the server's 40.
    void bothWaysHaveTheirOwnRates() {
        StepPrediction step;
        step.method = "topk";
        step.bytesMessage = 1000.0;
        step.bytesDown = 2000.0;
        const double server = exchangeSeconds(fourWorkers(), "server", step);
        QVERIFY2(isNear(server, 2 * 2e-3 + 8000.0 / 2.5e6 + 16000.0 / 7e6),
                 qPrintable(QString::number(server)));
        QVERIFY(isNear(exchangeSeconds(fourWorkers(), "ring", step), 3 * (2e-3 + 8000.0 / 4e6)));
        step.method = "none";
        QVERIFY(isNear(exchangeSeconds(fourWorkers(), "ring", step), 6 * (2e-3 + 2000.0 / 4e6)));
    }

    void aStepIsTheSumOfItsParts_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<QString>("method");
        QTest::addColumn<bool>("shared");
        for (const char* topology : {"server", "ring"})
            for (const char* method : {"none", "topk", "qsgd"}) {
                QTest::addRow("%s, %s", topology, method) << topology << method << false;
                QTest::addRow("%s, %s, one machine", topology, method)
                    << topology << method << true;
            }
    }
    void aStepIsTheSumOfItsParts() {
        QFETCH(QString, topology);
        QFETCH(QString, method);
        QFETCH(bool, shared); // then steps are made with processes
        PredictionLink link = fourWorkers();
        link.workersAMachine = shared ? 4 : 1;
        const std::string form = topology.toStdString();
        const StepPrediction step = predict(experimentOf(form, false), method.toStdString(), link);
        QVERIFY(step.bytesMessage > 0 && step.bytesUp > 0 && step.bytesDown > 0);
        QVERIFY(step.computeS > 0 && step.compressionS > 0);
        QCOMPARE(step.serverS > 0, form == "server");
        // Nothing is hidden, so that the network's share is known, with four messages of control;
        // but at a server means go down while later parts come up. The bytes are means over
        // workers, the slowest has a little more.
        const double all = exchangeSeconds(link, form, step) + 4 * 2e-3;
        const double slack = method == "none" ? 1e-9 : 0.05;
        QVERIFY2(step.communicationS <= all * (1.0 + slack) &&
                     step.communicationS >= (form == "ring" ? all * (1.0 - slack) : all / 2),
                 qPrintable(QString::number(step.communicationS)));
        const double busy = step.computeS + step.compressionS;
        QVERIFY(shared ? step.turnS >= 0.0 : step.turnS == 0.0);
        QVERIFY(isNear(step.stepS, busy + step.turnS + step.serverS + step.communicationS));
    }

    void whatComputingHidesIsNotExposed() {
        const PredictionLink link = fourWorkers();
        const StepPrediction hidden = predict(experimentOf("server", true), "none", link);
        QVERIFY(hidden.communicationS <= exchangeSeconds(link, "server", hidden) + 4 * 2e-3 + 1e-9);
        QVERIFY(hidden.communicationS >= 6 * 2e-3);
    }

    void itEndsWhenAsked() {
        std::stop_source stop;
        stop.request_stop();
        QVERIFY_EXCEPTION_THROWN(
            (void)predict(experimentOf("server", true), "none", fourWorkers(), stop.get_token()),
            engine::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestStepPrediction)
#include "test_step_prediction.moc"
