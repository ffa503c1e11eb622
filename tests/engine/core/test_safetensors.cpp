// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The safetensors reader and writer: PyTorch's file, round trips, atomic replacement and hostile
// bytes.
#include "engine/core/errors.h"
#include "engine/core/random.h"
#include "engine/core/safetensors.h"

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

using namespace gradlab::engine;

namespace {

AlignedBuffer<std::byte> fileBytes(const std::string& header, std::size_t dataBytes) {
    AlignedBuffer<std::byte> bytes(8 + header.size() + dataBytes);
    const std::uint64_t length = header.size();
    std::memcpy(bytes.data(), &length, 8);
    std::memcpy(bytes.data() + 8, header.data(), header.size());
    return bytes;
}

std::string messageOf(const AlignedBuffer<std::byte>& bytes) {
    try {
        (void)SafetensorsFile::parse(bytes, "mem");
    } catch (const DataError& error) {
        return error.what();
    }
    return "";
}

std::string readAll(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

class TestSafetensors : public QObject {
    Q_OBJECT

private slots:
    void readsTheOracle() {
        const auto file = SafetensorsFile::read(GRADLAB_TEST_DATA "/init.safetensors");
        QCOMPARE(file.tensors().size(), std::size_t{9});
        const TensorView& embedding = file.tensor("embedding.weight");
        QCOMPARE(embedding.shapeText(), std::string("[41, 12]"));
        std::vector<double> values(41 * 12);
        file.copyTo("embedding.weight", values);
        const double bound = 1 / std::sqrt(12.0) + 1e-7;
        for (const double value : values)
            QVERIFY(std::abs(value) <= bound && value != 0.0);
    }

    void roundTripsEveryTypeAndMetadata() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("a.safetensors").toStdString();
        const std::array<double, 2> f64{0.1, -std::numeric_limits<double>::denorm_min()};
        const std::array<float, 6> f32{1.5F, -0.0F, 1e-42F, 3.0F, 4.0F, 5.0F};
        const std::array<std::int64_t, 1> i64{std::int64_t{1} << 62};
        const std::array<std::int32_t, 3> i32{-1, 2, -3};
        const std::array<std::uint8_t, 5> u8{0, 1, 2, 254, 255};
        const std::array<std::uint16_t, 2> half{0x3C00, 0x0001};
        SafetensorsWriter writer;
        writer.add("bytes", {5}, u8);
        writer.add("floats", {2, 3}, f32);
        writer.add("nothing", {0, 7}, std::span<const float>{});
        writer.add("scalar", {}, i64);
        writer.add("half", TensorType::F16, {2}, std::as_bytes(std::span(half)));
        writer.add("brain", TensorType::BF16, {2}, std::as_bytes(std::span(half)));
        writer.add("ints", {3}, i32);
        writer.add("doubles", {2}, f64);
        writer.setMetadata("step", "17");
        writer.setMetadata("text", "quote \" newline \n é");
        writer.write(path);

        const auto file = SafetensorsFile::read(path);
        QCOMPARE(file.metadata("step"), std::string("17"));
        QCOMPARE(file.metadata("text"), std::string("quote \" newline \n é"));
        std::array<double, 2> f64Back{};
        std::array<float, 6> f32Back{};
        std::array<std::int64_t, 1> i64Back{};
        std::array<std::int32_t, 3> i32Back{};
        std::array<std::uint8_t, 5> u8Back{};
        file.copyTo("doubles", f64Back);
        file.copyTo("floats", f32Back);
        file.copyTo("scalar", i64Back);
        file.copyTo("ints", i32Back);
        file.copyTo("bytes", u8Back);
        QVERIFY(std::memcmp(f64.data(), f64Back.data(), sizeof f64) == 0);
        QVERIFY(std::memcmp(f32.data(), f32Back.data(), sizeof f32) == 0);
        QVERIFY(i64 == i64Back && i32 == i32Back && u8 == u8Back);
        std::array<float, 2> small{};
        file.copyTo("half", small);
        QVERIFY(small[0] == 1.0F && small[1] == 0x1p-24F);
        file.copyTo("brain", small);
        QVERIFY(small[0] == std::bit_cast<float>(0x3C000000U));
        QCOMPARE(file.tensor("nothing").elements(), std::size_t{0});
        // The data section starts on a 64-byte boundary of the file and wide types come first.
        std::uint64_t length = 0;
        const std::string raw = readAll(path);
        std::memcpy(&length, raw.data(), 8);
        QCOMPARE((8 + length) % 64, std::uint64_t{0});
        QVERIFY(raw[8] == '{');
        QCOMPARE(file.names().back(), std::string("bytes"));
    }

    void halfConversionIsExactForEveryValue() {
        std::vector<std::uint16_t> all(65536);
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = static_cast<std::uint16_t>(i);
        const QTemporaryDir folder;
        const std::string path = folder.filePath("h.safetensors").toStdString();
        SafetensorsWriter writer;
        writer.add("h", TensorType::F16, {all.size()}, std::as_bytes(std::span(all)));
        writer.write(path);
        std::vector<double> values(all.size());
        SafetensorsFile::read(path).copyTo("h", values);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const unsigned exponent = (i >> 10) & 31U;
            const auto fraction = static_cast<double>(i & 1023U);
            double expected = exponent == 0
                                  ? std::ldexp(fraction, -24)
                                  : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
            if (exponent == 31)
                expected = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
            if (i >= 32768)
                expected = -expected;
            QVERIFY(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)));
        }
    }

    void reportsWhatTheCallerAskedWrongly() {
        const auto file = SafetensorsFile::read(GRADLAB_TEST_DATA "/init.safetensors");
        std::vector<float> wrong(7);
        std::vector<std::int32_t> integers(48);
        QVERIFY_EXCEPTION_THROWN(file.copyTo("no.such", wrong), DataError);
        QVERIFY_EXCEPTION_THROWN(file.copyTo("embedding.weight", wrong), DataError);
        QVERIFY_EXCEPTION_THROWN(file.copyTo("lstm.bias_ih_l0", integers), DataError);
        QVERIFY_EXCEPTION_THROWN((void)file.metadata("no.such"), DataError);
        QVERIFY_EXCEPTION_THROWN((void)SafetensorsFile::read("/no/such/file"), DataError);
        QVERIFY_EXCEPTION_THROWN((void)SafetensorsFile::read("/"), DataError);
    }

    void writingIsAtomic() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("a.safetensors").toStdString();
        const std::array<float, 1> one{1.0F};
        SafetensorsWriter writer;
        writer.add("x", {1}, one);
        writer.write(path);
        const std::string before = readAll(path);
        writer.write(path);
        QCOMPARE(readAll(path), before);
        // Nothing but the file itself stays in the folder, and a folder in its place is not
        // replaced.
        QCOMPARE(QDir(folder.path()).entryList(QDir::Files).size(), 1);
        QVERIFY_EXCEPTION_THROWN(writer.write(folder.path().toStdString()), DataError);
        QVERIFY_EXCEPTION_THROWN(writer.write(path / "below"), DataError);
        QVERIFY_EXCEPTION_THROWN(writer.write("/no/such/folder/a.safetensors"), DataError);
        QVERIFY_EXCEPTION_THROWN(writer.write("/dev/null"), DataError);
    }

    void hostileHeaders_data() {
        QTest::addColumn<QString>("header");
        QTest::addColumn<int>("dataBytes");
        QTest::addColumn<QString>("complaint");
        const auto row = [](const char* name, const char* header, int bytes, const char* why) {
            QTest::newRow(name) << header << bytes << why;
        };
        row("not json", "{\"a\":", 0, "not JSON");
        row("no brace", "[1]", 0, "does not start");
        row("padded front", " {}", 0, "does not start");
        row("unknown type", R"({"a":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})", 1, "F8");
        row("type no string", R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,1]}})", 1, "type 7");
        row("no shape", R"({"a":{"dtype":"U8","data_offsets":[0,1]}})", 1, "no shape");
        row("no offsets", R"({"a":{"dtype":"U8","shape":[1]}})", 1, "no data_offsets");
        row("negative size", R"({"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}})", 1,
            "whole");
        row("fraction", R"({"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}})", 1, "whole");
        row("three offsets", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,1]}})", 1,
            "proper");
        row("reversed", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}})", 1,
            "cut or damaged");
        row("past the end", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})", 1,
            "damaged");
        row("wrong size", R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
            "not fit");
        row("overflow",
            R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0,
            "not fit");
        row("offset overflow",
            R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[18446744073709551615,0]}})", 1,
            "damaged");
        row("overlap",
            R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
            3, "overlaps");
        row("hole", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2, "hole");
        row("left over", R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 2,
            "no tensor");
        row("left over without tensors", "{}", 1, "no tensor");
        row("repeated name",
            R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
            2, "twice");
        row("repeated key", R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
            1, "twice");
        row("metadata no string", R"({"__metadata__":{"a":1}})", 0, "no string");
        row("metadata no object", R"({"__metadata__":[]})", 0, "no object");
        row("entry no object", R"({"a":3})", 0, "no object");
        row("huge number", R"({"a":1e999})", 0, "beyond every range");
        row("deep", R"({"a":{"b":[[[[1]]]]}})", 0, "deeply");
    }

    void hostileHeaders() {
        QFETCH(QString, header);
        QFETCH(int, dataBytes);
        QFETCH(QString, complaint);
        const auto bytes = fileBytes(header.toStdString(), static_cast<std::size_t>(dataBytes));
        const QString message = QString::fromStdString(messageOf(bytes));
        QVERIFY2(message.contains(complaint), qPrintable(message));
        QVERIFY2(message.contains("mem byte "), qPrintable(message));
    }

    void hostileLengths() {
        QVERIFY(messageOf(AlignedBuffer<std::byte>(0)).find("too short") != std::string::npos);
        QVERIFY(messageOf(AlignedBuffer<std::byte>(7)).find("too short") != std::string::npos);
        auto bytes = fileBytes("{}", 0);
        QCOMPARE(messageOf(bytes), std::string());
        for (const std::uint64_t length :
             {std::uint64_t{3}, ~std::uint64_t{0}, ~std::uint64_t{0} - 7}) {
            std::memcpy(bytes.data(), &length, 8);
            QVERIFY(messageOf(bytes).find("exceeds the file") != std::string::npos);
        }
    }

    // Whatever single byte changes, the reader accepts a consistent file or throws DataError,
    // nothing else.
    void everyFlippedByteIsHandled() {
        const std::string raw = readAll(GRADLAB_TEST_DATA "/init.safetensors");
        std::uint64_t length = 0;
        std::memcpy(&length, raw.data(), 8);
        RandomStream random(1, RandomPurpose::Test, 0, 0, 0);
        AlignedBuffer<std::byte> bytes(raw.size());
        int rejected = 0;
        for (std::size_t i = 0; i < 8 + length; ++i) {
            std::memcpy(bytes.data(), raw.data(), raw.size());
            bytes[i] = static_cast<std::byte>(random.word());
            rejected += messageOf(bytes).empty() ? 0 : 1;
        }
        QVERIFY(rejected > 100);
        for (std::size_t size = 1; size < raw.size(); size += 97) {
            AlignedBuffer<std::byte> cut(size);
            std::memcpy(cut.data(), raw.data(), size);
            QVERIFY(!messageOf(cut).empty());
        }
    }
};

QTEST_GUILESS_MAIN(TestSafetensors)
#include "test_safetensors.moc"
