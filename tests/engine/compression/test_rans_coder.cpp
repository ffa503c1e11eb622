// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The entropy coder against one that divides, its table of frequencies, and the bytes of a message
// that must never change.
#include "engine/compression/level_code.h"
#include "engine/compression/rans_coder.h"
#include "engine/compression/value_class.h"
#include "engine/core/errors.h"
#include "engine/core/random.h"

#include <QTest>

#include <numeric>

using namespace gradlab::engine;

namespace {

/// As the head of rans_coder.h has it, with divisions, words collected from the last to the first.
std::vector<std::byte> reference(const SymbolTable& table, std::size_t lanes,
                                 const std::vector<std::uint8_t>& symbols) {
    std::vector<std::uint64_t> states(lanes, 1U << 16U);
    std::vector<std::uint16_t> words;
    for (std::size_t i = symbols.size(); i-- > 0;) {
        std::uint64_t& x = states[i % lanes];
        std::uint64_t start = 0;
        for (std::size_t j = 0; j < symbols[i]; ++j)
            start += table.frequency(j);
        const std::uint64_t f = table.frequency(symbols[i]);
        while (x >= f << 18U) {
            words.push_back(static_cast<std::uint16_t>(x));
            x >>= 16U;
        }
        x = (x / f) * kFrequencySum + x % f + start;
    }
    std::vector<std::byte> bytes;
    for (const std::uint64_t x : states)
        for (unsigned shift = 0; shift < 32; shift += 8)
            bytes.push_back(static_cast<std::byte>(x >> shift));
    for (std::size_t i = words.size(); i-- > 0;) {
        bytes.push_back(static_cast<std::byte>(words[i]));
        bytes.push_back(static_cast<std::byte>(words[i] >> 8U));
    }
    return bytes;
}

std::vector<std::uint32_t> countsOf(const std::vector<std::uint8_t>& symbols, std::size_t ids) {
    std::vector<std::uint32_t> counts(ids, 0U);
    for (const std::uint8_t symbol : symbols)
        ++counts[symbol];
    return counts;
}

/// Some of `ids` symbols, the first far more often than the others when `skew` is large; each id
/// occurs.
std::vector<std::uint8_t> drawn(std::size_t n, std::uint32_t ids, std::uint32_t skew) {
    RandomStream random(ids, RandomPurpose::Test, 4, skew, static_cast<std::uint32_t>(n));
    std::vector<std::uint8_t> symbols(n, 0);
    for (std::size_t i = 0; i < n; ++i)
        if (i < ids)
            symbols[i] = static_cast<std::uint8_t>(i);
        else if (random.below(skew + 1U) == 0)
            symbols[i] = static_cast<std::uint8_t>(random.below(ids));
    return symbols;
}

SymbolTable throughBytes(const SymbolTable& table, std::uint32_t idCount) {
    std::vector<std::byte> bytes(bytesOfBits(table.bits()));
    BitWriter writer(bytes);
    table.write(writer);
    if (writer.finish() != bytes.data() + bytes.size())
        throw std::runtime_error("a table has another size than it said");
    BitReader reader(bytes);
    const SymbolTable back = SymbolTable::read(reader, idCount);
    reader.requireEnd();
    return back;
}

} // namespace

class TestRansCoder : public QObject {
    Q_OBJECT

private slots:
    void agreesWithDivision_data() {
        QTest::addColumn<quint32>("ids");
        QTest::addColumn<quint32>("skew");
        for (const quint32 ids : {2U, 3U, 9U, 129U, 256U})
            for (const quint32 skew : {0U, 3U, 1000U, 100000U})
                QTest::addRow("%u ids, skew %u", ids, skew) << ids << skew;
    }
    void agreesWithDivision() {
        QFETCH(quint32, ids);
        QFETCH(quint32, skew);
        for (const std::size_t n : {256UL, 257UL, 263UL, 264UL, 1000UL, 50001UL}) {
            const auto symbols = drawn(n, ids, skew);
            const SymbolTable table = *SymbolTable::of(countsOf(symbols, ids));
            const RansEncoder encoder(table);
            const auto symbolAt = [&](std::size_t i) { return symbols[i]; };
            for (const bool wide : {false, true}) {
                std::vector<std::byte> room(RansEncoder::mostBytes(n));
                std::byte* const end = room.data() + room.size();
                const std::byte* const begin = encoder.encode(wide, n, symbolAt, end);
                const std::vector<std::byte> bytes(begin, static_cast<const std::byte*>(end));
                QVERIFY(bytes == reference(table, wide ? 8 : 1, symbols));
                QCOMPARE(encoder.measure(wide, n, symbolAt), bytes.size());
                std::vector<std::uint32_t> back(n);
                const RansDecoder decoder(throughBytes(table, ids), 0);
                QVERIFY(decoder.decode(wide, bytes, std::span(back)).empty());
                QVERIFY(std::equal(back.begin(), back.end(), symbols.begin()));
            }
        }
    }

    void frequenciesAreThoseOfTheFormula() {
        const std::vector<std::uint32_t> counts = {0, 1, 0, 1000, 7, 0, 4000000000U};
        const SymbolTable table = *SymbolTable::of(counts);
        QCOMPARE(table.size(), std::size_t{4});
        // Eight times 1; 1000 and 4e9 rounded to four digits of base two; 8 · 7.
        const std::vector<std::uint64_t> weights = {8, 16 * 512, 56, std::uint64_t{15} << 31U};
        const std::uint64_t total =
            std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
        std::uint32_t sum = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            QCOMPARE(table.id(i), (std::array<std::uint32_t, 4>{1, 3, 4, 6})[i]);
            sum += table.frequency(i);
            const std::uint64_t plain = 1U + weights[i] * (kFrequencySum - 4U) / total;
            if (i < 3)
                QCOMPARE(std::uint64_t{table.frequency(i)}, plain);
            else
                QVERIFY(table.frequency(i) >= plain); // the rest
        }
        QCOMPARE(sum, kFrequencySum);
    }

    void everyTableTravelsWhole() {
        for (std::size_t size = 1; size <= kMostSymbols; ++size) {
            RandomStream random(5, RandomPurpose::Test, 0, 0, static_cast<std::uint32_t>(size));
            std::vector<std::uint32_t> counts(65535, 0U);
            for (std::size_t i = 0; i < size; ++i)
                counts[i * 255] = 1U + (random.word() >> random.below(32));
            const SymbolTable table = *SymbolTable::of(counts);
            const SymbolTable back = throughBytes(table, 65535);
            QCOMPARE(back.size(), size);
            std::uint32_t sum = 0;
            for (std::size_t i = 0; i < size; ++i) {
                QCOMPARE(back.id(i), table.id(i));
                QCOMPARE(back.frequency(i), table.frequency(i));
                QVERIFY(back.frequency(i) > 0);
                sum += back.frequency(i);
            }
            QCOMPARE(sum, kFrequencySum);
        }
        QVERIFY(!SymbolTable::of(std::vector<std::uint32_t>(257, 1U)));
        QVERIFY(!SymbolTable::of(std::vector<std::uint32_t>(9, 0U)));
    }

    void tablesBeyondTheirIdsAreRefused() {
        const std::vector<std::uint32_t> counts = {1, 0, 5, 9};
        const SymbolTable table = *SymbolTable::of(counts);
        QCOMPARE(throughBytes(table, 4).size(), std::size_t{3});
        QVERIFY_THROWS_EXCEPTION(ProtocolError, throughBytes(table, 3)); // id 3
        QVERIFY_THROWS_EXCEPTION(ProtocolError, throughBytes(table, 2)); // three symbols
    }

    void classesHoldTheirValues() {
        for (std::uint32_t value = 0; value < 70000; ++value) {
            const std::uint32_t id = classOfValue(value);
            QVERIFY(kClasses[id].first <= value);
            QVERIFY(value - kClasses[id].first < 1U << kClasses[id].lowBits);
            QCOMPARE(kClasses[id].lowBits, shiftOfValue(value));
            QVERIFY(value == 0 || id - classOfValue(value - 1U) <= 1U);
        }
    }

    void bytesOfAMessageNeverChange() {
        const std::vector<std::int16_t> levels = {0, 1, 0, -1, 0, 0, 2, 0, 0, 1};
        const std::vector<std::uint32_t> histogram = {0, 1, 6, 2, 1};
        LevelEncoder encoder;
        const LevelCoding coding = encoder.plan(histogram, levels, LevelCode::Entropy);
        std::vector<std::byte> bytes(coding.bytes);
        encoder.write(coding, 2, levels, bytes);
        QByteArray hex;
        for (const std::byte byte : bytes)
            hex += QByteArray::number(std::to_integer<int>(byte), 16).rightJustified(2, '0');
        QCOMPARE(hex, QByteArray("004491b15000a7a553d0"));
    }
};

QTEST_GUILESS_MAIN(TestRansCoder)
#include "test_rans_coder.moc"
