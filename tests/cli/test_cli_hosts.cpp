// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A coordinator and gradlab-cli worker on hosts of their own, as network namespaces: a link is cut
// for four seconds, or the way between two neighbours of a ring while both reach the coordinator.
#include "tests/support/cli_process.h"
#include "tests/support/fault_run.h"
#include "tests/support/net_namespaces.h"

#include <QElapsedTimer>
#include <QTest>

#include <memory>
#include <optional>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

constexpr qint64 kCutMs = 4000;

/// Host 0: this process. Host 1 + r: the worker of rank r, so named.
class Hosts {
public:
    Hosts(std::uint32_t count, const std::string& topology, bool keys) : network_(1 + int(count)) {
        fault.topology = topology;
        fault.method = "topk";
        fault.workers = count;
        fault.victim = 1;
        if (keys)
            makeKeys(count);
        engine::Experiment experiment = FaultRun::zmqExperiment(fault);
        experiment.cluster.waitFor = count;
        experiment.cluster.bind = "tcp://" + NetNamespaces::address(0).toStdString() + ":*";
        experiment.cluster.keys = keys ? folder_.file("keys.json") : "";
        transport::CoordinatorOptions options;
        options.insecure = !keys;
        {
            const OnHost host(0);
            run.emplace(experiment, options);
        }
        for (int rank = 0; rank < static_cast<int>(count); ++rank)
            startWorker(rank, keys);
        run->advanceTo(5);
    }
    ~Hosts() {
        for (const auto& worker : workers)
            worker->kill();
        for (const auto& worker : workers)
            worker->waitForFinished();
    }
    Hosts(const Hosts&) = delete;
    Hosts& operator=(const Hosts&) = delete;

    /// Steps go on for so long, at most twenty a second.
    void goOn(qint64 milliseconds) {
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < milliseconds)
            slowStep();
    }
    void slowStep() {
        (void)waitUntil([this] { return run->hasSpare(); }, std::chrono::milliseconds(50));
        run->advanceTo(run->step() + 1);
    }
    template <class Condition>
    [[nodiscard]] bool goOnUntil(Condition&& condition) {
        QElapsedTimer timer;
        timer.start();
        while (!condition() && timer.elapsed() < 60000)
            slowStep();
        return condition();
    }
    [[nodiscard]] std::vector<engine::EventRecord> events(const std::string& kind) const {
        std::vector<engine::EventRecord> found;
        for (const engine::EventRecord& event : run->records.events)
            if (event.event == kind)
                found.push_back(event);
        return found;
    }
    [[nodiscard]] std::uint64_t contributors() const {
        return run->records.steps.back().contributors;
    }
    [[nodiscard]] bool hasEveryStepOnce() const {
        const auto& steps = run->records.steps;
        bool once = steps.size() == run->step();
        for (std::size_t i = 0; i < steps.size(); ++i)
            once &= steps[i].step == i + 1;
        return once;
    }
    [[nodiscard]] QString told() const {
        QString text;
        for (const engine::EventRecord& event : run->records.events)
            text += QString("\n  step %1 %2: %3")
                        .arg(event.step)
                        .arg(QString::fromStdString(event.event),
                             QString::fromStdString(event.details));
        return text;
    }

    FaultCase fault;
    std::optional<ClusterRun> run;
    std::vector<std::unique_ptr<QProcess>> workers;

private:
    void makeKeys(std::uint32_t count) {
        const CliResult made =
            folder_.run({"keygen", "--out", "keys.json", "--workers", QString::number(count)});
        if (made.exitCode != 0)
            throw std::runtime_error(made.error.toStdString());
    }
    void startWorker(int rank, bool keys) {
        QStringList arguments = {"worker",
                                 "--connect",
                                 QString::fromStdString(run->view().endpoint),
                                 "--name",
                                 "worker-" + QString::number(rank),
                                 "--listen",
                                 "tcp://" + NetNamespaces::address(1 + rank) + ":*"};
        arguments +=
            keys ? QStringList{"--keys", folder_.path("keys.json")} : QStringList{"--insecure"};
        workers.push_back(std::make_unique<QProcess>());
        NetNamespaces::start(*workers.back(), 1 + rank, GRADLAB_BINARY_DIR "/bin/gradlab-cli",
                             arguments);
        // The first one to ask gets rank 0.
        ClusterRun::require("a worker",
                            [&] { return run->view().members.size() == workers.size(); });
    }

    CliFolder folder_;
    NetNamespaces network_;
};

} // namespace

class TestCliHosts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        if (const QString why = NetNamespaces::whyNot(); !why.isEmpty())
            QSKIP(qPrintable("network namespaces cannot be made here: " + why));
    }

    void aCutLink_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<bool>("keys");
        QTest::newRow("server, keys") << "server" << true;
        QTest::newRow("ring, keys") << "ring" << true;
        QTest::newRow("server, insecure") << "server" << false;
        QTest::newRow("ring, insecure") << "ring" << false;
    }
    void aCutLink() {
        QFETCH(QString, topology);
        QFETCH(bool, keys);
        Hosts hosts(2, topology.toStdString(), keys);
        Absence absence;
        absence.lost = hosts.run->step() + 1;
        QElapsedTimer timer;
        timer.start();
        NetNamespaces::setLink(2, false);
        hosts.run->advanceTo(absence.lost);
        QCOMPARE(hosts.contributors(), std::uint64_t{1});
        hosts.goOn(kCutMs - timer.elapsed());
        QCOMPARE(hosts.contributors(), std::uint64_t{1});
        NetNamespaces::setLink(2, true);
        QVERIFY2(hosts.goOnUntil([&] { return hosts.contributors() == 2; }),
                 qPrintable(hosts.told()));
        absence.joined = hosts.run->step();
        hosts.run->advanceTo(hosts.run->step() + 10);
        const std::uint64_t steps = hosts.run->step();
        const std::uint64_t hash = hosts.run->parameterHash();
        QVERIFY(hosts.hasEveryStepOnce());
        QVERIFY2(hosts.run->longestStepS < 3.0, qPrintable(hosts.told()));
        QCOMPARE(hosts.events("worker_lost").size(), std::size_t{1});
        const std::string lost = hosts.events("worker_lost").front().details;
        QVERIFY2(lost.starts_with("worker 1 (worker-1 on ") &&
                     lost.find("is lost: silent for 2.") != std::string::npos,
                 lost.c_str());
        QVERIFY(hosts.events("replica_healed").empty());
        hosts.run->finish();
        for (const auto& worker : hosts.workers) {
            const bool wasCut = worker == hosts.workers.back();
            const CliResult result = CliFolder::finish(*worker);
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
            QCOMPARE(result.out.count("joined as worker"), wasCut ? 2 : 1);
            QCOMPARE(result.out.contains("joining again for 60 s"), wasCut);
        }
        QCOMPARE(hash, referenceHash(hosts.fault, absence, steps));
    }

    // Both live and say so; only their way to each other is gone.
    void aCutBetweenNeighbours() {
        Hosts hosts(3, "ring", true);
        NetNamespaces::setIsolated(1, true);
        NetNamespaces::setIsolated(2, true);
        QVERIFY2(hosts.goOnUntil([&] { return hosts.contributors() == 2; }),
                 qPrintable(hosts.told()));
        hosts.goOn(kCutMs);
        NetNamespaces::setIsolated(1, false);
        NetNamespaces::setIsolated(2, false);
        QVERIFY2(hosts.goOnUntil([&] { return hosts.contributors() == 3; }),
                 qPrintable(hosts.told()));
        hosts.run->advanceTo(hosts.run->step() + 10);
        QCOMPARE(hosts.contributors(), std::uint64_t{3});
        QVERIFY(hosts.hasEveryStepOnce());
        QVERIFY(hosts.events("replica_healed").empty());
        const std::string lost = hosts.events("worker_lost").front().details;
        QVERIFY2(lost.find("cannot send to worker 1 (worker-1 on ") != std::string::npos,
                 lost.c_str());
        hosts.run->finish();
        for (const auto& worker : hosts.workers) {
            const CliResult result = CliFolder::finish(*worker);
            QVERIFY2(result.exitCode == 0, qPrintable(result.error));
        }
    }
};

QTEST_GUILESS_MAIN(TestCliHosts)
#include "test_cli_hosts.moc"
