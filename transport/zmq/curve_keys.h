// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// CURVE keys of a cluster: one JSON file that its coordinator and its workers have copies of,
//   {"format": "gradlab-keys-1", "server": {"public": …, "secret": …},
//    "workers": {"worker-0": {"public": …, "secret": …}, …}}
// and what sockets do with them. A copy for one worker may leave the other secrets out. Leaves out:
// who is admitted when a peer connects (zap_handler.h).
#pragma once

#include <zmq.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace gradlab::transport {

/// Z85 texts of 40 characters; `secretKey` may be empty.
struct KeyPair {
    std::string publicKey;
    std::string secretKey;
    /// @throws engine::TransportError where libzmq has no CURVE
    [[nodiscard]] static KeyPair make();
};

struct ClusterKeys {
    KeyPair server;
    std::map<std::string, KeyPair> workers; ///< by name

    /// For workers worker-0 … worker-(n − 1).
    [[nodiscard]] static ClusterKeys make(std::size_t workers);
    /// @throws engine::DataError for a file that is missing, readable by others than its owner, or
    /// damaged
    [[nodiscard]] static ClusterKeys load(const std::string& file);
    /// Readable by its owner alone from the first byte on; whole or not at all. An existing file is
    /// replaced. @throws engine::DataError naming the file
    void save(const std::string& file) const;

    /// The pair of the worker `name`; without a name that of the only worker whose secret is here.
    /// @throws engine::ExperimentError naming --name
    [[nodiscard]] const KeyPair& worker(const std::string& name) const;
    /// The workers' public keys: who may connect.
    [[nodiscard]] std::vector<std::string> admitted() const;
};

/// Before bind: only clients that know `own`'s public key get through, and of these only those that
/// the context's ZapHandler admits.
void listenWithKey(zmq::socket_t& socket, const KeyPair& own);
/// Before connect: the peer must prove that it has `serverKey`'s secret.
void connectWithKey(zmq::socket_t& socket, const KeyPair& own, const std::string& serverKey);

} // namespace gradlab::transport
