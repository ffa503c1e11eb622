// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The cluster's keys: their file, and that real sockets admit whom it lists and nobody else.
#include "engine/core/errors.h"
#include "tests/support/exchange_case.h"
#include "tests/support/scripted_cluster.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

using namespace gradlab;
using namespace gradlab::test;
using transport::ClusterKeys;
using transport::KeyPair;

namespace {

/// Bytes that a ROUTER gets from a DEALER with these keys until another one, who is admitted, has
/// got through.
class Door {
public:
    explicit Door(const ClusterKeys& keys) : keys_(keys), admission_(context_, keys.admitted()) {
        socket_ = transport::makeSocket(context_, zmq::socket_type::router, {});
        transport::listenWithKey(socket_, keys.server);
        socket_.bind("tcp://127.0.0.1:*");
    }
    [[nodiscard]] zmq::socket_t knock(const std::optional<KeyPair>& own,
                                      const std::string& serverKey, const std::string& word) {
        zmq::socket_t socket(strangers_, zmq::socket_type::dealer);
        socket.set(zmq::sockopt::linger, 0);
        if (own)
            transport::connectWithKey(socket, *own, serverKey);
        socket.connect(transport::boundEndpoint(socket_));
        if (!socket.send(zmq::str_buffer("")) || !socket.send(zmq::buffer(word)))
            throw std::runtime_error("not queued");
        return socket;
    }
    /// Everything that comes until somebody says the word.
    [[nodiscard]] std::vector<std::string> listenUntil(const std::string& word) {
        std::vector<std::string> heard;
        const auto end = std::chrono::steady_clock::now() + kDeadline;
        while (std::find(heard.begin(), heard.end(), word) == heard.end()) {
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("the one who is admitted does not get through");
            transport::waitForAny({&socket_}, wakeup_, 20);
            while (const auto received = transport::tryReceive(socket_))
                heard.push_back(received->bytes->to_string());
        }
        return heard;
    }

private:
    ClusterKeys keys_;
    zmq::context_t context_;
    zmq::context_t strangers_;
    transport::ZapHandler admission_;
    zmq::socket_t socket_;
    transport::Wakeup wakeup_;
};

QByteArray contentOf(const QString& file) {
    QFile opened(file);
    return opened.open(QIODevice::ReadOnly) ? opened.readAll() : QByteArray();
}

QByteArray documentWithServerKey(const QByteArray& key) {
    const nlohmann::json document = {{"format", "gradlab-keys-1"},
                                     {"server", {{"public", key.toStdString()}}},
                                     {"workers", nlohmann::json::object()}};
    return QByteArray::fromStdString(document.dump());
}

void write(const QString& file, const QByteArray& bytes, mode_t mode) {
    QFile opened(file);
    QVERIFY(opened.open(QIODevice::WriteOnly));
    opened.write(bytes);
    opened.close();
    QCOMPARE(::chmod(file.toUtf8().constData(), mode), 0);
}

} // namespace

class TestZmqCurveKeys : public QObject {
    Q_OBJECT

private slots:
    void fileKeepsWhatItIsGiven() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("keys.json");
        const std::string file = path.toStdString();
        const ClusterKeys made = ClusterKeys::make(2);
        made.save(file);
        struct stat status {};
        QCOMPARE(::stat(file.c_str(), &status), 0);
        QCOMPARE(status.st_mode & 0777U, 0600U);
        const ClusterKeys loaded = ClusterKeys::load(file);
        QCOMPARE(loaded.server.publicKey, made.server.publicKey);
        QCOMPARE(loaded.server.secretKey, made.server.secretKey);
        QCOMPARE(loaded.workers.size(), std::size_t{2});
        QCOMPARE(loaded.worker("worker-1").secretKey, made.workers.at("worker-1").secretKey);
        QCOMPARE(loaded.admitted(), made.admitted());
        QVERIFY(loaded.admitted()[0] != loaded.admitted()[1]);
        ClusterKeys::make(1).save(file); // replaced as a whole
        QCOMPARE(ClusterKeys::load(file).workers.size(), std::size_t{1});
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files), QStringList{"keys.json"});
    }

    void damagedFilesAreRefused_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<int>("mode");
        QTest::addColumn<QString>("part");
        const QTemporaryDir folder;
        const QString path = folder.filePath("keys.json");
        ClusterKeys::make(1).save(path.toStdString());
        const QByteArray whole = contentOf(path);
        const int mine = 0600;
        QTest::newRow("group reads") << whole << 0640 << "others than its owner";
        QTest::newRow("world reads") << whole << 0604 << "others than its owner";
        QTest::newRow("empty") << QByteArray() << mine << "not a file of keys";
        QTest::newRow("cut") << whole.left(whole.size() / 2) << mine << "not a file of keys";
        QTest::newRow("other JSON") << QByteArray("[1, 2]") << mine << "not a file of keys";
        QTest::newRow("format") << QByteArray(whole).replace("keys-1", "keys-9") << mine
                                << "its format is not";
        QTest::newRow("a name twice")
            << QByteArray(whole).replace("\"workers\": {", R"("workers": {"worker-0": {},)") << mine
            << "the name 'worker-0' is there twice";
        QTest::newRow("short key") << documentWithServerKey("abc") << mine << "not a key of 40";
        QTest::newRow("key that is none")
            << documentWithServerKey(QByteArray(40, '~')) << mine << "not a key of 40";
    }
    void damagedFilesAreRefused() {
        QFETCH(QByteArray, content);
        QFETCH(int, mode);
        QFETCH(QString, part);
        const QTemporaryDir folder;
        const QString path = folder.filePath("keys.json");
        write(path, content, static_cast<mode_t>(mode));
        try {
            (void)ClusterKeys::load(path.toStdString());
            QFAIL("it was read");
        } catch (const engine::DataError& error) {
            QVERIFY2(QString(error.what()).contains(part), error.what());
            QVERIFY2(QString(error.what()).contains(path), error.what());
        }
    }

    void missingFilesAndFoldersAreNamed() {
        const std::string file = "/no/such/folder/keys.json";
        for (const bool save : {false, true})
            try {
                if (save)
                    ClusterKeys::make(1).save(file);
                else
                    (void)ClusterKeys::load(file);
                QFAIL("no such folder");
            } catch (const engine::DataError& error) {
                QVERIFY2(QString(error.what()).contains(QString::fromStdString(file)),
                         error.what());
            }
    }

    void workersAreKnownByName() {
        ClusterKeys keys = ClusterKeys::make(2);
        QVERIFY_EXCEPTION_THROWN((void)keys.worker(""), engine::ExperimentError);
        QVERIFY_EXCEPTION_THROWN((void)keys.worker("worker-7"), engine::ExperimentError);
        keys.workers["worker-0"].secretKey.clear(); // a copy for worker-1
        QCOMPARE(keys.worker("").publicKey, keys.workers["worker-1"].publicKey);
        QVERIFY_EXCEPTION_THROWN((void)keys.worker("worker-0"), engine::ExperimentError);
        QCOMPARE(keys.admitted().size(), std::size_t{2});
    }

    void onlyListedKeysGetThrough() {
        const ClusterKeys keys = ClusterKeys::make(2);
        Door door(keys);
        const std::string& server = keys.server.publicKey;
        const auto plain = door.knock(std::nullopt, "", "plain");
        const auto unknown = door.knock(KeyPair::make(), server, "unknown key");
        const auto misled =
            door.knock(keys.worker("worker-0"), KeyPair::make().publicKey, "wrong server");
        KeyPair forged = keys.worker("worker-0");
        forged.secretKey = KeyPair::make().secretKey;
        const auto forger = door.knock(forged, server, "public key alone");
        const auto known = door.knock(keys.worker("worker-1"), server, "known");
        QCOMPARE(door.listenUntil("known"), (std::vector<std::string>{"", "known"}));
        // Once more: the others had all the time of a second admitted one.
        const auto second = door.knock(keys.worker("worker-0"), server, "second");
        QCOMPARE(door.listenUntil("second"), (std::vector<std::string>{"", "second"}));
    }

    void wholeStepsUnderKeys_data() {
        QTest::addColumn<QString>("topology");
        QTest::newRow("server") << "server";
        QTest::newRow("ring") << "ring";
    }
    void wholeStepsUnderKeys() {
        QFETCH(QString, topology);
        const QTemporaryDir folder;
        const std::string file = folder.filePath("keys.json").toStdString();
        ClusterKeys keys = ClusterKeys::make(0);
        keys.workers = {{"w0", KeyPair::make()}, {"w1", KeyPair::make()}};
        keys.save(file);
        ScriptedCluster cluster(
            exchangeSetup(threeParts(), 2, topology.toStdString()), Kinds::Mixed,
            [&](std::uint32_t, transport::WorkerOptions& options) { options.keysFile = file; },
            keys);
        cluster.join();
        QCOMPARE(cluster.coordinator.members.at(0).ringKey, keys.workers["w0"].publicKey);
        cluster.step(1);
        QVERIFY(!cluster.mean(0, 1).empty());
        QVERIFY(cluster.mean(0, 1) == cluster.mean(1, 1));
        // Somebody without a key joins neither the ring nor the run.
        transport::WorkerOptions options;
        options.connect = cluster.coordinator.endpoint();
        options.rejoin = std::chrono::seconds(0);
        options.lostAfter = std::chrono::milliseconds(500);
        WorkerThread stranger(options, cluster.setup, Kinds::Mixed);
        cluster.coordinator.pumpUntil([&] { return stranger.ended.load(); });
        QVERIFY2(stranger.error.find("no coordinator") == 0, stranger.error.c_str());
        QVERIFY(cluster.coordinator.control.empty());
        cluster.step(2);
        cluster.finish();
    }
};

QTEST_GUILESS_MAIN(TestZmqCurveKeys)
#include "test_zmq_curve_keys.moc"
