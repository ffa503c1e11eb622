// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The frame header: byte positions, round trip, and every kind of damage refused by name.
#include "engine/core/errors.h"
#include "engine/core/random.h"
#include "engine/training/gradient_exchange.h"
#include "transport/wire_format.h"

#include <QTest>

#include <array>
#include <cstring>

using namespace gradlab;
using namespace gradlab::transport;

namespace {

FrameHeader sampleHeader() {
    FrameHeader header;
    header.type = FrameType::PartialChunk;
    header.session = 0x1122334455667788U;
    header.epoch = 3;
    header.step = 0x0102030405060708U;
    header.rank = 7;
    header.part = 2;
    header.parts = 5;
    header.tensors = 9;
    header.chunk = 4;
    return header;
}

engine::ByteBuffer sampleMessage(std::size_t bodyBytes) {
    engine::ByteBuffer message(engine::kFrameHeaderBytes + bodyBytes);
    engine::RandomStream random(1, engine::RandomPurpose::Test, 0, 0, 0);
    for (std::size_t i = engine::kFrameHeaderBytes; i < message.size(); ++i)
        message[i] = static_cast<std::byte>(random.word() & 0xFFU);
    encodeFrame(sampleHeader(), message);
    return message;
}

QString refusal(engine::ByteView message) {
    try {
        (void)decodeFrame(message);
    } catch (const engine::ProtocolError& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

} // namespace

class TestWireFormat : public QObject {
    Q_OBJECT

private slots:
    void roundTripsEveryField() {
        for (const std::size_t bytes : {0U, 1U, 31U, 4096U}) {
            const auto message = sampleMessage(bytes);
            const Frame frame = decodeFrame(message);
            const FrameHeader expected = sampleHeader();
            QCOMPARE(frame.header.type, expected.type);
            QCOMPARE(frame.header.session, expected.session);
            QCOMPARE(frame.header.epoch, expected.epoch);
            QCOMPARE(frame.header.step, expected.step);
            QCOMPARE(frame.header.rank, expected.rank);
            QCOMPARE(frame.header.part, expected.part);
            QCOMPARE(frame.header.parts, expected.parts);
            QCOMPARE(frame.header.tensors, expected.tensors);
            QCOMPARE(frame.header.chunk, expected.chunk);
            QCOMPARE(frame.body.size(), bytes);
            QVERIFY(frame.body.data() == message.data() + 64);
        }
    }

    // Other programs read these bytes: their places are fixed.
    void writesTheDocumentedBytes() {
        const auto message = sampleMessage(3);
        const std::array<unsigned, 56> expected = {
            'G',  'L',  'A',  'B',  1,    0,    3,    0,    // magic, version, type, flags
            0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, // session
            3,    0,    0,    0,    0,    0,    0,    0,    // epoch
            8,    7,    6,    5,    4,    3,    2,    1,    // step
            7,    0,    0,    0,    2,    0,    5,    0,    // rank, part, parts
            9,    0,    0,    0,    4,    0,    0,    0,    // tensors, chunk
            3,    0,    0,    0,    0,    0,    0,    0};   // payload bytes
        for (std::size_t i = 0; i < expected.size(); ++i)
            QCOMPARE(static_cast<unsigned>(message[i]), expected[i]);
    }

    void hashDependsOnTheBody() {
        const auto one = sampleMessage(8);
        auto other = one;
        other[70] ^= std::byte{1};
        encodeFrame(sampleHeader(), other);
        QVERIFY(std::memcmp(one.data(), other.data(), 56) == 0);
        QVERIFY(std::memcmp(one.data() + 56, other.data() + 56, 8) != 0);
    }

    void refusesEveryFlippedBit() {
        const auto message = sampleMessage(40);
        for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
            auto damaged = message;
            damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            QVERIFY2(!refusal(damaged).isEmpty(), qPrintable(QString::number(bit)));
        }
    }

    void refusesEveryCutAndExtension() {
        const auto message = sampleMessage(40);
        for (std::size_t size = 0; size < message.size(); ++size)
            QVERIFY(!refusal(engine::ByteView(message).first(size)).isEmpty());
        auto longer = message;
        longer.push_back(std::byte{0});
        QVERIFY(refusal(longer).contains("payload bytes"));
    }

    void namesTheOtherVersion() {
        auto message = sampleMessage(4);
        message[4] = std::byte{2};
        const QString text = refusal(message);
        QVERIFY2(text.contains("wire format 2") && text.contains("speaks 1"), qPrintable(text));
        QVERIFY(text.contains("same version"));
    }

    void saysWhatIsWrong_data() {
        QTest::addColumn<int>("at");
        QTest::addColumn<int>("value");
        QTest::addColumn<QString>("text");
        QTest::newRow("magic") << 0 << 0 << "magic";
        QTest::newRow("type zero") << 6 << 0 << "unknown frame type 0";
        QTest::newRow("type") << 6 << 5 << "unknown frame type 5";
        QTest::newRow("flags") << 7 << 1 << "flags";
        QTest::newRow("part") << 36 << 5 << "part 5 of 5";
        QTest::newRow("payload") << 55 << 0x80 << "payload bytes";
        QTest::newRow("hash") << 63 << 0x17 << "checksum";
    }
    void saysWhatIsWrong() {
        QFETCH(int, at);
        QFETCH(int, value);
        QFETCH(QString, text);
        auto message = sampleMessage(16);
        const auto place = static_cast<std::size_t>(at);
        QVERIFY(message[place] != static_cast<std::byte>(value));
        message[place] = static_cast<std::byte>(value);
        QVERIFY2(refusal(message).contains(text), qPrintable(refusal(message)));
        QVERIFY(refusal(message).contains("header byte"));
    }
};

QTEST_GUILESS_MAIN(TestWireFormat)
#include "test_wire_format.moc"
