// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Control messages: every kind survives the way there, and what is not one is refused.
#include "engine/core/errors.h"
#include "transport/wire_format.h"
#include "transport/zmq/control_message.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <cstring>
#include <limits>
#include <set>

using namespace gradlab;
using namespace gradlab::transport;

namespace {

constexpr std::uint64_t kLarge = std::numeric_limits<std::uint64_t>::max();

engine::SteadyTime at(std::int64_t ns) {
    return engine::SteadyTime(std::chrono::nanoseconds(ns));
}

/// One of each kind, every field with a value of its own.
std::vector<ControlMessage> oneOfEach() {
    const StepOrder order{{0, 2, 5}, "tcp://192.0.2.1:4000", "key"};
    engine::RankTraffic traffic;
    traffic.bytesMessage = 1;
    traffic.bytesUp = kLarge;
    traffic.bytesDown = 3;
    traffic.lastHandOver = at(123456789);
    traffic.arrived = at(-5);
    traffic.transferS = 0.1;
    traffic.transferHiddenS = 1e-300;
    return {Hello{"0.1.0", "x86-64-v3", "A \"CPU\"", "höst", "boot", "w\n0", 7, 16},
            Ready{"tcp://127.0.0.1:1", "k"},
            Heartbeat{std::numeric_limits<std::int64_t>::min(), "computing", kLarge, 0.25},
            Holds{},
            Done{"{\"loss\": 1}", traffic},
            Failed{"numeric", "lstm.bias_ih_l0", "not finite"},
            Loaded{4},
            Cut{true},
            Bye{"interrupted"},
            ProbeResult{5, 0.125, 1000},
            Wait{},
            Welcome{9, 8, 65535, std::uint64_t{1} << 40U, 3, "boot"},
            Begin{order, true},
            Abort{order},
            Commit{},
            Abandon{},
            Configure{"{}", engine::MemoryChange::Flush},
            Fetch{10, true, true},
            Load{11},
            HeartbeatAnswer{-1, 12},
            Refuse{"full", true},
            ProbeOrder{13, 14, 15, true},
            Finish{"done"},
            Inspect{true, 2, 3}};
}

nlohmann::json documentOf(engine::ByteView frame) {
    const auto body = frame.subspan(engine::kFrameHeaderBytes);
    const char* text = reinterpret_cast<const char*>(body.data());
    return nlohmann::json::parse(text, text + body.size());
}

engine::ByteBuffer frameWith(const std::string& body, FrameType type = FrameType::Control) {
    engine::ByteBuffer frame(engine::kFrameHeaderBytes + body.size());
    std::memcpy(frame.data() + engine::kFrameHeaderBytes, body.data(), body.size());
    FrameHeader header;
    header.type = type;
    encodeFrame(header, frame);
    return frame;
}

QString refusalOf(engine::ByteView frame) {
    try {
        (void)decodeControl(frame);
    } catch (const engine::ProtocolError& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

} // namespace

class TestControlMessage : public QObject {
    Q_OBJECT

private slots:
    void everyKindArrivesAsItWasSent() {
        const std::vector<ControlMessage> all = oneOfEach();
        QCOMPARE(all.size(), std::variant_size_v<ControlMessage>);
        std::set<std::string> kinds;
        FrameHeader header;
        header.type = FrameType::Control;
        header.session = 0x0123456789ABCDEFU;
        header.epoch = 3;
        header.step = 4;
        header.rank = 5;
        for (std::size_t i = 0; i < all.size(); ++i) {
            QCOMPARE(all[i].index(), i);
            const engine::ByteBuffer frame = encodeControl(header, all[i]);
            QVERIFY(frame.size() <= kMostControlBytes);
            const ReceivedControl received = decodeControl(frame);
            QVERIFY(received.header == header);
            QCOMPARE(received.message.index(), i);
            // Fields have no comparison of their own: their documents do.
            QVERIFY(encodeControl(header, received.message) == frame);
            QCOMPARE(documentOf(frame).at("kind").get<std::string>(), std::string(kindOf(all[i])));
            kinds.insert(kindOf(all[i]));
        }
        QCOMPARE(kinds.size(), all.size());
    }

    // A document that equals another one may still lack a field: here are those that hold more.
    void fieldsArriveAsTheyWereSent() {
        const auto arrived = [](const ControlMessage& message) {
            return decodeControl(encodeControl({}, message)).message;
        };
        const std::vector<ControlMessage> all = oneOfEach();
        const auto hello = std::get<Hello>(arrived(all[0]));
        QCOMPARE(hello.cpu, std::string("A \"CPU\""));
        QCOMPARE(hello.host, std::string("höst"));
        QCOMPARE(hello.name, std::string("w\n0"));
        QCOMPARE(std::get<Ready>(arrived(all[1])).ringKey, std::string("k"));
        const auto beat = std::get<Heartbeat>(arrived(all[2]));
        QCOMPARE(beat.sentNs, std::numeric_limits<std::int64_t>::min());
        QCOMPARE(beat.progress, kLarge);
        const auto done = std::get<Done>(arrived(all[4]));
        QCOMPARE(done.account, std::string("{\"loss\": 1}"));
        QCOMPARE(done.traffic.bytesUp, kLarge);
        QVERIFY(done.traffic.lastHandOver == at(123456789));
        QVERIFY(done.traffic.arrived == at(-5));
        QCOMPARE(done.traffic.transferS, 0.1);
        QCOMPARE(done.traffic.transferHiddenS, 1e-300);
        const auto failed = std::get<Failed>(arrived(all[5]));
        QCOMPARE(failed.kind, std::string("numeric"));
        QCOMPARE(failed.tensor, std::string("lstm.bias_ih_l0"));
        QVERIFY(std::get<Cut>(arrived(all[7])).unreachable);
        const auto begin = std::get<Begin>(arrived(all[12]));
        QCOMPARE(begin.order.contributors, (std::vector<std::uint32_t>{0, 2, 5}));
        QCOMPARE(begin.order.nextEndpoint, std::string("tcp://192.0.2.1:4000"));
        QVERIFY(begin.wantHash);
        QVERIFY(std::get<Refuse>(arrived(all[20])).final);
        QVERIFY(std::get<Configure>(arrived(all[16])).memory == engine::MemoryChange::Flush);
    }

    void bytesThatAreNoTextDoNotStopAMessage() {
        Bye bye;
        bye.reason = "a\xFF\xC3";
        const auto arrived = decodeControl(encodeControl({}, bye));
        const std::string& reason = std::get<Bye>(arrived.message).reason;
        QVERIFY2(reason.starts_with("a\xEF\xBF\xBD"), reason.c_str());
    }

    void whatIsNoMessageIsRefused_data() {
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QString>("part");
        // Double quotes are written as single ones.
        const auto row = [](const char* name, const QByteArray& body, const char* part) {
            QTest::newRow(name) << QByteArray(body).replace('\'', '"') << part;
        };
        const char* refused = "control message refused";
        row("empty", "", refused);
        row("no JSON", "kind: hello", refused);
        row("cut", "{'kind': 'bye', 'rea", refused);
        row("two documents", "{'kind': 'ready'} {}", refused);
        row("no object", "[1]", refused);
        row("no kind", "{'reason': 'x'}", "kind");
        row("kind is a number", "{'kind': 3}", refused);
        row("unknown kind", "{'kind': 'dance'}", "unknown kind \"dance\"");
        row("long kind", "{'kind': '" + QByteArray(1000, 'k') + "'}",
            "unknown kind \"kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk\"");
        row("field missing", "{'kind': 'bye'}", "reason");
        row("field of another type", "{'kind': 'load', 'request': '1'}", refused);
        row("list of texts",
            "{'kind': 'abort', 'order': {'contributors': ['0'], 'nextEndpoint': '', "
            "'nextKey': ''}}",
            refused);
        row("no change of a memory", "{'kind': 'configure', 'experiment': '{}', 'memory': 'burn'}",
            "unknown change \"burn\"");
        row("nested",
            "{'kind': 'ready', 'x': " + QByteArray(5000, '[') + QByteArray(5000, ']') + "}",
            "nested too deep");
        row("nested and cut", "{'kind': 'ready', 'x': " + QByteArray(60000, '['),
            "nested too deep");
        row("no UTF-8", "{'kind': 'bye', 'reason': '\xFF'}", refused);
    }
    void whatIsNoMessageIsRefused() {
        QFETCH(QByteArray, body);
        QFETCH(QString, part);
        const QString refusal = refusalOf(frameWith(body.toStdString()));
        QVERIFY2(refusal.contains(part), qPrintable(refusal));
    }

    void damageAndOtherFramesAreRefused() {
        const engine::ByteBuffer whole = encodeControl({}, Finish{"done"});
        QVERIFY(refusalOf(whole).isEmpty());
        for (std::size_t i = 0; i < whole.size(); ++i) {
            engine::ByteBuffer damaged = whole;
            damaged[i] ^= std::byte{1};
            QVERIFY2(!refusalOf(damaged).isEmpty(), qPrintable(QString::number(i)));
            const engine::ByteView cut = engine::ByteView(whole).first(i);
            QVERIFY2(!refusalOf(cut).isEmpty(), qPrintable(QString::number(i)));
        }
        const QString refusal = refusalOf(frameWith("{\"kind\": \"ready\"}", FrameType::Gradient));
        QVERIFY2(refusal.contains("a frame of type 1"), qPrintable(refusal));
    }

    void unalignedFramesAreRead() {
        const engine::ByteBuffer frame = encodeControl({}, Finish{"done"});
        for (std::size_t shift = 1; shift < sizeof(std::uint64_t); ++shift) {
            engine::ByteBuffer room(frame.size() + shift);
            std::memcpy(room.data() + shift, frame.data(), frame.size());
            QVERIFY(refusalOf(engine::ByteView(room).subspan(shift)).isEmpty());
        }
    }
};

QTEST_GUILESS_MAIN(TestControlMessage)
#include "test_control_message.moc"
