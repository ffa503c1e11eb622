// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Philox against Random123's known answers; every way to read the same numbers gives the same
// numbers.
#include "engine/core/random.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <vector>

using namespace gradlab::engine;

class TestRandom : public QObject {
    Q_OBJECT

private slots:
    // Random123, kat_vectors: philox4x32 10 with counter and key of digits of pi.
    void knownAnswer() {
        const RandomBlock words = philox(0xa4093822U, static_cast<RandomPurpose>(0x299f31d0U),
                                         {0x243f6a88U, 0x85a308d3U, 0x13198a2eU, 0x03707344U});
        QVERIFY(words == (RandomBlock{0xd16cfe09U, 0x94fdccebU, 0x5001e420U, 0x24126ea1U}));
        const RandomBlock zeros = philox(0, static_cast<RandomPurpose>(0), {});
        QVERIFY(zeros == (RandomBlock{0x6627e8d5U, 0xe169c58dU, 0xbc57ac4cU, 0x9b00dbd8U}));
    }

    void fillingAgreesWithTheDefinition() {
        for (const std::size_t first : {0U, 1U, 3U, 4U, 61U, 64U, 1000U})
            for (const std::size_t size :
                 {0U, 1U, 4U, 63U, 64U, 65U, 128U, 255U, 256U, 300U, 1025U}) {
                std::vector<float> out(size);
                fillUniform(out, 7, RandomPurpose::Rounding, {3, 2, 9, 0}, first);
                for (std::size_t i = 0; i < size; ++i) {
                    const std::size_t element = first + i;
                    const RandomBlock words =
                        philox(7, RandomPurpose::Rounding,
                               {3, 2, 9, static_cast<std::uint32_t>(element / 4)});
                    const float expected = uniform24(words[element % 4]);
                    QVERIFY(std::memcmp(&out[i], &expected, sizeof expected) == 0);
                }
            }
    }

    void streamReadsTheSameWords() {
        RandomStream stream(5, RandomPurpose::Test, 1, 2, 3);
        for (std::uint32_t block = 0; block < 300; ++block)
            for (const std::uint32_t word : philox(5, RandomPurpose::Test, {1, 2, 3, block}))
                QCOMPARE(stream.word(), word);
    }

    void purposesAndCountersAreApart() {
        const auto first = [](std::uint32_t seed, RandomPurpose purpose, RandomCounter counter) {
            return philox(seed, purpose, counter);
        };
        const RandomBlock base = first(1, RandomPurpose::Init, {1, 1, 1, 1});
        QVERIFY(base != first(2, RandomPurpose::Init, {1, 1, 1, 1}));
        QVERIFY(base != first(1, RandomPurpose::Dropout, {1, 1, 1, 1}));
        QVERIFY(base != first(1, RandomPurpose::Init, {2, 1, 1, 1}));
        QVERIFY(base != first(1, RandomPurpose::Init, {1, 2, 1, 1}));
        QVERIFY(base != first(1, RandomPurpose::Init, {1, 1, 2, 1}));
        QVERIFY(base != first(1, RandomPurpose::Init, {1, 1, 1, 2}));
    }

    void belowIsItsDefinition() {
        for (const std::uint32_t bound : {1U, 2U, 7U, 1000U, 4444800U, 0x80000000U, 0xC0000000U}) {
            RandomStream drawn(5, RandomPurpose::Test, 1, 2, bound);
            RandomStream words(5, RandomPurpose::Test, 1, 2, bound);
            for (int i = 0; i < 500; ++i) {
                std::uint64_t product = std::uint64_t{words.word()} * bound;
                while (static_cast<std::uint32_t>(product) < (0U - bound) % bound)
                    product = std::uint64_t{words.word()} * bound;
                QCOMPARE(drawn.below(bound), static_cast<std::uint32_t>(product >> 32));
            }
        }
    }

    void belowIsUniform() {
        RandomStream stream(1, RandomPurpose::Test, 0, 0, 0);
        std::vector<double> counts(7, 0.0);
        constexpr int kDraws = 70000;
        for (int i = 0; i < kDraws; ++i)
            counts[stream.below(7)] += 1.0;
        for (const double count : counts)
            QVERIFY(std::abs(count - kDraws / 7.0) < 5.0 * std::sqrt(kDraws / 7.0));
        QCOMPARE(stream.below(1), 0U);
    }

    void normalHasMeanZeroAndVarianceOne() {
        RandomStream stream(1, RandomPurpose::Test, 0, 0, 1);
        constexpr int kDraws = 100000;
        double sum = 0.0;
        double squares = 0.0;
        for (int i = 0; i < kDraws; ++i) {
            const double value = stream.normal();
            QVERIFY(std::isfinite(value));
            sum += value;
            squares += value * value;
        }
        QVERIFY(std::abs(sum / kDraws) < 0.02);
        QVERIFY(std::abs(squares / kDraws - 1.0) < 0.03);
    }
};

QTEST_GUILESS_MAIN(TestRandom)
#include "test_random.moc"
