// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Level codes: round trip over every size, exact sizes, the smaller is chosen, hostile bytes.
#include "engine/compression/level_code.h"
#include "engine/core/errors.h"
#include "engine/core/random.h"

#include <QTest>

#include <cmath>

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

std::vector<std::byte> encoded(const LevelCoding& coding, std::uint32_t s,
                               const std::vector<std::int16_t>& levels) {
    std::vector<std::byte> bytes(coding.bytes);
    writeLevels(coding, s, levels, bytes);
    return bytes;
}

bool decodesInBounds(LevelCode code, std::uint32_t s, ByteView bytes, std::size_t n) {
    std::vector<std::int16_t> levels(n);
    try {
        readLevels(code, s, bytes, levels);
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

} // namespace

class TestLevelCode : public QObject {
    Q_OBJECT

private slots:
    void everySizeRoundTrips() {
        for (std::size_t n = 1; n <= 4097; ++n) {
            const std::uint32_t s = std::array{1U, 4U, 16U, 64U, 127U, 128U, 32767U}[n % 7];
            const auto levels = randomLevels(n, s, s);
            for (const LevelCode code : {LevelCode::Fixed, LevelCode::Elias}) {
                const LevelCoding coding = planLevelCode(histogramOf(levels, s), code);
                std::vector<std::int16_t> back(n);
                readLevels(code, s, encoded(coding, s, levels), back);
                if (back != levels)
                    QFAIL(qPrintable(QString("n %1, s %2").arg(n).arg(s)));
            }
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
            const auto histogram = histogramOf(drawn, levels);
            const std::size_t fixed = (n * static_cast<std::size_t>(bits) + 7) / 8;
            QCOMPARE(planLevelCode(histogram, LevelCode::Fixed).bytes, fixed);
            QCOMPARE(planLevelCode(histogram, LevelCode::Elias).bytes, eliasBytes(drawn));
            QCOMPARE(planLevelCode(histogram, std::nullopt).bytes,
                     std::min(fixed, eliasBytes(drawn)));
        }
    }

    void hostileBytesAreRefusedOrStayInRange() {
        for (const std::uint32_t s : {1U, 4U, 64U, 300U})
            for (const std::size_t n : {1UL, 9UL, 40UL}) {
                const auto levels = randomLevels(n, s, s);
                for (const LevelCode code : {LevelCode::Fixed, LevelCode::Elias}) {
                    const LevelCoding coding = planLevelCode(histogramOf(levels, s), code);
                    const auto good = encoded(coding, s, levels);
                    for (std::size_t size = 0; size < good.size(); ++size)
                        QVERIFY(!decodesInBounds(code, s, ByteView(good).first(size), n));
                    auto longer = good;
                    longer.push_back(std::byte{0});
                    QVERIFY(!decodesInBounds(code, s, longer, n));
                    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
                        auto bytes = good;
                        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
                        (void)decodesInBounds(code, s, bytes, n);
                    }
                }
            }
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
