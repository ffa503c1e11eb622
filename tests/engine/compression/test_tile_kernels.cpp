// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over tiles: the lanes that define their bits, sums of pieces, several sums at once.
#include "engine/compression/tile_kernels.h"
#include "tests/support/compression_case.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

/// The definition: element i to lane i mod 16, lanes folded in halves.
template <class T>
double defined(std::span<const T> values) {
    std::array<double, 16> lanes{};
    for (std::size_t i = 0; i < values.size(); ++i)
        lanes[i % 16] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    for (std::size_t width = 8; width > 0; width /= 2)
        for (std::size_t lane = 0; lane < width; ++lane)
            lanes[lane] += lanes[lane + width];
    return lanes[0];
}

template <class T>
void sumsHaveTheirBits() {
    for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 1000U, 1024U, 4096U, 4099U}) {
        const auto values = contentOf<T>("heavy", n);
        const std::span<const T> all(values);
        const double whole = defined(all);
        QVERIFY(sumSquares(all) == whole);
        for (const std::size_t piece : {1U, 7U, 16U, 100U, 1024U}) {
            SquareSum sum;
            for (std::size_t at = 0; at < n; at += piece)
                sum.add(all.subspan(at, std::min(piece, n - at)));
            QVERIFY(sum.take() == whole);
            QVERIFY(sum.take() == 0.0);
        }
    }
}

bool near(double a, double b) {
    return std::fabs(a - b) <= 1e-14 * std::fabs(b);
}

template <class T>
void pairsSumAsEachAlone() {
    for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 1024U, 1029U}) {
        const auto x = contentOf<T>("heavy", n, 1);
        const auto y = contentOf<T>("normal", n, 2);
        const PairSums sums = pairSums<T>(x, y);
        QVERIFY(near(sums.squaresX, sumSquares<T>(x)));
        QVERIFY(near(sums.squaresY, sumSquares<T>(y)));
        QVERIFY(near(sums.squaredDifference, sumSquaredDifference<T>(x, y)));
        QVERIFY(pairSums<T>(x, x).squaredDifference == 0.0);
    }
}

} // namespace

class TestTileKernels : public QObject {
    Q_OBJECT

private slots:
    void sumsHaveTheirBitsInPiecesToo() {
        sumsHaveTheirBits<float>();
        sumsHaveTheirBits<double>();
    }
    void pairsSumAsEachAloneDoes() {
        pairsSumAsEachAlone<float>();
        pairsSumAsEachAlone<double>();
    }
    void keysTellFiniteFromOther() {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        QVERIFY(isFiniteKey<float>(magnitudeKey(-std::numeric_limits<float>::max())));
        QVERIFY(!isFiniteKey<float>(magnitudeKey(-kInfinity)));
        QVERIFY(!isFiniteKey<float>(magnitudeKey(std::numeric_limits<float>::quiet_NaN())));
        QVERIFY(isFiniteKey<double>(magnitudeKey(std::numeric_limits<double>::max())));
        QVERIFY(!isFiniteKey<double>(magnitudeKey(double{kInfinity})));
    }
};

QTEST_GUILESS_MAIN(TestTileKernels)
#include "test_tile_kernels.moc"
