// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker process's engine end, alone: the same bits as a trainer with one thread, through every
// snapshot that it takes or gives.
#include "engine/core/errors.h"
#include "engine/training/cluster_node.h"
#include "engine/training/node_snapshot.h"
#include "engine/training/training_rules.h"
#include "tests/support/run_training.h"

#include <QTest>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

engine::Experiment oneWorker(const std::string& precision, const std::string& method) {
    engine::Experiment experiment = oracleExperiment();
    experiment.training.precision = precision;
    experiment.training.momentum = 0.5;
    experiment.training.lr = 1.0;
    experiment.model.dropout = 0.3;
    setCompression(experiment, method);
    return engine::resolved(experiment);
}

template <class T>
engine::ByteBuffer joinSnapshot(const engine::Experiment& experiment) {
    const auto corpus = loadExperimentCorpus(experiment.corpus);
    const engine::ModelShape shape = engine::modelShape(experiment, corpus->vocabulary.size());
    const engine::MessagePlan plan(engine::ParameterLayout(shape),
                                   engine::compressionScope(experiment));
    engine::Replica<T> replica(shape, plan, engine::aggregatorSettings(experiment));
    replica.initialise(42, experiment.model.init);
    engine::NodeDescription node;
    node.vocabulary = corpus->vocabulary.size();
    node.experiment = experiment;
    node.columns = engine::workerColumns(experiment, corpus->train, 0);
    return engine::makeJoinSnapshot<T>(node, replica, {});
}

engine::ByteBuffer joinSnapshot(const engine::Experiment& experiment) {
    return experiment.training.precision == "f64" ? joinSnapshot<double>(experiment)
                                                  : joinSnapshot<float>(experiment);
}

std::unique_ptr<engine::ClusterNode> makeNode(engine::ByteView snapshot) {
    return engine::ClusterNode::create(snapshot, transport::makeInProcessExchange, 1);
}

std::string refusalOn(engine::Bf16Ability ability, engine::ByteView snapshot) {
    try {
        (void)engine::ClusterNode::createOn(ability, snapshot, transport::makeInProcessExchange, 1);
    } catch (const engine::ExperimentError& error) {
        return error.what();
    }
    return {};
}

std::uint64_t trainerHash(const engine::Experiment& experiment, int steps) {
    CollectingSink sink;
    const auto trainer = makeTrainer(experiment, sink);
    for (int step = 0; step < steps; ++step)
        if (!trainer->advance({}))
            qFatal("the run ended early");
    return trainer->parameterHash();
}

void runSteps(engine::ClusterNode& node, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = first; step <= last; ++step)
        node.step(step, {});
}

} // namespace

class TestClusterNode : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theSameBitsAsATrainer_data() {
        QTest::addColumn<QString>("precision");
        QTest::addColumn<QString>("method");
        for (const char* precision : {"f32", "f64", "bf16"})
            for (const char* method : {"none", "topk", "randomk", "qsgd"})
                QTest::addRow("%s %s", method, precision) << precision << method;
    }
    void theSameBitsAsATrainer() {
        QFETCH(QString, precision);
        QFETCH(QString, method);
        if (precision == "bf16" && engine::bf16Ability() != engine::Bf16Ability::Ready)
            QSKIP(whyNotBf16(engine::bf16Ability()).data());
        const auto experiment = oneWorker(precision.toStdString(), method.toStdString());
        const auto node = makeNode(joinSnapshot(experiment));
        runSteps(*node, 1, 40);
        QCOMPARE(node->parameterHash(), trainerHash(experiment, 40));
    }

    // Leaves after 15 steps, another process goes on from its two snapshots.
    void snapshotsCarryEverything() {
        const auto experiment = oneWorker("f32", "topk");
        const engine::ByteBuffer join = joinSnapshot(experiment);
        const auto first = makeNode(join);
        runSteps(*first, 1, 15);
        const auto second = makeNode(join);
        second->load(first->snapshot(true));
        second->load(first->snapshot(false));
        QCOMPARE(second->parameterHash(), first->parameterHash());
        runSteps(*second, 16, 40);
        QCOMPARE(second->parameterHash(), trainerHash(experiment, 40));
        // Without its memory and hidden state it would be another run.
        const auto forgetful = makeNode(join);
        forgetful->load(first->snapshot(true));
        runSteps(*forgetful, 16, 40);
        QVERIFY(forgetful->parameterHash() != second->parameterHash());
    }

    void configureTakesEffectAtTheNextStep() {
        const auto experiment = oneWorker("f32", "topk");
        const auto node = makeNode(joinSnapshot(experiment));
        runSteps(*node, 1, 10);
        engine::Experiment next = experiment;
        next.training.lr = 0.25;
        setCompression(next, "none", "none");
        node->configure(engine::toJson(engine::resolved(next)), engine::MemoryChange::Drop);
        runSteps(*node, 11, 20);

        CollectingSink sink;
        const auto trainer = makeTrainer(experiment, sink);
        for (int step = 0; step < 10; ++step)
            QVERIFY(trainer->advance({}));
        trainer->apply({"training.lr", 0.25});
        trainer->apply({"compression.memory", std::string("none"), engine::MemoryChange::Drop});
        trainer->apply({"compression.method", std::string("none")});
        for (int step = 0; step < 10; ++step)
            QVERIFY(trainer->advance({}));
        QCOMPARE(node->parameterHash(), trainer->parameterHash());
    }

    void anAbandonedStepLeavesNoTrace() {
        const auto experiment = oneWorker("f32", "topk");
        const auto node = makeNode(joinSnapshot(experiment));
        runSteps(*node, 1, 5);
        std::stop_source stop;
        stop.request_stop();
        QVERIFY_EXCEPTION_THROWN(node->step(6, stop.get_token()), engine::Cancelled);
        runSteps(*node, 6, 20);
        QCOMPARE(node->parameterHash(), trainerHash(experiment, 20));
    }

    void accountsSurviveTheirDocument() {
        const auto node = makeNode(joinSnapshot(oneWorker("f32", "qsgd")));
        node->step(1, {});
        const engine::WorkerAccount account = engine::accountFromJson(node->report(true));
        QVERIFY(account.loss > 0.0);
        QVERIFY(account.bytesMessage > 0);
        QVERIFY(account.t.forward > 0.0);
        QVERIFY(account.cpu.update > 0.0);
        QVERIFY(account.sgd.gradNorm > 0.0);
        QVERIFY(!account.parts.empty());
        QVERIFY(account.parameterHash == node->parameterHash());
        QCOMPARE(engine::accountToJson(account), node->report(true));
        QVERIFY(!engine::accountFromJson(node->report(false)).parameterHash.has_value());
        for (const char* broken : {"", "{}", "[1]", "{\"rank\": \"x\"}"})
            QVERIFY_EXCEPTION_THROWN((void)engine::accountFromJson(broken), engine::ProtocolError);
    }

    // In the words of the experiment's own check.
    void aMachineWithoutBf16RefusesToTrainInIt() {
        const engine::ByteBuffer f32 = joinSnapshot(oneWorker("f32", "none"));
        const engine::ByteBuffer bf16 = joinSnapshot(oneWorker("bf16", "none"));
        for (const auto ability :
             {engine::Bf16Ability::NotBuilt, engine::Bf16Ability::NoInstructions}) {
            QCOMPARE(refusalOn(ability, f32), std::string());
            const auto issues = engine::validate(oneWorker("bf16", "none"), ability);
            QVERIFY(!issues.empty());
            QCOMPARE(refusalOn(ability, bf16), issues.front().message);
        }
    }

    void brokenSnapshotsAreRefused() {
        const engine::ByteBuffer good = joinSnapshot(oneWorker("f32", "none"));
        for (const std::size_t size :
             {std::size_t{0}, std::size_t{7}, good.size() / 2, good.size() - 1})
            QVERIFY_EXCEPTION_THROWN((void)makeNode(engine::ByteView(good).first(size)),
                                     engine::ProtocolError);
        const auto node = makeNode(good);
        // A worker's or a replica's snapshot alone makes no node.
        QVERIFY_EXCEPTION_THROWN((void)makeNode(node->snapshot(true)), engine::ProtocolError);
        QVERIFY_EXCEPTION_THROWN((void)makeNode(node->snapshot(false)), engine::ProtocolError);
        // Of another model.
        engine::Experiment other = oneWorker("f32", "none");
        other.model.hidden = 8;
        other.model.init.clear();
        const auto another = makeNode(joinSnapshot(other));
        QVERIFY_EXCEPTION_THROWN(node->load(another->snapshot(true)), engine::ProtocolError);
        QVERIFY_EXCEPTION_THROWN(node->load(another->snapshot(false)), engine::ProtocolError);
    }
};

QTEST_GUILESS_MAIN(TestClusterNode)
#include "test_cluster_node.moc"
