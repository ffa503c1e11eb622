// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/local_processes.h"

#include "engine/core/errors.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace gradlab::transport {
namespace {

/// What a child starts with, whatever this process has done to signals and files.
class SpawnSettings {
public:
    SpawnSettings() {
        ::posix_spawnattr_init(&attributes);
        ::posix_spawn_file_actions_init(&files);
        sigset_t signals;
        ::sigemptyset(&signals);
        ::posix_spawnattr_setsigmask(&attributes, &signals);
        ::sigfillset(&signals);
        ::posix_spawnattr_setsigdefault(&attributes, &signals);
        ::posix_spawnattr_setpgroup(&attributes, 0);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETPGROUP);
        // Standard output is the coordinator's; errors may be seen.
        ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    }
    ~SpawnSettings() {
        ::posix_spawn_file_actions_destroy(&files);
        ::posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    posix_spawnattr_t attributes{};
    posix_spawn_file_actions_t files{};
};

std::string describe(int status) {
    if (WIFSIGNALED(status))
        return "signal " + std::to_string(WTERMSIG(status));
    return "exit code " + std::to_string(WEXITSTATUS(status));
}

pid_t waitFor(std::int64_t pid, int& status, int options) {
    pid_t ended = 0;
    do
        ended = ::waitpid(static_cast<pid_t>(pid), &status, options);
    while (ended < 0 && errno == EINTR);
    return ended;
}

} // namespace

LocalProcesses::LocalProcesses(std::vector<std::string> command) : command_(std::move(command)) {}

LocalProcesses::~LocalProcesses() {
    killAll();
    int status = 0;
    for (const Process& process : processes_)
        (void)waitFor(process.pid, status, 0);
}

std::int64_t LocalProcesses::start(const std::string& name,
                                   const std::vector<std::string>& arguments) {
    if (command_.empty())
        throw engine::TransportError("this program cannot start workers itself: cluster.wait_for; "
                                     "start them with gradlab-cli worker --connect");
    std::vector<std::string> words = command_;
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const SpawnSettings settings;
    pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, words.front().c_str(), &settings.files,
                                     &settings.attributes, pointers.data(), environ);
    if (error != 0)
        throw engine::TransportError("cannot start a worker (" +
                                     std::generic_category().message(error) +
                                     "): " + words.front() + "; check the installation");
    processes_.push_back({pid, name, false});
    return pid;
}

std::vector<EndedProcess> LocalProcesses::reap() {
    std::vector<EndedProcess> ended;
    std::erase_if(processes_, [&ended](const Process& process) {
        int status = 0;
        const pid_t pid = waitFor(process.pid, status, WNOHANG);
        if (pid == 0)
            return false;
        ended.push_back({process.pid, process.name, pid < 0 ? "unknown" : describe(status)});
        return true;
    });
    return ended;
}

LocalProcesses::Process* LocalProcesses::find(std::int64_t pid) noexcept {
    const auto found = std::find_if(processes_.begin(), processes_.end(),
                                    [pid](const Process& process) { return process.pid == pid; });
    return found == processes_.end() ? nullptr : &*found;
}

bool LocalProcesses::runs(std::int64_t pid) const noexcept {
    return std::any_of(processes_.begin(), processes_.end(),
                       [pid](const Process& process) { return process.pid == pid; });
}

bool LocalProcesses::runs(const std::string& name) const noexcept {
    return std::any_of(processes_.begin(), processes_.end(),
                       [&name](const Process& process) { return process.name == name; });
}

bool LocalProcesses::isFrozen(std::int64_t pid) const noexcept {
    return std::any_of(processes_.begin(), processes_.end(), [pid](const Process& process) {
        return process.pid == pid && process.frozen;
    });
}

void LocalProcesses::freeze(std::int64_t pid) {
    if (Process* process = find(pid)) {
        (void)::kill(static_cast<pid_t>(pid), SIGSTOP);
        process->frozen = true;
    }
}

void LocalProcesses::thaw(std::int64_t pid) {
    if (Process* process = find(pid)) {
        (void)::kill(static_cast<pid_t>(pid), SIGCONT);
        process->frozen = false;
    }
}

void LocalProcesses::kill(std::int64_t pid) {
    if (find(pid) != nullptr)
        (void)::kill(static_cast<pid_t>(pid), SIGKILL);
}

void LocalProcesses::killAll() {
    for (const Process& process : processes_)
        (void)::kill(static_cast<pid_t>(process.pid), SIGKILL);
}

} // namespace gradlab::transport
