// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Hosts of a test as network namespaces: each with one address, all at one bridge, links that can
// be cut. Needs root and the program ip; nothing outside of the namespaces changes.
#pragma once

#include <QProcess>
#include <QStringList>

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

namespace gradlab::tests {

class NetNamespaces {
public:
    /// Empty if they can be made; else why not.
    static QString whyNot() {
        QProcess ip;
        ip.start("ip", {"netns", "add", prefix() + "t"});
        if (!ip.waitForFinished() || ip.error() == QProcess::FailedToStart)
            return "there is no program ip";
        if (ip.exitCode() != 0)
            return QString::fromUtf8(ip.readAllStandardError()).trimmed();
        run({"netns", "del", prefix() + "t"});
        return {};
    }

    /// @throws std::runtime_error naming the command that failed
    explicit NetNamespaces(int hosts) : remover_(namesOf(hosts)) {
        for (const QString& one : namesOf(hosts))
            run({"netns", "add", one});
        run({"-n", switchName(), "link", "add", "bridge0", "type", "bridge"});
        run({"-n", switchName(), "link", "set", "bridge0", "up"});
        for (int host = 0; host < hosts; ++host)
            connect(host);
    }

    [[nodiscard]] static QString name(int host) { return prefix() + QString::number(host); }
    [[nodiscard]] static QString address(int host) { return QString("10.77.0.%1").arg(host + 1); }

    static void setLink(int host, bool up) {
        run({"-n", switchName(), "link", "set", port(host), up ? "up" : "down"});
    }
    /// Isolated hosts reach others, but not each other.
    static void setIsolated(int host, bool isolated) {
        run({"-n", switchName(), "link", "set", port(host), "type", "bridge_slave", "isolated",
             isolated ? "on" : "off"});
    }
    static void start(QProcess& process, int host, const QString& program,
                      const QStringList& arguments) {
        process.start("ip", QStringList{"netns", "exec", name(host), program} + arguments);
    }

private:
    static QString prefix() { return QString("glab%1-").arg(::getpid()); }
    static QString switchName() { return prefix() + "s"; }
    static QString port(int host) { return "port" + QString::number(host); }
    static void run(const QStringList& arguments) {
        QProcess ip;
        ip.start("ip", arguments);
        if (!ip.waitForFinished() || ip.exitCode() != 0)
            throw std::runtime_error(("ip " + arguments.join(' ') + ": " +
                                      QString::fromUtf8(ip.readAllStandardError()).trimmed())
                                         .toStdString());
    }
    static void connect(int host) {
        const QString there = name(host);
        run({"link", "add", "eth", "netns", there, "type", "veth", "peer", "name", port(host),
             "netns", switchName()});
        run({"-n", there, "addr", "add", address(host) + "/24", "dev", "eth"});
        run({"-n", there, "link", "set", "lo", "up"});
        run({"-n", there, "link", "set", "eth", "up"});
        run({"-n", switchName(), "link", "set", port(host), "master", "bridge0"});
        setLink(host, true);
    }
    static QStringList namesOf(int hosts) {
        QStringList names = {switchName()};
        for (int host = 0; host < hosts; ++host)
            names << name(host);
        return names;
    }

    /// Removes them at the end, also when this process ends in any other way: its end of the pipe
    /// is closed then.
    class Remover {
    public:
        explicit Remover(const QStringList& names) {
            const QString script =
                "cat >/dev/null; for name in \"$@\"; do ip netns del \"$name\"; done";
            shell_.setStandardErrorFile(QProcess::nullDevice());
            shell_.start("setsid", QStringList{"sh", "-c", script, "sh"} + names);
            if (!shell_.waitForStarted())
                throw std::runtime_error("cannot start setsid");
        }
        ~Remover() {
            shell_.closeWriteChannel();
            shell_.waitForFinished();
        }
        Remover(const Remover&) = delete;
        Remover& operator=(const Remover&) = delete;

    private:
        QProcess shell_;
    };
    Remover remover_;
};

/// The calling thread, and those that it starts, are on a host while this lives.
class OnHost {
public:
    explicit OnHost(int host) : back_(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)) {
        const std::string file = "/run/netns/" + NetNamespaces::name(host).toStdString();
        const int there = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
        if (back_ < 0 || there < 0 || ::setns(there, CLONE_NEWNET) != 0)
            throw std::runtime_error("cannot enter " + file);
        ::close(there);
    }
    ~OnHost() {
        (void)::setns(back_, CLONE_NEWNET);
        ::close(back_);
    }
    OnHost(const OnHost&) = delete;
    OnHost& operator=(const OnHost&) = delete;

private:
    int back_;
};

} // namespace gradlab::tests
