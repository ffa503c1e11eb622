// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Index codes: round trip of every code and size, exact sizes, the smallest is chosen, and bytes
// that are cut, lengthened or flipped are refused or decode in bounds.
#include "engine/compression/bit_stream.h"
#include "engine/compression/index_code.h"
#include "engine/compression/selection_sender.h"
#include "engine/core/errors.h"
#include "engine/core/random.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace gradlab::engine;

namespace {

/// Index sets of one size: first, last, both ends, all, every third, random ones.
std::vector<std::vector<std::uint32_t>> setsOf(std::uint32_t n) {
    std::vector<std::vector<std::uint32_t>> sets = {{}, {0}, {n - 1}};
    if (n > 1)
        sets.push_back({0, n - 1});
    std::vector<std::uint32_t> all;
    std::vector<std::uint32_t> third;
    std::vector<std::uint32_t> random;
    RandomStream stream(n, RandomPurpose::Test, 1, 0, 0);
    for (std::uint32_t i = 0; i < n; ++i) {
        all.push_back(i);
        if (i % 3 == 1)
            third.push_back(i);
        if (stream.below(20) == 0)
            random.push_back(i);
    }
    sets.push_back(all);
    sets.push_back(third);
    sets.push_back(random);
    return sets;
}

std::vector<std::byte> encoded(const IndexCoding& coding,
                               const std::vector<std::uint32_t>& indices) {
    std::vector<std::byte> bytes(coding.bytes);
    writeIndices(coding, indices, bytes);
    return bytes;
}

/// Decodes, or returns false for a ProtocolError; indices that come out are in bounds.
bool decodesInBounds(const IndexCoding& coding, ByteView bytes, std::size_t n, std::size_t k) {
    std::vector<std::uint32_t> indices;
    try {
        readIndices(coding, bytes, n, k, indices);
    } catch (const ProtocolError&) {
        return false;
    }
    bool good = indices.size() == k;
    for (std::size_t i = 0; i < indices.size(); ++i)
        good = good && indices[i] < n && (i == 0 || indices[i - 1] < indices[i]);
    if (!good)
        throw std::runtime_error("decoded indices are out of order or bounds");
    return true;
}

/// log2 by counting, bits by the definition of the codes.
std::size_t eliasBytes(const std::vector<std::uint32_t>& indices, bool delta) {
    std::size_t bits = 0;
    std::int64_t previous = -1;
    for (const std::uint32_t index : indices) {
        const auto gap = static_cast<double>(std::int64_t{index} - previous);
        const auto log = static_cast<std::size_t>(std::floor(std::log2(gap)));
        const auto lengthLog =
            static_cast<std::size_t>(std::floor(std::log2(static_cast<double>(log + 1))));
        bits += delta ? 2 * lengthLog + 1 + log : 2 * log + 1;
        previous = index;
    }
    return (bits + 7) / 8;
}

} // namespace

class TestIndexCode : public QObject {
    Q_OBJECT

private slots:
    void everySizeRoundTrips() {
        for (std::uint32_t n = 1; n <= 4097; ++n)
            for (const auto& set : setsOf(n))
                for (const auto& [name, code] : kIndexCodes) {
                    const IndexCoding coding = planIndexCode(set, n, code);
                    std::vector<std::uint32_t> back;
                    readIndices(coding, encoded(coding, set), n, set.size(), back);
                    if (back != set)
                        QFAIL(qPrintable(QString("n %1, k %2, code %3")
                                             .arg(n)
                                             .arg(set.size())
                                             .arg(static_cast<int>(code))));
                }
    }

    void largeIndicesRoundTrip() {
        const std::uint32_t n = 1U << 31U;
        const std::vector<std::uint32_t> set = {0,     127,       128,      129,        65535,
                                                65536, 16777217U, 1U << 30, n - 70000U, n - 1U};
        for (const auto& [name, code] : kIndexCodes) {
            if (code == IndexCode::Bitmap)
                continue; // 256 MiB
            const IndexCoding coding = planIndexCode(set, n, code);
            std::vector<std::uint32_t> back;
            readIndices(coding, encoded(coding, set), n, set.size(), back);
            QCOMPARE(back, set);
        }
    }

    void sizesAreThoseOfTheFormulas() {
        for (const std::uint32_t n : {1U, 2U, 31U, 32U, 33U, 1000U, 4097U})
            for (const auto& set : setsOf(n)) {
                QCOMPARE(planIndexCode(set, n, IndexCode::Raw32).bytes, 4 * set.size());
                QCOMPARE(planIndexCode(set, n, IndexCode::Bitmap).bytes, std::size_t{(n + 7) / 8});
                const IndexCoding elias = planIndexCode(set, n, IndexCode::Elias);
                QCOMPARE(elias.bytes, eliasBytes(set, elias.delta));
                QCOMPARE(elias.bytes, std::min(eliasBytes(set, false), eliasBytes(set, true)));
                std::size_t smallest = elias.bytes;
                for (const auto& [name, code] : kIndexCodes)
                    smallest = std::min(smallest, planIndexCode(set, n, code).bytes);
                QCOMPARE(planIndexCode(set, n, std::nullopt).bytes, smallest);
            }
    }

    void entropyIsNearItsBound_data() {
        QTest::addColumn<double>("ratio");
        QTest::addColumn<bool>("clustered");
        for (const double ratio : {0.5, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0001}) {
            QTest::addRow("%g anywhere", ratio) << ratio << false;
            QTest::addRow("%g clustered", ratio) << ratio << true;
        }
    }
    void entropyIsNearItsBound() {
        QFETCH(double, ratio);
        QFETCH(bool, clustered);
        constexpr std::uint32_t kElements = 1000000;
        RandomStream random(7, RandomPurpose::Test, 0, 0, 0);
        std::vector<std::uint32_t> set;
        for (std::uint32_t i = 0; i < kElements; ++i) {
            // Rows of 100, of which every third has thrice as many.
            const double share = !clustered ? ratio : i / 100 % 3 == 0 ? 3.0 * ratio : 0.0;
            if (double{random.uniform()} < share)
                set.push_back(i);
        }
        const double bound = log2Choose(kElements, set.size()) / 8.0;
        const double bytes =
            static_cast<double>(planIndexCode(set, kElements, IndexCode::Entropy).bytes);
        QVERIFY2(bytes <= 1.05 * bound + 2.0,
                 qPrintable(QString("%1 of %2").arg(bytes).arg(bound)));
    }

    void riceStaysBelowItsLimitWhereverIndicesAre() {
        // All at the front, and one at the end: gaps could not be less alike.
        std::vector<std::uint32_t> set;
        for (std::uint32_t i = 0; i < 999; ++i)
            set.push_back(i);
        set.push_back(999999);
        const double bound = log2Choose(1000000, set.size()) / 8.0;
        QVERIFY(static_cast<double>(planIndexCode(set, 1000000, IndexCode::Entropy).bytes) <=
                0.1 * bound);
    }

    void unknownFormsAreRefused() {
        for (int form = 33; form < 256; ++form) {
            std::vector<std::byte> bytes(40, std::byte{0xFF});
            bytes[0] = static_cast<std::byte>(form);
            const IndexCoding coding{IndexCode::Entropy, false, bytes.size()};
            QVERIFY(!decodesInBounds(coding, bytes, 20, 3));
        }
    }

    void oneByteCoversGapsUpTo128() {
        QCOMPARE(planIndexCode(std::vector<std::uint32_t>{127, 255}, 1000, IndexCode::Gap).bytes,
                 std::size_t{2});
        QCOMPARE(planIndexCode(std::vector<std::uint32_t>{128, 257}, 1000, IndexCode::Gap).bytes,
                 std::size_t{4});
    }

    void cutAndLengthenedBytesAreRefused() {
        for (const std::uint32_t n : {1U, 9U, 40U, 300U})
            for (const auto& set : setsOf(n))
                for (const auto& [name, code] : kIndexCodes) {
                    const IndexCoding coding = planIndexCode(set, n, code);
                    std::vector<std::byte> bytes = encoded(coding, set);
                    for (std::size_t size = 0; size < bytes.size(); ++size)
                        QVERIFY(
                            !decodesInBounds(coding, ByteView(bytes).first(size), n, set.size()));
                    bytes.push_back(std::byte{0});
                    QVERIFY(!decodesInBounds(coding, bytes, n, set.size()));
                }
    }

    void flippedBitsStayInBounds() {
        std::size_t refused = 0;
        std::size_t decoded = 0;
        for (const std::uint32_t n : {9U, 130U, 300U})
            for (const auto& set : setsOf(n))
                for (const auto& [name, code] : kIndexCodes) {
                    const IndexCoding coding = planIndexCode(set, n, code);
                    const std::vector<std::byte> good = encoded(coding, set);
                    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
                        std::vector<std::byte> bytes = good;
                        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
                        ++(decodesInBounds(coding, bytes, n, set.size()) ? decoded : refused);
                    }
                }
        QVERIFY(refused > 0);
        QVERIFY(decoded > 0); // some flips give another valid set: the frame's hash finds those
    }

    void wrongCountsAreRefused() {
        const std::vector<std::uint32_t> set = {3, 5, 8};
        for (const auto& [name, code] : kIndexCodes) {
            const IndexCoding coding = planIndexCode(set, 20, code);
            const auto bytes = encoded(coding, set);
            QVERIFY(!decodesInBounds(coding, bytes, 20, 2));
            QVERIFY(!decodesInBounds(coding, bytes, 20, 4));
            QVERIFY(!decodesInBounds(coding, bytes, 8, 3)); // index 8 is outside
        }
        const IndexCoding unknown{IndexCode::None, false, 0};
        QVERIFY(!decodesInBounds(unknown, {}, 20, 0));
    }

    void repeatedRawIndicesAreRefused() {
        const std::vector<std::uint32_t> set = {3, 3, 8};
        const IndexCoding coding{IndexCode::Raw32, false, 12};
        QVERIFY(!decodesInBounds(coding, encoded(coding, set), 20, 3));
    }

    void eliasCodesOfLargeNumbersRoundTrip() {
        const std::vector<std::uint32_t> numbers = {1,           2,           3,          4,
                                                    0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU};
        std::uint64_t bits = 0;
        for (const std::uint32_t number : numbers)
            bits += gammaBits(number) + deltaBits(number);
        std::vector<std::byte> bytes(bytesOfBits(bits));
        BitWriter writer(bytes);
        for (const std::uint32_t number : numbers) {
            writer.writeGamma(number);
            writer.writeDelta(number);
        }
        writer.finish();
        BitReader reader(bytes);
        for (const std::uint32_t number : numbers) {
            QCOMPARE(reader.readGamma(), number);
            QCOMPARE(reader.readDelta(), number);
        }
        reader.requireEnd();
    }

    void longRunsOfZerosRoundTrip() {
        std::vector<std::byte> bytes(100);
        BitWriter writer(bytes);
        const std::vector<std::uint32_t> zeros = {0, 1, 31, 32, 33, 63, 64, 65, 200};
        for (const std::uint32_t count : zeros)
            writer.writeRice(count, 5, 3);
        bytes.resize(static_cast<std::size_t>(writer.finish() - bytes.data()));
        BitReader reader(bytes);
        for (const std::uint32_t count : zeros) {
            QCOMPARE(reader.readZeros(), std::uint64_t{count});
            QCOMPARE(reader.read(3), 5U);
        }
        reader.requireEnd();
        BitReader endless(ByteView(bytes).subspan(bytes.size() - 24, 20)); // all zeros
        QVERIFY_THROWS_EXCEPTION(ProtocolError, (void)endless.readZeros());
    }
};

QTEST_GUILESS_MAIN(TestIndexCode)
#include "test_index_code.moc"
