// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Breaks TCP connections of this process as a network does: both ends see a reset, and what was
// under way is gone.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gradlab::tests {

/// The port that a TCP socket is bound to.
inline std::optional<std::uint16_t> localPort(int descriptor) {
    sockaddr_storage address{};
    socklen_t size = sizeof(address);
    if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        return std::nullopt;
    if (address.ss_family == AF_INET)
        return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
    if (address.ss_family == AF_INET6)
        return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
    return std::nullopt;
}

enum class Connections {
    FromNeighbour, ///< to a port on which this process listens: of a worker, its ring's
    All
};

inline void cutConnections(Connections which) {
    std::set<std::uint16_t> listening;
    std::vector<std::pair<int, std::uint16_t>> connected;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int descriptor = std::stoi(entry.path().filename().string());
        const auto port = localPort(descriptor);
        if (!port)
            continue;
        int accepts = 0;
        socklen_t size = sizeof(accepts);
        (void)::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &size);
        if (accepts != 0)
            listening.insert(*port);
        else
            connected.emplace_back(descriptor, *port);
    }
    sockaddr nobody{};
    nobody.sa_family = AF_UNSPEC;
    for (const auto& [descriptor, port] : connected)
        if (which == Connections::All || listening.contains(port))
            (void)::connect(descriptor, &nobody, sizeof(nobody));
}

} // namespace gradlab::tests
