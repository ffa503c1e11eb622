// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Real worker processes are killed, frozen and restarted at drawn points of a step. Whatever
// happens, the run goes on, says what happened, and ends with the parameters of a run in which the
// same workers took part in the same steps.
// GRADLAB_FAULT_RUNS: how many cases, above a sample with freezes of ten seconds;
// GRADLAB_FAULT_SEED.
#include "tests/support/fault_run.h"

#include <QStringList>
#include <QTest>

#include <algorithm>
#include <cstdio>

using namespace gradlab;
using namespace gradlab::tests;

namespace {

constexpr int kSample = 14; // each kind twice
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostDelayS = 12.0; // joining alone takes seconds
#else
constexpr double kMostDelayS = 3.0;
#endif

struct Summary {
    int runs = 0;
    int passed = 0;
    int redone = 0; ///< runs in which a step was exchanged again
    double longestStepS = 0.0;
};

int numberFrom(const char* variable, int otherwise) {
    return qEnvironmentVariableIsSet(variable) ? qEnvironmentVariableIntValue(variable) : otherwise;
}

QString reasonOf(FaultKind kind) {
    switch (kind) {
    case FaultKind::Kill:
        return "its process ended, signal 9|silent for 2.";
    case FaultKind::Freeze:
        return "silent for 2.";
    case FaultKind::Restart:
        return "its process ended, signal 9|replaced by a process of the same name|silent for 2.";
    case FaultKind::Replace:
        return "replaced by a process of the same name|silent for 2.";
    case FaultKind::Sever:
        return "it connected anew|silent for 2.";
    case FaultKind::Stall:
    case FaultKind::Cut:
        break;
    }
    return "";
}

/// Everything that is not as it should be.
class Findings {
public:
    explicit Findings(const FaultRun& run) : run_(run), absence_(run.absence()) {
        everyStepOnce();
        contributors();
        events();
        if (run_.longestStepS() >= kMostDelayS)
            problem(QString("a step took %1 s").arg(run_.longestStepS()));
        if (run_.hash != referenceHash(run_.fault(), absence_, run_.steps))
            problem(QString("other parameters than without %1 in steps [%2, %3)")
                        .arg(run_.fault().victim)
                        .arg(absence_.lost)
                        .arg(absence_.joined));
        leftOver();
    }
    [[nodiscard]] bool isEmpty() const { return problems_.isEmpty(); }
    [[nodiscard]] QString text() const {
        QString text = problems_.join("\n  ");
        for (const engine::EventRecord& event : run_.records().events)
            text += QString("\n    step %1 %2: %3")
                        .arg(event.step)
                        .arg(QString::fromStdString(event.event),
                             QString::fromStdString(event.details));
        return text;
    }

private:
    void problem(const QString& what) { problems_ << what; }

    void everyStepOnce() {
        const auto& steps = run_.records().steps;
        bool once = steps.size() == run_.steps;
        for (std::size_t i = 0; i < steps.size(); ++i)
            once &= steps[i].step == i + 1;
        if (!once)
            problem("the log does not have every step once");
    }
    [[nodiscard]] bool isAbsent(std::uint64_t step) const {
        return absence_.lost != 0 && step >= absence_.lost &&
               (absence_.joined == 0 || step < absence_.joined);
    }
    void contributors() {
        std::map<std::uint64_t, std::vector<std::uint32_t>> told;
        for (const engine::WorkerRecord& worker : run_.records().workers)
            told[worker.step].push_back(worker.rank);
        for (const engine::StepRecord& step : run_.records().steps) {
            const bool absent = isAbsent(step.step);
            if (step.contributors != run_.fault().workers - (absent ? 1 : 0))
                problem(QString("%1 workers contributed to step %2")
                            .arg(step.contributors)
                            .arg(step.step));
            // Whoever is lost after a commit contributed, but cannot tell of it any more.
            const auto& ranks = told[step.step];
            const bool tells =
                std::find(ranks.begin(), ranks.end(), run_.fault().victim) != ranks.end();
            if (tells == absent && step.step + 1 != absence_.lost)
                problem(QString("worker %1 at step %2: absent %3, tells %4")
                            .arg(run_.fault().victim)
                            .arg(step.step)
                            .arg(absent)
                            .arg(tells));
        }
    }
    [[nodiscard]] QStringList told(const char* kind) const {
        QStringList all;
        for (const engine::EventRecord& event : run_.records().events)
            if (event.event == kind)
                all << QString::fromStdString(event.details);
        return all;
    }
    /// From the fault on. A busy machine may silence anybody for a moment: that is told too, and as
    /// nobody is lost by it, it is no problem.
    [[nodiscard]] bool tellsOfVictim(const char* kind) const {
        const auto& events = run_.records().events;
        return std::any_of(events.begin(), events.end(), [&](const engine::EventRecord& event) {
            return event.event == kind && event.step >= run_.fault().point.step &&
                   event.details.find(run_.fault().point.name) != std::string::npos;
        });
    }
    void events() {
        if (!told("replica_healed").isEmpty())
            problem("replicas differed");
        for (const QString& warning : told("warning"))
            if (!warning.contains(" broke: what was under way is lost"))
                problem("a warning");
        const QString who = QString::fromStdString(run_.fault().point.name);
        const qsizetype losses = told("worker_lost").size();
        const bool cut = run_.fault().kind == FaultKind::Cut;
        const bool stall = run_.fault().kind == FaultKind::Stall || cut;
        const qsizetype expected = (run_.fault().whileLoading() ? 1 : 0) + (stall ? 0 : 1);
        if (losses != expected)
            problem(QString("%1 losses told, %2 expected").arg(losses).arg(expected));
        if (!stall && losses > 0) {
            const QString last = told("worker_lost").last();
            bool why = false;
            for (const QString& reason : reasonOf(run_.fault().kind).split('|'))
                why |= last.contains(reason);
            if (!why || !last.contains(who))
                problem("the log does not say who was lost, and why");
        }
        if (stall && !cut && !run_.fault().whileLoading() &&
            (!tellsOfVictim("worker_stalled") || !tellsOfVictim("worker_recovered")))
            problem("stalled and recovered are not told");
        if (run_.comesBack() &&
            !told("worker_joined").last().contains(QString("process %1").arg(run_.heirPid())))
            problem("another one came back");
    }
    void leftOver() {
        if (!waitUntil([this] { return processesWith({run_.endpoint()}).empty(); },
                       std::chrono::seconds(2)))
            problem("processes are left over");
        for (const auto& [pid, how] : run_.otherEnds) {
            const bool replaced =
                run_.fault().kind == FaultKind::Replace && pid == run_.victimPid();
            const bool killed = run_.fault().point.action == "kill" && pid == run_.victimPid();
            const std::string expected = replaced ? "exit code 4"
                                         : killed ? "signal 9"
                                                  : "exit code 0";
            if (how != expected)
                problem("a worker that the test started: " + QString::fromStdString(how));
        }
    }

    const FaultRun& run_;
    Absence absence_;
    QStringList problems_;
};

} // namespace

class TestZmqFaults : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void drawnFaults_data() {
        QTest::addColumn<int>("number");
        for (int number = 0; number < runs_; ++number)
            QTest::addRow("%d %s", number, drawn(number).text().c_str()) << number;
    }
    void drawnFaults() {
        QFETCH(int, number);
        const FaultCase fault = drawn(number);
        Summary& summary = summaries_[fault.kind];
        ++summary.runs;
        FaultRun run(fault, std::chrono::seconds(runs_ > kSample ? 10 : 0));
        try {
            run.carryOut();
        } catch (const std::exception& error) {
            QFAIL(error.what());
        }
        const Findings findings(run);
        summary.redone += run.redid() ? 1 : 0;
        summary.longestStepS = std::max(summary.longestStepS, run.longestStepS());
        if (!findings.isEmpty()) // whole: QVERIFY2 cuts long texts
            std::fprintf(stderr, "%s\n", qPrintable(findings.text()));
        QVERIFY2(findings.isEmpty(), qPrintable(findings.text()));
        ++summary.passed;
    }

    // A stop (Ctrl-C) while one worker is at some point of a step: whole steps are done, and going
    // on makes the run that was never stopped.
    void aStopLeavesWholeSteps_data() {
        QTest::addColumn<QString>("topology");
        QTest::addColumn<int>("phase");
        for (const char* topology : {"server", "ring"})
            for (const auto& [phase, name] : kPhases)
                if (phase != transport::WorkerPhase::Loading)
                    QTest::addRow("%s %s", topology, name) << topology << static_cast<int>(phase);
    }
    void aStopLeavesWholeSteps() {
        QFETCH(QString, topology);
        QFETCH(int, phase);
        constexpr std::uint64_t kStep = 3;
        constexpr std::uint64_t kLast = 6;
        FaultCase fault;
        fault.topology = topology.toStdString();
        fault.method = "topk";
        fault.victim = 1;
        fault.point = {"stop", static_cast<transport::WorkerPhase>(phase), 1, kStep, "worker-1"};
        ClusterRun run(FaultRun::zmqExperiment(fault), FaultRun::options(&fault.point));
        run.advanceTo(kStep - 1);
        std::int64_t pid = 0;
        for (const engine::ClusterMember& member : run.view().members)
            if (member.name == fault.point.name)
                pid = member.pid;
        std::stop_source stop;
        const std::jthread user([&] {
            (void)waitUntil([pid] { return stateOf(pid) == 'T'; });
            stop.request_stop();
            (void)::kill(static_cast<pid_t>(pid), SIGCONT);
        });
        (void)run.advance(stop.get_token());
        ClusterRun::require("the stop", [&] { return stop.stop_requested(); });
        const std::uint64_t done = run.step();
        QVERIFY(done == kStep - 1 || done == kStep);
        QCOMPARE(run.parameterHash(), referenceHash(fault, {}, done));
        run.advanceTo(kLast);
        QCOMPARE(run.parameterHash(), referenceHash(fault, {}, kLast));
        run.finish();
    }
    void cleanupTestCase() {
        for (const auto& [kind, summary] : summaries_)
            qInfo("%-8s %3d of %3d as they should be, a step redone in %3d, longest step %.2f s",
                  kFaultKinds[static_cast<std::size_t>(kind)], summary.passed, summary.runs,
                  summary.redone, summary.longestStepS);
    }

private:
    [[nodiscard]] FaultCase drawn(int number) const {
        return drawFault(seed_, static_cast<std::uint32_t>(number));
    }

    int runs_ = numberFrom("GRADLAB_FAULT_RUNS", kSample);
    std::uint32_t seed_ = static_cast<std::uint32_t>(numberFrom("GRADLAB_FAULT_SEED", 1));
    std::map<FaultKind, Summary> summaries_;
};

QTEST_GUILESS_MAIN(TestZmqFaults)
#include "test_zmq_faults.moc"
