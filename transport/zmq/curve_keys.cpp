// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "transport/zmq/curve_keys.h"

#include "engine/core/errors.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

namespace gradlab::transport {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "gradlab-keys-1";
constexpr std::size_t kKeyCharacters = 40;
constexpr std::size_t kMostFileBytes = 16U << 20U;
constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

[[noreturn]] void refuse(const std::string& file, const std::string& what,
                         const std::string& advice) {
    throw engine::DataError(what + ": " + file + "; " + advice);
}

std::string systemError() {
    return std::strerror(errno); // NOLINT(concurrency-mt-unsafe): thread-safe in glibc
}

/// A file descriptor that is closed.
struct Descriptor {
    int number = -1;
    explicit Descriptor(int opened) : number(opened) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (number >= 0)
            ::close(number);
    }
};

std::string readPrivateFile(const std::string& file) {
    // O_NONBLOCK: opening a pipe does not wait for a writer; regular files do not know it.
    const Descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (opened.number < 0 || ::fstat(opened.number, &status) != 0)
        refuse(file, "cannot read the cluster's keys (" + systemError() + ")",
               "gradlab-cli keygen makes such a file");
    if (!S_ISREG(status.st_mode) || static_cast<std::size_t>(status.st_size) > kMostFileBytes)
        refuse(file, "not a file of keys", "gradlab-cli keygen makes one");
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        refuse(file, "others than its owner can use this file of secret keys",
               "chmod 600 it, and make new keys if others have used this machine");
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::read(opened.number, text.data() + done, text.size() - done);
        if (count <= 0)
            break;
        done += static_cast<std::size_t>(count);
    }
    text.resize(done);
    return text;
}

/// @throws json::exception, or std::string saying what is wrong
KeyPair readPair(const json& document, const std::string& owner) {
    KeyPair pair{document.at("public").get<std::string>(), document.value("secret", "")};
    std::array<std::uint8_t, 32> bytes{};
    const auto isKey = [&bytes](const std::string& text) {
        return text.size() == kKeyCharacters &&
               ::zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
    };
    if (!isKey(pair.publicKey) || (!pair.secretKey.empty() && !isKey(pair.secretKey)))
        throw engine::DataError("not a key of 40 characters: " + owner);
    return pair;
}

ClusterKeys readDocument(const std::string& text) {
    // The parser alone would keep the last of two pairs of one name, silently.
    std::vector<std::set<std::string>> names;
    const auto refuseTwice = [&names](int /*depth*/, json::parse_event_t event, json& value) {
        if (event == json::parse_event_t::object_start)
            names.emplace_back();
        else if (event == json::parse_event_t::object_end)
            names.pop_back();
        else if (event == json::parse_event_t::key &&
                 !names.back().insert(value.get<std::string>()).second)
            throw engine::DataError("the name '" + value.get<std::string>() + "' is there twice");
        return true;
    };
    const json document = json::parse(text, refuseTwice);
    if (document.at("format").get<std::string>() != kFormat)
        throw engine::DataError(std::string("its format is not ") + kFormat);
    ClusterKeys keys;
    keys.server = readPair(document.at("server"), "server");
    for (const auto& [name, pair] : document.at("workers").items())
        keys.workers.emplace(name, readPair(pair, name));
    return keys;
}

json documentOf(const KeyPair& pair) {
    json document = {{"public", pair.publicKey}};
    if (!pair.secretKey.empty())
        document["secret"] = pair.secretKey;
    return document;
}

void writeAll(int descriptor, const std::string& text, const std::string& file) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t count = ::write(descriptor, text.data() + done, text.size() - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            refuse(file, "cannot write the keys (" + systemError() + ")", "choose another place");
        done += static_cast<std::size_t>(count);
    }
    if (::fsync(descriptor) != 0)
        refuse(file, "cannot write the keys (" + systemError() + ")", "choose another place");
}

} // namespace

KeyPair KeyPair::make() {
    std::array<char, kKeyCharacters + 1> publicKey{};
    std::array<char, kKeyCharacters + 1> secretKey{};
    if (::zmq_curve_keypair(publicKey.data(), secretKey.data()) != 0)
        throw engine::TransportError("keys cannot be made: this libzmq was built without CURVE; "
                                     "install one that has it, as Debian's");
    return {publicKey.data(), secretKey.data()};
}

ClusterKeys ClusterKeys::make(std::size_t workers) {
    ClusterKeys keys;
    keys.server = KeyPair::make();
    for (std::size_t i = 0; i < workers; ++i)
        keys.workers.emplace("worker-" + std::to_string(i), KeyPair::make());
    return keys;
}

ClusterKeys ClusterKeys::load(const std::string& file) {
    const std::string text = readPrivateFile(file);
    try {
        return readDocument(text);
    } catch (const json::exception&) {
        refuse(file, "not a file of keys", "gradlab-cli keygen makes one");
    } catch (const engine::DataError& error) {
        refuse(file, std::string("not a file of keys, ") + error.what(),
               "gradlab-cli keygen makes one");
    }
}

void ClusterKeys::save(const std::string& file) const {
    json document = {{"format", kFormat}, {"server", documentOf(server)}};
    document["workers"] = json::object();
    for (const auto& [name, pair] : workers)
        document["workers"][name] = documentOf(pair);
    const std::string aside = file + ".new";
    ::unlink(aside.c_str()); // of a program that was ended here
    const Descriptor opened(
        ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
    if (opened.number < 0)
        refuse(file, "cannot write the keys (" + systemError() + ")", "choose another place");
    try {
        writeAll(opened.number, document.dump(2) + "\n", file);
        if (std::rename(aside.c_str(), file.c_str()) != 0)
            refuse(file, "cannot write the keys (" + systemError() + ")", "choose another place");
    } catch (...) {
        ::unlink(aside.c_str());
        throw;
    }
}

const KeyPair& ClusterKeys::worker(const std::string& name) const {
    if (const auto found = workers.find(name);
        found != workers.end() && !found->second.secretKey.empty())
        return found->second;
    std::string names;
    const KeyPair* only = nullptr;
    std::size_t secrets = 0;
    for (const auto& [known, pair] : workers) {
        if (pair.secretKey.empty())
            continue;
        names += (names.empty() ? "" : ", ") + known;
        only = &pair;
        ++secrets;
    }
    if (name.empty() && secrets == 1)
        return *only;
    const std::string wrong =
        name.empty() ? "whose keys are this worker's" : "no keys for worker '" + name + "'";
    throw engine::ExperimentError("", wrong + ": --name; the file has " +
                                          (names.empty() ? "none" : names));
}

std::vector<std::string> ClusterKeys::admitted() const {
    std::vector<std::string> keys;
    keys.reserve(workers.size());
    for (const auto& [name, pair] : workers)
        keys.push_back(pair.publicKey);
    return keys;
}

void listenWithKey(zmq::socket_t& socket, const KeyPair& own) {
    socket.set(zmq::sockopt::curve_server, true);
    socket.set(zmq::sockopt::curve_secretkey, own.secretKey);
    socket.set(zmq::sockopt::zap_domain, "gradlab");
}

void connectWithKey(zmq::socket_t& socket, const KeyPair& own, const std::string& serverKey) {
    socket.set(zmq::sockopt::curve_serverkey, serverKey);
    socket.set(zmq::sockopt::curve_publickey, own.publicKey);
    socket.set(zmq::sockopt::curve_secretkey, own.secretKey);
}

} // namespace gradlab::transport
