// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// TensorBoard's files, read back by a reader that shares no code with the writer.
#include "engine/metrics/crc32c.h"
#include "engine/metrics/event_file.h"
#include "tests/support/sample_records.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>

using namespace gradlab::engine;
using namespace gradlab::tests;

namespace {

/// Bit by bit, straight from the definition.
std::uint32_t slowCrc(const std::string& bytes) {
    std::uint32_t value = 0xFFFFFFFFU;
    for (const char c : bytes) {
        value ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit)
            value = (value >> 1U) ^ (0x82F63B78U & (0U - (value & 1U)));
    }
    return value ^ 0xFFFFFFFFU;
}

std::uint32_t masked(const std::string& bytes) {
    const std::uint32_t crc = slowCrc(bytes);
    return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
}

template <class T>
T littleEndian(const std::string& bytes, std::size_t at) {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof(T)); // the tests' hosts are little-endian
    return value;
}

/// Fields of one protobuf message in order: number → raw value (bytes, or the fixed-size bits).
struct Field {
    unsigned number = 0;
    std::string bytes;
    std::uint64_t varint = 0;
};

std::optional<std::vector<Field>> parseMessage(const std::string& bytes) {
    std::vector<Field> fields;
    std::size_t at = 0;
    const auto varint = [&]() -> std::uint64_t {
        std::uint64_t value = 0;
        for (unsigned shift = 0; at < bytes.size() && shift < 64; shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes[at++]);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80)
                break;
        }
        return value;
    };
    while (at < bytes.size()) {
        const std::uint64_t key = varint();
        Field field{static_cast<unsigned>(key >> 3U), {}, 0};
        std::size_t size = 0;
        switch (key & 7U) {
        case 0:
            field.varint = varint();
            break;
        case 1:
            size = 8;
            break;
        case 2:
            size = varint();
            break;
        case 5:
            size = 4;
            break;
        default:
            return std::nullopt;
        }
        if (at + size > bytes.size())
            return std::nullopt;
        field.bytes = bytes.substr(at, size);
        at += size;
        fields.push_back(field);
    }
    return fields;
}

struct Event {
    double wallTime = 0.0;
    std::uint64_t step = 0;
    std::string fileVersion;
    std::map<std::string, float> scalars;
};

/// Nothing if a checksum, a length or an encoding is wrong.
std::optional<std::vector<Event>> readEvents(const QString& path) {
    std::ifstream file(path.toStdString(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<Event> events;
    for (std::size_t at = 0; at < bytes.size();) {
        if (at + 12 > bytes.size())
            return std::nullopt;
        const auto length = littleEndian<std::uint64_t>(bytes, at);
        if (littleEndian<std::uint32_t>(bytes, at + 8) != masked(bytes.substr(at, 8)))
            return std::nullopt;
        if (at + 16 + length > bytes.size())
            return std::nullopt;
        const std::string data = bytes.substr(at + 12, length);
        if (littleEndian<std::uint32_t>(bytes, at + 12 + length) != masked(data))
            return std::nullopt;
        at += 16 + length;
        const auto fields = parseMessage(data);
        if (!fields)
            return std::nullopt;
        Event event;
        for (const Field& field : *fields) {
            if (field.number == 1)
                event.wallTime = littleEndian<double>(field.bytes, 0);
            else if (field.number == 2)
                event.step = field.varint;
            else if (field.number == 3)
                event.fileVersion = field.bytes;
            else if (field.number == 5) {
                const auto values = parseMessage(field.bytes);
                if (!values)
                    return std::nullopt;
                for (const Field& value : *values) {
                    const auto parts = parseMessage(value.bytes);
                    if (!parts || parts->size() != 2)
                        return std::nullopt;
                    event.scalars[parts->at(0).bytes] = littleEndian<float>(parts->at(1).bytes, 0);
                }
            }
        }
        events.push_back(event);
    }
    return events;
}

QStringList eventFiles(const QTemporaryDir& folder) {
    return QDir(folder.path()).entryList({"events.out.tfevents.*"}, QDir::Files, QDir::Name);
}

} // namespace

class TestEventFile : public QObject {
    Q_OBJECT

private slots:
    void knownChecksums() {
        QCOMPARE(crc32c("123456789"), 0xE3069283U);
        QCOMPARE(crc32c(""), 0U);
        QCOMPARE(crc32c(std::string(32, '\0')), 0x8A9136AAU); // RFC 3720, B.4
        QCOMPARE(crc32c(std::string(32, '\xff')), 0x62A8AB43U);
        QCOMPARE(maskedCrc32c("123456789"), masked("123456789"));
    }

    void readsBack() {
        const QTemporaryDir folder;
        {
            EventFile file(folder.path().toStdString());
            file.record(sampleStart());
            QVERIFY(eventFiles(folder).isEmpty());
            StepRecord step = sampleStep(300);
            file.record(step);
            step.step = std::uint64_t{1} << 40U; // a varint of six bytes
            step.loss = std::numeric_limits<double>::quiet_NaN();
            step.gradNorm = 1e300;
            file.record(step);
            file.record(sampleEval(300));
            file.record(sampleEvent(300));
            file.record(sampleEnd(300));
            // Nothing waits in a buffer: the file is complete while its writer lives.
            QCOMPARE(readEvents(folder.filePath(eventFiles(folder).front()))->size(),
                     std::size_t{4});
        }
        const auto events = readEvents(folder.filePath(eventFiles(folder).front()));
        QVERIFY(events.has_value());
        QCOMPARE(QString::fromStdString(events->at(0).fileVersion), QString("brain.Event:2"));
        QVERIFY(events->at(0).wallTime > 1.6e9);
        const Event& step = events->at(1);
        QCOMPARE(step.step, std::uint64_t{300});
        QVERIFY(step.scalars.at("train/loss") == static_cast<float>(awkward(3)));
        QVERIFY(step.scalars.at("train/perplexity") == static_cast<float>(std::exp(awkward(3))));
        QVERIFY(step.scalars.at("bytes/message") == 68123.75F);
        QVERIFY(step.scalars.at("compression/ratio") == static_cast<float>(4646400.0 / 68123.75));
        QVERIFY(step.scalars.contains("time/compute"));
        QCOMPARE(events->at(2).step, std::uint64_t{1} << 40U);
        QVERIFY(std::isnan(events->at(2).scalars.at("train/loss")));
        QVERIFY(std::isinf(events->at(2).scalars.at("train/grad_norm")));
        const Event& eval = events->at(3);
        QVERIFY(eval.scalars.at("valid/perplexity") == static_cast<float>(awkward(12)));
        QVERIFY(eval.scalars.at("valid/loss") == static_cast<float>(awkward(5000) / 2000.0));
    }

    void readerNoticesEveryFlippedBit() {
        const QTemporaryDir folder;
        EventFile(folder.path().toStdString()).record(sampleEval(1));
        const QString path = folder.filePath(eventFiles(folder).front());
        QVERIFY(readEvents(path).has_value());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadWrite));
        const QByteArray bytes = file.readAll();
        for (int i = 0; i < bytes.size(); ++i) {
            QByteArray changed = bytes;
            changed[i] = static_cast<char>(changed[i] ^ 1);
            file.seek(0);
            file.write(changed);
            file.flush();
            QVERIFY(!readEvents(path).has_value());
        }
    }

    void eachWriterHasItsOwnFile() {
        const QTemporaryDir folder;
        EventFile(folder.path().toStdString()).record(sampleEval(1));
        EventFile(folder.path().toStdString()).record(sampleEval(2));
        QCOMPARE(eventFiles(folder).size(), 2);
    }
};

QTEST_GUILESS_MAIN(TestEventFile)
#include "test_event_file.moc"
