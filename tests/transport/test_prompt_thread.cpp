// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Threads with short time slices, as the kernel sees them; skipped where it knows no such wish.
#include "transport/zmq/prompt_thread.h"

#include <QDir>
#include <QTest>

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

using namespace gradlab::transport;

namespace {

/// Of a thread; 0: its own.
std::uint64_t sliceNs(long thread) {
    std::array<std::byte, 56> attributes{}; // sched_getattr(2)
    constexpr std::size_t kRuntimeAt = 24;
    std::uint64_t runtime = 0;
    if (::syscall(SYS_sched_getattr, thread, attributes.data(), attributes.size(), 0) == 0)
        std::memcpy(&runtime, attributes.data() + kRuntimeAt, sizeof(runtime));
    return runtime;
}

template <class Work>
void inThread(const Work& work) {
    std::jthread(work).join();
}

/// This process's threads of ZeroMQ. Each names itself, some time after it was started.
QStringList zmqThreads() {
    const QDir tasks("/proc/self/task");
    QStringList found;
    for (const QString& task : tasks.entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
        QFile name(tasks.filePath(task + "/comm"));
        if (name.open(QIODevice::ReadOnly) && name.readAll().startsWith("ZMQbg"))
            found.append(task);
    }
    return found;
}

} // namespace

class TestPromptThread : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        usual_ = sliceNs(0);
        if (usual_ == 0)
            QSKIP("this kernel does not tell of time slices");
    }

    void onlyTheThreadItself() {
        std::uint64_t own = 0;
        std::uint64_t startedByIt = 0;
        inThread([&] {
            becomePrompt();
            own = sliceNs(0);
            inThread([&] { startedByIt = sliceNs(0); });
        });
        QVERIFY2(own < usual_, qPrintable(QString::number(own)));
        QCOMPARE(startedByIt, usual_);
        QCOMPARE(sliceNs(0), usual_);
    }

    void aContextsOwnThreads() {
        zmq::context_t context = promptContext();
        zmq::socket_t socket(context, zmq::socket_type::pair);
        QTRY_VERIFY(zmqThreads().size() >= 2);
        for (const QString& task : zmqThreads())
            QVERIFY2(sliceNs(task.toLong()) < usual_, qPrintable(task));
        QCOMPARE(sliceNs(0), usual_);
    }

private:
    std::uint64_t usual_ = 0;
};

QTEST_GUILESS_MAIN(TestPromptThread)
#include "test_prompt_thread.moc"
