// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Worker processes that this program starts, watches and ends: none is left behind. Each is its own
// process group, so that a terminal's Ctrl-C is the coordinator's affair alone, and knows its
// parent's pid, so that it ends by itself where the coordinator cannot (killed). Leaves out: what
// they do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::transport {

struct EndedProcess {
    std::int64_t pid = 0;
    std::string name;
    std::string how; ///< "signal 9", "exit code 4"
};

/// Not thread-safe. The destructor kills whoever still runs and waits for their end.
class LocalProcesses {
public:
    /// `command`: program and first arguments.
    explicit LocalProcesses(std::vector<std::string> command);
    ~LocalProcesses();
    LocalProcesses(const LocalProcesses&) = delete;
    LocalProcesses& operator=(const LocalProcesses&) = delete;

    /// Starts `command arguments…`; the name is for reap(). Returns the pid.
    /// @throws engine::TransportError if that cannot be
    std::int64_t start(const std::string& name, const std::vector<std::string>& arguments);
    /// Who ended since the last call.
    [[nodiscard]] std::vector<EndedProcess> reap();
    [[nodiscard]] bool runs(std::int64_t pid) const noexcept;
    [[nodiscard]] bool runs(const std::string& name) const noexcept;
    [[nodiscard]] std::size_t running() const noexcept { return processes_.size(); }

    void freeze(std::int64_t pid); ///< these do nothing for processes that are not ours
    void thaw(std::int64_t pid);
    void kill(std::int64_t pid);
    void killAll();
    [[nodiscard]] bool isFrozen(std::int64_t pid) const noexcept;

private:
    struct Process {
        std::int64_t pid = 0;
        std::string name;
        bool frozen = false;
    };
    [[nodiscard]] Process* find(std::int64_t pid) noexcept;

    std::vector<std::string> command_;
    std::vector<Process> processes_; ///< started and not reaped: their pids are theirs
};

} // namespace gradlab::transport
