// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The README's lines that start workers elsewhere, run as they stand: plain processes stand in for
// ssh, scp and srun, and for the container that a Kubernetes job makes.
#include "tests/support/cli_process.h"

#include <QTest>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

using namespace gradlab::tests;

namespace {

QString textOf(const QString& name) {
    QFile file(QStringLiteral(GRADLAB_SOURCE_DIR "/") + name);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// The line of the README that starts so.
QString readmeLine(const QString& begin) {
    for (const QString& line : textOf(QStringLiteral("README.md")).split(u'\n'))
        if (line.startsWith(begin))
            return line;
    return {};
}

/// A socket bound to a port of the loopback address, 0 = any free one.
class BoundPort {
public:
    explicit BoundPort(int port) : descriptor_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(address);
        auto* const plain = reinterpret_cast<sockaddr*>(&address);
        if (::bind(descriptor_, plain, size) == 0 && ::getsockname(descriptor_, plain, &size) == 0)
            port_ = ntohs(address.sin_port);
    }
    ~BoundPort() { ::close(descriptor_); }
    BoundPort(const BoundPort&) = delete;
    BoundPort& operator=(const BoundPort&) = delete;
    [[nodiscard]] int port() const { return port_; } ///< 0: taken

private:
    int descriptor_;
    int port_ = 0;
};

/// Two neighbouring ports that nobody uses now.
int freePorts() {
    for (int attempt = 0; attempt < 50; ++attempt) {
        const BoundPort first(0);
        if (first.port() != 0 && BoundPort(first.port() + 1).port() != 0)
            return first.port();
    }
    return 0;
}

/// A shell in the folder, in which the stand-ins and gradlab-cli are found.
class Shell {
public:
    Shell() {
        script("ssh", "shift\nexec sh -c \"$*\"\n"); // ssh HOST COMMAND …
        script("scp", "exit 0\n");                   // every stand-in sees the same folder
        script("srun", "shift\nfor rank in 0 1; do SLURM_PROCID=$rank \"$@\" & done\nwait\n");
        port_ = freePorts();
    }
    [[nodiscard]] const CliFolder& folder() const { return folder_; }
    void start(QProcess& process, QString line) const {
        line.replace("5555", QString::number(port_));
        line.replace("HEAD", "127.0.0.1");
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", folder_.path("bin") +
                                       ":" GRADLAB_BINARY_DIR "/bin:" + environment.value("PATH"));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(folder_.path(""));
        process.start("sh", {"-c", line});
    }
    [[nodiscard]] CliResult run(const QString& line) const {
        QProcess process;
        start(process, line);
        return CliFolder::finish(process);
    }

private:
    void script(const QString& name, const QByteArray& body) const {
        QDir(folder_.path("")).mkpath("bin");
        folder_.write("bin/" + name, "#!/bin/sh\n" + body);
        QFile::setPermissions(folder_.path("bin/" + name),
                              QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    CliFolder folder_;
    int port_ = 0;
};

} // namespace

class TestCliReadme : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void workersJoin_data() {
        QTest::addColumn<QString>("line");
        QTest::newRow("ssh") << readmeLine("for i in 0 1");
        QTest::newRow("Slurm") << readmeLine("srun ");
        // What the kubelet does: the command with the pod's index, the secret mounted.
        const QString begin = QStringLiteral("[\"sh\", \"-c\", \"");
        const QString job = textOf(QStringLiteral("resources/cluster/kubernetes-job.yaml"));
        const QString inPod = job.mid(job.indexOf(begin) + begin.size())
                                  .section(u'"', 0, 0)
                                  .replace("/keys/keys.json", "keys.json");
        QVERIFY(job.contains(begin));
        QTest::newRow("Kubernetes")
            << QString("for index in 0 1; do JOB_COMPLETION_INDEX=$index sh -c '%1' & done; wait")
                   .arg(inPod);
    }
    void workersJoin() {
        QFETCH(QString, line);
        QVERIFY(!line.isEmpty());
        const Shell shell;
        const CliResult keys = shell.run(readmeLine("gradlab-cli keygen"));
        QVERIFY2(keys.exitCode == 0, qPrintable(keys.error));
        QProcess coordinator;
        shell.start(coordinator, readmeLine("gradlab-cli train --transport zmq") +
                                     " --steps 20 --hidden 8 --eval-batch 100");
        QTRY_VERIFY_WITH_TIMEOUT((coordinator.waitForReadyRead(100),
                                  coordinator.peek(4096).contains("waiting for 2 workers")),
                                 20000);
        const CliResult workers = shell.run(line);
        QVERIFY2(workers.exitCode == 0, qPrintable(workers.error));
        const CliResult ended = CliFolder::finish(coordinator);
        QVERIFY2(ended.exitCode == 0, qPrintable(ended.error));
        QVERIFY2(ended.out.contains("worker-0") && ended.out.contains("worker-1"),
                 qPrintable(ended.out));
        QVERIFY(shell.folder().has("runs/two/summary.json"));
    }
};

QTEST_GUILESS_MAIN(TestCliReadme)
#include "test_cli_readme.moc"
