// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Level codes: round trip over every size, exact sizes, the smallest is chosen, entropy near its
// bound, hostile bytes.
#include "engine/compression/bit_stream.h"
#include "engine/compression/level_code.h"
#include "engine/core/errors.h"
#include "engine/core/random.h"

#include <QTest>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

using namespace gradlab::engine;

namespace {

std::vector<std::int16_t> randomLevels(std::size_t n, std::uint32_t s, std::uint32_t spread) {
    RandomStream random(s, RandomPurpose::Test, 2, spread, static_cast<std::uint32_t>(n));
    std::vector<std::int16_t> levels(n);
    for (std::int16_t& level : levels) {
        const auto magnitude = static_cast<int>(random.below(std::min(s, spread) + 1U));
        level = static_cast<std::int16_t>(random.below(2) == 0 ? magnitude : -magnitude);
    }
    return levels;
}

std::vector<std::uint32_t> histogramOf(const std::vector<std::int16_t>& levels, std::uint32_t s) {
    std::vector<std::uint32_t> histogram(2 * s + 1, 0U);
    for (const std::int16_t level : levels) {
        const int bin = level + static_cast<int>(s);
        ++histogram[static_cast<std::size_t>(bin)];
    }
    return histogram;
}

LevelCoding planned(const std::vector<std::int16_t>& levels, std::uint32_t s,
                    std::optional<LevelCode> code) {
    return LevelEncoder().plan(histogramOf(levels, s), levels, code);
}

std::vector<std::byte> encoded(const std::vector<std::int16_t>& levels, std::uint32_t s,
                               LevelCode code) {
    static LevelEncoder encoder; // its memory is used again and again, as in a run
    const LevelCoding coding = encoder.plan(histogramOf(levels, s), levels, code);
    std::vector<std::byte> bytes(coding.bytes);
    encoder.write(coding, s, levels, bytes);
    return bytes;
}

std::vector<std::int16_t> decoded(LevelCode code, std::uint32_t s, ByteView bytes, std::size_t n) {
    static LevelDecoder decoder;
    std::vector<std::int16_t> levels(n);
    decoder.read(code, s, bytes, levels);
    return levels;
}

bool decodesInBounds(LevelCode code, std::uint32_t s, ByteView bytes, std::size_t n) {
    std::vector<std::int16_t> levels;
    try {
        levels = decoded(code, s, bytes, n);
    } catch (const ProtocolError&) {
        return false;
    }
    for (const std::int16_t level : levels)
        if (std::abs(level) > static_cast<int>(s))
            throw std::runtime_error("decoded level is out of range");
    return true;
}

std::size_t eliasBytes(const std::vector<std::int16_t>& levels) {
    std::size_t bits = 0;
    for (const std::int16_t level : levels) {
        const double magnitude = std::abs(level) + 1.0;
        bits += 2 * static_cast<std::size_t>(std::floor(std::log2(magnitude))) + 1;
        bits += level != 0 ? 1 : 0;
    }
    return (bits + 7) / 8;
}

/// Contents that stress a code: what occurs how often.
std::vector<std::int16_t> shaped(const QString& shape, std::size_t n, std::uint32_t s) {
    RandomStream random(s, RandomPurpose::Test, 3, 0, static_cast<std::uint32_t>(n));
    std::vector<std::int16_t> levels(n);
    const auto most = static_cast<int>(s);
    for (std::int16_t& level : levels) {
        int value = 0;
        const auto sign = random.below(2) == 0 ? 1 : -1;
        if (shape == "uniform")
            value = sign * static_cast<int>(random.below(s + 1U));
        else if (shape == "one")
            value = most;
        else if (shape == "two")
            value = sign * most;
        else if (shape == "few") // zero, the ends and halfway: what half-integers become
            value = sign * (static_cast<int>(random.below(3)) * most / 2);
        else if (shape == "bell")
            value = static_cast<int>(std::lround(random.normal() * s / 8.0));
        else if (shape == "heavy")
            value = static_cast<int>(std::lround(std::pow(random.normal(), 3.0) * s / 30.0));
        else if (shape == "rare") // 99.9 % zeros
            value = random.below(1000) == 0
                        ? sign * static_cast<int>(1U + random.below(std::min(s, 8U)))
                        : 0;
        else if (shape == "rarest")
            value = random.below(20000) == 0 ? sign : 0;
        else if (shape == "rareOther") // 99.9 % of the last level
            value = random.below(1000) == 0 ? -most : most;
        else if (shape == "clustered") // all but zeros in one place
            value = &level - levels.data() < static_cast<std::ptrdiff_t>(n / 50) ? sign : 0;
        level = static_cast<std::int16_t>(std::clamp(value, -most, most));
    }
    return levels;
}

void addShapes() {
    QTest::addColumn<quint32>("levels");
    QTest::addColumn<QString>("shape");
    for (const quint32 s : {1U, 4U, 16U, 64U, 127U, 128U, 1000U, 32767U})
        for (const char* shape : {"uniform", "one", "two", "few", "bell", "heavy", "rare", "rarest",
                                  "rareOther", "clustered"})
            QTest::addRow("s%u %s", s, shape) << s << QString(shape);
}

/// Cut, lengthened: refused. Each bit flipped: refused or in range.
void changeEveryBit(LevelCode code, std::uint32_t s, const std::vector<std::int16_t>& levels) {
    const auto good = encoded(levels, s, code);
    QVERIFY(decodesInBounds(code, s, good, levels.size()));
    for (std::size_t size = 0; size < good.size(); ++size)
        QVERIFY(!decodesInBounds(code, s, ByteView(good).first(size), levels.size()));
    auto longer = good;
    longer.push_back(std::byte{0});
    QVERIFY(!decodesInBounds(code, s, longer, levels.size()));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bytes = good;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        (void)decodesInBounds(code, s, bytes, levels.size());
    }
}

} // namespace

class TestLevelCode : public QObject {
    Q_OBJECT

private slots:
    void everySizeRoundTrips() {
        for (std::size_t n = 1; n <= 4097; ++n) {
            const std::uint32_t s = std::array{1U, 4U, 16U, 64U, 127U, 128U, 32767U}[n % 7];
            const auto levels = randomLevels(n, s, s);
            for (const auto& [name, code] : kLevelCodes)
                if (decoded(code, s, encoded(levels, s, code), n) != levels)
                    QFAIL(qPrintable(QString("n %1, s %2").arg(n).arg(s)));
        }
    }

    void everyWidthRoundTrips() {
        for (unsigned width = 2; width <= 16; ++width)
            for (const std::uint32_t s : {(1U << (width - 1U)) - 1U, 1U << (width - 2U)})
                for (const std::size_t n : {1UL, 8UL, 9UL, 15UL, 16UL, 17UL, 40UL, 41UL, 1001UL}) {
                    const auto levels = randomLevels(n, s, s);
                    QCOMPARE(decoded(LevelCode::Fixed, s, encoded(levels, s, LevelCode::Fixed), n),
                             levels);
                }
    }

    void fixedCodeIsTheSameInPieces() {
        RandomStream random(4, RandomPurpose::Test, 0, 0, 0);
        for (const std::uint32_t s : {1U, 4U, 15U, 16U, 64U, 127U, 128U, 1000U, 32767U}) {
            std::vector<std::int16_t> levels(1003);
            for (std::int16_t& level : levels)
                level = static_cast<std::int16_t>(static_cast<int>(random.below(2 * s + 1)) -
                                                  static_cast<int>(s));
            const std::span<const std::int16_t> all(levels);
            std::vector<std::byte> whole(fixedLevelBytes(s, levels.size()));
            writeFixedLevels(s, all, whole);
            for (const std::size_t piece : {8U, 16U, 256U}) {
                std::vector<std::byte> pieces(whole.size());
                for (std::size_t at = 0; at < levels.size(); at += piece) {
                    const auto part = all.subspan(at, std::min(piece, levels.size() - at));
                    writeFixedLevels(s, part,
                                     std::span(pieces).subspan(fixedLevelBytes(s, at),
                                                               fixedLevelBytes(s, part.size())));
                }
                QVERIFY(pieces == whole);
            }
        }
    }

    void shapesRoundTrip_data() { addShapes(); }
    void shapesRoundTrip() {
        QFETCH(quint32, levels);
        QFETCH(QString, shape);
        for (const std::size_t n : {0UL, 1UL, 2UL, 31UL, 32UL, 33UL, 1000UL, 20000UL}) {
            const auto drawn = shaped(shape, n, levels);
            for (const auto& [name, code] : kLevelCodes)
                QCOMPARE(decoded(code, levels, encoded(drawn, levels, code), n), drawn);
        }
    }

    void entropyIsNearItsBound_data() { addShapes(); }
    void entropyIsNearItsBound() {
        QFETCH(quint32, levels);
        QFETCH(QString, shape);
        const auto drawn = shaped(shape, 200000, levels);
        const auto bytes = static_cast<double>(planned(drawn, levels, LevelCode::Entropy).bytes);
        constexpr double kHead = 16.0; // byte 0, a small table, a state
        QVERIFY2(bytes <= 1.05 * entropyBits(histogramOf(drawn, levels)) / 8.0 + kHead,
                 qPrintable(QString("%1 bytes for %2")
                                .arg(bytes)
                                .arg(entropyBits(histogramOf(drawn, levels)) / 8.0)));
    }

    void entropyIsWhatTheDefinitionSays() {
        QCOMPARE(entropyBits(std::vector<std::uint32_t>{0, 7, 0}), 0.0);
        QCOMPARE(entropyBits(std::vector<std::uint32_t>{4, 0, 4}), 8.0);
        QCOMPARE(entropyBits(std::vector<std::uint32_t>{2, 4, 2}), 12.0);
    }

    void theSmallestIsChosen_data() { addShapes(); }
    void theSmallestIsChosen() {
        QFETCH(quint32, levels);
        QFETCH(QString, shape);
        for (const std::size_t n : {1UL, 2UL, 7UL, 20UL, 64UL, 300UL, 20000UL}) {
            const auto drawn = shaped(shape, n, levels);
            std::size_t smallest = std::numeric_limits<std::size_t>::max();
            for (const auto& [name, code] : kLevelCodes)
                smallest = std::min(smallest, planned(drawn, levels, code).bytes);
            QCOMPARE(planned(drawn, levels, std::nullopt).bytes, smallest);
        }
    }

    void sizesAreThoseOfTheFormulas_data() {
        QTest::addColumn<quint32>("levels");
        QTest::addColumn<int>("bits");
        QTest::newRow("64") << 64U << 8;
        QTest::newRow("63") << 63U << 7;
        QTest::newRow("16") << 16U << 6;
        QTest::newRow("4") << 4U << 4;
        QTest::newRow("1") << 1U << 2;
        QTest::newRow("127") << 127U << 8;
        QTest::newRow("128") << 128U << 9;
        QTest::newRow("32767") << 32767U << 16;
    }
    void sizesAreThoseOfTheFormulas() {
        QFETCH(quint32, levels);
        QFETCH(int, bits);
        for (const std::size_t n : {1UL, 2UL, 7UL, 8UL, 9UL, 63UL, 64UL, 65UL, 1000UL}) {
            const auto drawn = randomLevels(n, levels, 3);
            const std::size_t fixed = (n * static_cast<std::size_t>(bits) + 7) / 8;
            QCOMPARE(planned(drawn, levels, LevelCode::Fixed).bytes, fixed);
            QCOMPARE(planned(drawn, levels, LevelCode::Elias).bytes, eliasBytes(drawn));
        }
    }

    void hostileBytesAreRefusedOrStayInRange() {
        for (const std::uint32_t s : {1U, 4U, 64U, 300U})
            for (const char* shape : {"uniform", "rare", "one", "bell"})
                for (const std::size_t n : {1UL, 9UL, 40UL, 400UL}) {
                    const auto levels = shaped(shape, n, s);
                    for (const auto& [name, code] : kLevelCodes)
                        changeEveryBit(code, s, levels);
                }
    }

    void mostBitsOfAWideMessageMatter() {
        const auto levels = shaped("bell", 3000, 64); // eight states
        changeEveryBit(LevelCode::Entropy, 64, levels);
        const auto good = encoded(levels, 64, LevelCode::Entropy);
        QCOMPARE(good[0], std::byte{1});
        std::size_t refused = 0;
        for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
            auto bytes = good;
            bytes[bit / 8] ^= std::byte{1} << (bit % 8);
            refused += decodesInBounds(LevelCode::Entropy, 64, bytes, levels.size()) ? 0U : 1U;
        }
        QVERIFY(refused > good.size() * 7);
    }

    void lyingHeadsAreRefused() {
        // sparse: the common level 1 of s = 1, then k and index bytes beyond what there is
        const auto refused = [](std::uint32_t common, std::uint32_t others, std::uint32_t bytes) {
            std::vector<std::byte> payload(25);
            payload[0] = std::byte{4};
            BitWriter writer(std::span<std::byte>(payload).subspan(1));
            writer.writeGamma(common + 1U);
            writer.writeGamma(others + 1U);
            writer.writeGamma(bytes + 1U);
            payload.resize(static_cast<std::size_t>(writer.finish() - payload.data()));
            return !decodesInBounds(LevelCode::Entropy, 1, payload, 100);
        };
        QVERIFY(!refused(2, 0, 0));
        QVERIFY(refused(3, 0, 0));
        QVERIFY(refused(2, 1, 0));
        QVERIFY(refused(2, 101, 0));
        QVERIFY(refused(2, 0xFFFFFFFEU, 0));
        QVERIFY(refused(2, 0, 1));
        QVERIFY(refused(2, 0, 0xFFFFFFFEU));
        QVERIFY(
            !decodesInBounds(LevelCode::Entropy, 1, std::vector<std::byte>(1, std::byte{8}), 4));
    }

    void levelCountsOutsideTheirRangeAreRefused() {
        const std::vector<std::byte> bytes(4);
        QVERIFY(!decodesInBounds(LevelCode::Fixed, 0, bytes, 4));
        QVERIFY(!decodesInBounds(LevelCode::Fixed, 32768, bytes, 2));
        QVERIFY(!decodesInBounds(LevelCode::None, 1, bytes, 2));
        // 129 to 255 are no level of s = 64
        const std::vector<std::byte> tooHigh = {std::byte{128}, std::byte{129}};
        QVERIFY(decodesInBounds(LevelCode::Fixed, 64, ByteView(tooHigh).first(1), 1));
        QVERIFY(!decodesInBounds(LevelCode::Fixed, 64, tooHigh, 2));
    }

    void floatStepsGiveTheBitsOfDoubles() {
        // Also where norm/s is subnormal, and where it is rounded.
        for (const std::uint32_t s : {1U, 4U, 5U, 64U, 100U, 16384U})
            for (const float norm : {1.0F, 0.7F, 3.4e38F, 1.3e-38F, 1.0e-45F, 3.1e-41F}) {
                std::vector<std::int16_t> levels;
                for (int level = -static_cast<int>(s); level <= static_cast<int>(s);
                     level += 1 + static_cast<int>(s) / 97)
                    levels.push_back(static_cast<std::int16_t>(level));
                std::vector<float> values(levels.size());
                dequantise<float>(levels, norm, s, values);
                for (std::size_t i = 0; i < levels.size(); ++i) {
                    const double exact =
                        static_cast<double>(levels[i]) * (static_cast<double>(norm) / s);
                    QCOMPARE(std::bit_cast<std::uint32_t>(values[i]),
                             std::bit_cast<std::uint32_t>(static_cast<float>(exact)));
                }
            }
    }

    void dequantisingHitsTheNormAndNeverOverflows() {
        const float most = std::numeric_limits<float>::max();
        const std::vector<std::int16_t> levels = {0, 1, -1, 7, -7};
        std::vector<float> values(5);
        dequantise<float>(levels, most, 7, values);
        QCOMPARE(values[3], most);
        QCOMPARE(values[4], -most);
        QVERIFY(!std::signbit(values[0]));
        std::vector<double> wide(5);
        dequantise<double>(levels, std::numeric_limits<double>::max(), 7, wide);
        QCOMPARE(wide[3], std::numeric_limits<double>::max());
        QVERIFY(std::isfinite(wide[1]));
    }
};

QTEST_GUILESS_MAIN(TestLevelCode)
#include "test_level_code.moc"
