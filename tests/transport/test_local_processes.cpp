// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Processes that the coordinator starts: how they are started, watched, frozen and ended. Stand-ins
// sleep; what the real ones do is the worker's tests' affair.
#include "tests/support/coordinator_case.h"
#include "transport/zmq/local_processes.h"

#include <QDir>
#include <QFile>
#include <QTest>

#include <unistd.h>

#include <algorithm>
#include <csignal>

using namespace gradlab;
using namespace gradlab::test;
using transport::EndedProcess;
using transport::LocalProcesses;

namespace {

const std::vector<std::string> kSleeper = {"/bin/sh", "-c", "exec sleep 1000"};

bool exists(std::int64_t pid) {
    return ::kill(static_cast<pid_t>(pid), 0) == 0;
}

/// A line of /proc/PID/status, without its name.
QString statusOf(std::int64_t pid, const QString& field) {
    QFile file("/proc/" + QString::number(pid) + "/status");
    if (!file.open(QIODevice::ReadOnly))
        return {};
    for (const QString& line : QString(file.readAll()).split('\n'))
        if (line.startsWith(field + ":"))
            return line.mid(field.size() + 1).trimmed();
    return {};
}

std::vector<EndedProcess> awaitEnd(LocalProcesses& processes) {
    std::vector<EndedProcess> ended;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (ended.empty() && std::chrono::steady_clock::now() < end) {
        ended = processes.reap();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return ended;
}

engine::ClusterSetup localSetup(std::uint32_t workers) {
    engine::ClusterSetup setup = clusterSetup(workers);
    setup.experiment.cluster.waitFor = 0;
    return setup;
}

transport::CoordinatorOptions standIns(std::vector<std::string> command) {
    transport::CoordinatorOptions options;
    options.workerCommand = std::move(command);
    return options;
}

} // namespace

class TestLocalProcesses : public QObject {
    Q_OBJECT

private slots:
    void anEndIsTold() {
        LocalProcesses processes({"/bin/sh", "-c"});
        const std::int64_t pid = processes.start("seven", {"exit 7"});
        const auto ended = awaitEnd(processes);
        QCOMPARE(ended.size(), std::size_t{1});
        QCOMPARE(ended[0].pid, pid);
        QCOMPARE(ended[0].name, std::string("seven"));
        QCOMPARE(ended[0].how, std::string("exit code 7"));
        const std::int64_t other = processes.start("killed", {"exec sleep 1000"});
        QVERIFY(processes.runs(other) && processes.runs("killed"));
        processes.kill(other);
        QCOMPARE(awaitEnd(processes).at(0).how, std::string("signal 9"));
        QVERIFY(!processes.runs(other));
    }

    void aMissingProgramIsAnError() {
        LocalProcesses none({});
        QVERIFY_EXCEPTION_THROWN((void)none.start("a", {}), engine::TransportError);
        LocalProcesses missing({"/no/such/program"});
        QVERIFY_EXCEPTION_THROWN((void)missing.start("a", {}), engine::TransportError);
    }

    void frozenAndThawed() {
        LocalProcesses processes(kSleeper);
        const std::int64_t pid = processes.start("a", {});
        processes.freeze(pid);
        QTRY_VERIFY(statusOf(pid, "State").startsWith('T'));
        QVERIFY(processes.isFrozen(pid));
        processes.thaw(pid);
        QTRY_VERIFY(statusOf(pid, "State").startsWith('S'));
        QVERIFY(!processes.isFrozen(pid));
        processes.freeze(::getpid()); // not one of them: nothing happens
        QVERIFY(!processes.isFrozen(::getpid()));
    }

    // Its own process group (Ctrl-C is not for it), no signals blocked, no files of ours.
    void itInheritsNothingButItsWords() {
        sigset_t interrupt;
        ::sigemptyset(&interrupt);
        ::sigaddset(&interrupt, SIGINT);
        sigset_t before;
        ::pthread_sigmask(SIG_BLOCK, &interrupt, &before);
        const int leaked = ::dup(STDIN_FILENO); // without close-on-exec
        LocalProcesses processes(kSleeper);
        const std::int64_t pid = processes.start("a", {});
        ::close(leaked);
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        QCOMPARE(::getpgid(static_cast<pid_t>(pid)), static_cast<pid_t>(pid));
        QTRY_COMPARE(statusOf(pid, "Name"), QString("sleep"));
        QCOMPARE(statusOf(pid, "SigBlk").toULongLong(nullptr, 16), 0ULL);
        const QStringList files = QDir("/proc/" + QString::number(pid) + "/fd")
                                      .entryList(QDir::NoDotAndDotDot | QDir::System | QDir::Files);
        for (const QString& descriptor : files)
            QVERIFY2(descriptor.toInt() <= STDERR_FILENO, qPrintable(descriptor));
    }

    void nobodyIsLeftBehind() {
        std::vector<std::int64_t> pids;
        {
            LocalProcesses processes(kSleeper);
            for (const char* name : {"a", "b", "c"})
                pids.push_back(processes.start(name, {}));
            processes.freeze(pids[1]);
        }
        for (const std::int64_t pid : pids)
            QVERIFY(!exists(pid));
    }

    void theCoordinatorStartsAndEndsThem() {
        std::vector<std::int64_t> pids;
        {
            CoordinatorCase one(localSetup(2), standIns(kSleeper));
            one.until([&] { return one.coordinator->view().members.size() == 2; });
            one.coordinator->startLocalWorker();
            one.until([&] { return one.coordinator->view().members.size() == 3; });
            for (const engine::ClusterMember& member : one.coordinator->view().members) {
                QVERIFY(member.state == engine::MemberState::Starting && member.local);
                QVERIFY(member.name.find("worker-") == 0);
                QVERIFY(exists(member.pid));
                pids.push_back(member.pid);
            }
        }
        for (const std::int64_t pid : pids)
            QVERIFY(!exists(pid));
    }

    void oneThatCannotStartEndsTheRun() {
        CoordinatorCase one(localSetup(2), standIns({"/bin/sh", "-c", "exit 3"}));
        auto call = one.startBoundary();
        try {
            one.finish(call);
            QFAIL("went on");
        } catch (const engine::TransportError& error) {
            QVERIFY2(std::string(error.what()).find("exit code 3") != std::string::npos,
                     error.what());
        }
        CoordinatorCase none(localSetup(1), standIns({"/no/such/program"}));
        auto other = none.startBoundary();
        QVERIFY_EXCEPTION_THROWN(none.finish(other), engine::TransportError);
    }

    // Scripted workers that say the stand-ins' pids stand for what those would say.
    void frozenAndKilledOnPurpose() {
        transport::CoordinatorOptions options = standIns(kSleeper);
        options.stalledAfter = std::chrono::milliseconds(300);
        options.lostAfter = std::chrono::milliseconds(800);
        CoordinatorCase one(localSetup(2), options);
        one.until([&] { return one.coordinator->view().members.size() == 2; });
        auto started = one.coordinator->view().members;
        std::sort(started.begin(), started.end(),
                  [](const auto& a, const auto& b) { return a.name > b.name; });
        auto call = one.startBoundary();
        for (std::size_t i = 0; i < started.size(); ++i) {
            ScriptedWorker& worker = one.add(started[i].name);
            worker.hello.pid = started[i].pid;
            worker.hello.bootId = transport::bootId();
            worker.introduce();
            one.until([&] {
                const auto members = one.coordinator->view().members;
                return std::count_if(members.begin(), members.end(), [](const auto& member) {
                           return member.state != engine::MemberState::Starting;
                       }) > static_cast<std::ptrdiff_t>(i);
            });
        }
        one.finish(call);
        // Ranks go by names, whoever was first.
        std::swap(one.workers[0], one.workers[1]);
        QCOMPARE(one.workers[0]->rank, 0U);
        QCOMPARE(one.workers[0]->hello.name, std::string("worker-0"));
        QCOMPARE(one.workers[0]->welcome.threads, 2U); // 4 of the run for 2 of them
        engine::ClusterView view = one.coordinator->view();
        QVERIFY(view.members[0].local && view.members[1].local);
        const std::int64_t pid = view.members[1].pid;

        one.coordinator->act(1, engine::WorkerAction::Freeze);
        one.until([&] { return one.coordinator->view().members[1].suspended; });
        one.workers[1]->manners.beats = false;
        one.until([&] { return !one.events("worker_lost").empty(); });
        one.coordinator->act(1, engine::WorkerAction::Thaw); // lost, but still ours
        one.until([&] { return !one.coordinator->view().members[1].suspended; });
        one.workers[1]->sayHello();
        one.workers[1]->manners.beats = true;
        one.until([&] { return one.workers[1]->heard("wait") == 1; });
        one.boundary();

        one.coordinator->act(1, engine::WorkerAction::Kill);
        one.until([&] { return one.events("worker_lost").size() == 2; });
        const std::string said = one.events("worker_lost").back().details;
        QVERIFY2(said.find("its process ended, signal 9") != std::string::npos, said.c_str());
        QVERIFY(!exists(pid));
        one.coordinator->act(0, engine::WorkerAction::Leave);
        one.until([&] { return one.workers[0]->heard("finish") == 1; });
    }
};

QTEST_GUILESS_MAIN(TestLocalProcesses)
#include "test_local_processes.moc"
