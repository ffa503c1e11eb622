// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The products against three nested loops, on every kind of edge; whole numbers, so results must be
// exact.
#include "engine/core/check.h"
#include "engine/core/parallel.h"
#include "engine/core/random.h"
#include "engine/model/matrix_product.h"

#include <QTest>

#include <cstring>
#include <vector>

using namespace gradlab::engine;

namespace {

template <class T>
std::vector<T> wholeNumbers(std::size_t size, std::uint32_t lane) {
    RandomStream random(3, RandomPurpose::Test, 0, lane, 0);
    std::vector<T> values(size);
    for (T& value : values)
        value = static_cast<T>(static_cast<int>(random.below(9)) - 4);
    return values;
}

/// All three products of one shape, with and without accumulation.
template <class T>
bool allExact(std::size_t m, std::size_t n, std::size_t k) {
    const auto a = wholeNumbers<T>(m * k, 1);
    const auto b = wholeNumbers<T>(k * n, 2);
    const auto start = wholeNumbers<T>(m * n, 3);
    std::vector<T> at(k * m);
    std::vector<T> bt(n * k);
    std::vector<T> expected(m * n);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t x = 0; x < k; ++x)
            at[x * m + i] = a[i * k + x];
    for (std::size_t x = 0; x < k; ++x)
        for (std::size_t j = 0; j < n; ++j)
            bt[j * k + x] = b[x * n + j];
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t x = 0; x < k; ++x)
            for (std::size_t j = 0; j < n; ++j)
                expected[i * n + j] += a[i * k + x] * b[x * n + j];
    PackedMatrix<T> packed;
    PackedMatrix<T> fromTranspose;
    fromTranspose.pack({a.data(), m, k}); // a smaller or larger matrix before must not matter
    packed.pack({b.data(), k, n});
    fromTranspose.packTransposed({bt.data(), n, k});
    bool good = true;
    for (const Accumulate accumulate : {Accumulate::No, Accumulate::Yes}) {
        std::vector<T> wanted = expected;
        for (std::size_t i = 0; i < m * n && accumulate == Accumulate::Yes; ++i)
            wanted[i] += start[i];
        std::vector<T> c = start;
        multiply<T>({a.data(), m, k}, packed, {c.data(), m, n}, accumulate);
        good = good && c == wanted;
        c = start;
        multiply<T>({a.data(), m, k}, fromTranspose, {c.data(), m, n}, accumulate);
        good = good && c == wanted;
        c = start;
        transposedMultiply<T>({at.data(), k, m}, {b.data(), k, n}, packed, {c.data(), m, n},
                              accumulate);
        good = good && c == wanted;
    }
    return good;
}

std::vector<float> uniforms(std::size_t size, std::uint32_t lane) {
    std::vector<float> values(size);
    fillUniform(values, 1, RandomPurpose::Test, {0, lane, 0, 0});
    return values;
}

} // namespace

class TestMatrixProduct : public QObject {
    Q_OBJECT

private slots:
    void agreesWithNestedLoops_data() {
        QTest::addColumn<int>("m");
        QTest::addColumn<int>("n");
        for (const int m : {1, 4, 7, 8, 9, 50})
            for (const int n : {1, 15, 16, 17, 24, 48, 49, 100})
                QTest::addRow("%dx%d", m, n) << m << n;
    }
    void agreesWithNestedLoops() {
        QFETCH(int, m);
        QFETCH(int, n);
        for (const std::size_t k : {1U, 33U, 384U, 385U, 770U}) {
            const auto rows = static_cast<std::size_t>(m);
            const auto cols = static_cast<std::size_t>(n);
            QVERIFY2(allExact<float>(rows, cols, k), qPrintable(QString("float k %1").arg(k)));
            QVERIFY2(allExact<double>(rows, cols, k), qPrintable(QString("double k %1").arg(k)));
        }
    }

    // Shapes that split into tasks and pass the caches' limits, in both directions.
    void largeShapesInEveryArena() {
        for (const int threads : {1, 2, 5}) {
            ComputeArena arena(threads);
            bool good = true;
            arena.execute([&] {
                good = allExact<float>(500, 130, 90) && allExact<float>(20, 3100, 70) &&
                       allExact<float>(9, 400, 1300) && allExact<double>(300, 64, 400);
            });
            QVERIFY(good);
        }
    }

    // A row's bits do not depend on the rows around it: workers with few columns and one with many
    // agree.
    void rowsAreIndependent() {
        constexpr std::size_t kRows = 37;
        constexpr std::size_t kCols = 70;
        constexpr std::size_t kInner = 500;
        const auto a = uniforms(kRows * kInner, 1);
        const auto b = uniforms(kInner * kCols, 2);
        PackedMatrix<float> packed;
        packed.pack({b.data(), kInner, kCols});
        std::vector<float> together(kRows * kCols);
        multiply<float>({a.data(), kRows, kInner}, packed, {together.data(), kRows, kCols},
                        Accumulate::No);
        for (std::size_t i = 0; i < kRows; ++i) {
            std::vector<float> alone(kCols);
            multiply<float>({a.data() + i * kInner, 1, kInner}, packed, {alone.data(), 1, kCols},
                            Accumulate::No);
            QVERIFY(std::memcmp(alone.data(), together.data() + i * kCols, kCols * sizeof(float)) ==
                    0);
        }
    }

    void refusesShapesThatDoNotFit() {
        const std::vector<float> a(12);
        std::vector<float> c(12);
        PackedMatrix<float> b;
        b.pack({a.data(), 3, 4});
        QVERIFY_EXCEPTION_THROWN(
            multiply<float>({a.data(), 3, 4}, b, {c.data(), 3, 4}, Accumulate::No), CheckFailure);
        QVERIFY_EXCEPTION_THROWN(
            multiply<float>({a.data(), 4, 3}, b, {c.data(), 3, 4}, Accumulate::No), CheckFailure);
        QVERIFY_EXCEPTION_THROWN(
            multiply<float>({a.data(), 4, 3}, b, {c.data(), 4, 3}, Accumulate::No), CheckFailure);
    }
};

QTEST_GUILESS_MAIN(TestMatrixProduct)
#include "test_matrix_product.moc"
