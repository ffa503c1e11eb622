// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Counts of levels, whichever way the processor has to make them, against one addition a level.
#include "engine/compression/level_histogram.h"
#include "engine/core/random.h"

#include <QTest>

#include <vector>

using namespace gradlab::engine;

namespace {

/// Levels of s, one in `rare` of them anywhere, the others from −reach to reach.
std::vector<std::int16_t> drawn(std::size_t n, std::uint32_t s, std::uint32_t reach,
                                std::uint32_t rare) {
    RandomStream random(3, RandomPurpose::Test, s, reach, rare);
    std::vector<std::int16_t> levels(n);
    for (std::int16_t& level : levels) {
        const std::uint32_t most = random.below(rare) == 0 ? s : std::min(reach, s);
        level = static_cast<std::int16_t>(static_cast<int>(random.below(2 * most + 1)) -
                                          static_cast<int>(most));
    }
    return levels;
}

} // namespace

class TestLevelHistogram : public QObject {
    Q_OBJECT

private slots:
    void countsEachLevel_data() {
        QTest::addColumn<uint>("s");
        for (const uint s : {1U, 2U, 3U, 64U, 127U, 2047U, 2048U, 32767U})
            QTest::addRow("s %u", s) << s;
    }
    void countsEachLevel() {
        QFETCH(uint, s);
        LevelHistogram histogram(s);
        for (const std::uint32_t reach : {0U, 1U, 2U, 3U, s})
            for (const std::uint32_t rare : {1U, 30U, 1000000U})
                for (const std::size_t n : {0U, 1U, 31U, 32U, 33U, 1000U, 1024U, 1056U, 5003U}) {
                    const auto levels = drawn(n, s, reach, rare);
                    std::vector<std::uint32_t> expected(2 * std::size_t{s} + 1, 0U);
                    for (const std::int16_t level : levels)
                        ++expected[std::size_t{s} + static_cast<std::size_t>(level)];
                    histogram.clear();
                    const std::span<const std::int16_t> all(levels);
                    histogram.add(all.first(n / 3));
                    histogram.add(all.subspan(n / 3));
                    const auto counts = histogram.counts();
                    QVERIFY(
                        std::equal(counts.begin(), counts.end(), expected.begin(), expected.end()));
                    QVERIFY(histogram.counts()[s] == expected[s]); // and again
                }
    }

    void extremeLevelsAreCounted() {
        LevelHistogram histogram(32767);
        histogram.add(std::vector<std::int16_t>(100, 32767));
        histogram.add(std::vector<std::int16_t>(70, -32767));
        QCOMPARE(histogram.counts()[65534], 100U);
        QCOMPARE(histogram.counts()[0], 70U);
        QCOMPARE(histogram.counts()[32767], 0U);
    }
};

QTEST_GUILESS_MAIN(TestLevelHistogram)
#include "test_level_histogram.moc"
