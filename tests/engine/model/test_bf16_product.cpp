// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Rounding to bf16 against the nearest of two neighbours, chosen in double; products of rounded
// operands against the same sums in double.
#include "engine/core/check.h"
#include "engine/core/parallel.h"
#include "engine/core/random.h"
#include "engine/model/bf16_product.h"
#include "engine/model/rounded_twin.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace gradlab::engine;

namespace {

float widened(Bfloat value) {
    return std::bit_cast<float>(std::uint32_t{value} << 16U);
}

/// The magnitude's two neighbours in bf16 and what lies nearer; infinity counts as 2^128.
Bfloat nearest(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const auto below = static_cast<Bfloat>(bits >> 16U);
    if (std::isinf(value))
        return below;
    const auto above = static_cast<Bfloat>(below + 1);
    const auto size = [](Bfloat b) {
        const double wide = std::abs(static_cast<double>(widened(b)));
        return std::isinf(wide) ? std::ldexp(1.0, 128) : wide;
    };
    const double magnitude = std::abs(static_cast<double>(value));
    const double down = magnitude - size(below);
    const double up = size(above) - magnitude;
    if (down == up)
        return (below & 1U) == 0 ? below : above;
    return down < up ? below : above;
}

struct Numbers {
    Numbers(std::size_t rowCount, std::size_t colCount, std::uint32_t lane)
        : rows(rowCount), cols(colCount), exact(rows * cols), rounded(exact.size()) {
        fillUniform(exact, 5, RandomPurpose::Test, {0, lane, 0, 0});
        for (float& value : exact)
            value -= 0.5F;
        roundToBfloats(exact, rounded.data());
    }
    [[nodiscard]] Factor<float> factor() const {
        return {exact.data(), rows, cols, rounded.data()};
    }
    [[nodiscard]] double at(std::size_t row, std::size_t col) const {
        return static_cast<double>(widened(rounded[row * cols + col]));
    }
    std::size_t rows;
    std::size_t cols;
    std::vector<float> exact;
    std::vector<Bfloat> rounded;
};

/// All products of one shape; results are compared with sums in double of the same operands.
class Products {
public:
    Products(std::size_t m, std::size_t n, std::size_t k)
        : a_(m, k, 1), at_(k, m, 2), b_(k, n, 3), bt_(n, k, 4), start_(m, n, 5) {}

    /// Of the largest error against its bound; more than 1 is wrong.
    double worst() {
        PackedMatrix<float> packed(ProductType::Bf16);
        double error = 0.0;
        for (const Accumulate accumulate : {Accumulate::No, Accumulate::Yes}) {
            packed.pack(b_.factor());
            auto c = start_.exact;
            multiply<float>(a_.factor(), packed, view(c), accumulate);
            error = std::max(error, errorOf(c, accumulate, false, false));
            c = start_.exact;
            transposedMultiply<float>(at_.factor(), b_.factor(), packed, view(c), accumulate);
            error = std::max(error, errorOf(c, accumulate, true, false));
            packed.packTransposed(bt_.factor());
            c = start_.exact;
            multiply<float>(a_.factor(), packed, view(c), accumulate);
            error = std::max(error, errorOf(c, accumulate, false, true));
        }
        return error;
    }
    /// The bits of both kinds of product.
    std::vector<float> results() {
        PackedMatrix<float> packed(ProductType::Bf16);
        auto c = start_.exact;
        packed.packTransposed(bt_.factor());
        multiply<float>(a_.factor(), packed, view(c), Accumulate::Yes);
        auto both = c;
        transposedMultiply<float>(at_.factor(), b_.factor(), packed, view(c), Accumulate::Yes);
        both.insert(both.end(), c.begin(), c.end());
        return both;
    }

private:
    MatrixView<float> view(std::vector<float>& c) const { return {c.data(), a_.rows, b_.cols}; }

    double errorOf(const std::vector<float>& c, Accumulate accumulate, bool leftTurned,
                   bool rightTurned) const {
        double worst = 0.0;
        const std::size_t depth = a_.cols;
        for (std::size_t i = 0; i < a_.rows; ++i)
            for (std::size_t j = 0; j < b_.cols; ++j) {
                const auto start = static_cast<double>(start_.exact[i * b_.cols + j]);
                double sum = accumulate == Accumulate::Yes ? start : 0.0;
                double sizes = std::abs(sum);
                for (std::size_t x = 0; x < depth; ++x) {
                    const double product = (leftTurned ? at_.at(x, i) : a_.at(i, x)) *
                                           (rightTurned ? bt_.at(j, x) : b_.at(x, j));
                    sum += product;
                    sizes += std::abs(product);
                }
                // Each addition in f32 may be wrong by half a unit in its last place.
                const double bound = static_cast<double>(depth + 2) *
                                     static_cast<double>(std::numeric_limits<float>::epsilon()) *
                                     sizes / 2.0;
                const auto got = static_cast<double>(c[i * b_.cols + j]);
                worst = std::max(worst, std::abs(got - sum) / bound);
                if (!std::isfinite(got))
                    return std::numeric_limits<double>::infinity();
            }
        return worst;
    }

    Numbers a_;
    Numbers at_;
    Numbers b_;
    Numbers bt_;
    Numbers start_;
};

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

} // namespace

#define GRADLAB_SKIP_WITHOUT_BF16()                                                                \
    if (bf16Ability() != Bf16Ability::Ready)                                                       \
    QSKIP(whyNotBf16(bf16Ability()).data())

class TestBf16Product : public QObject {
    Q_OBJECT

private slots:
    // Every upper half, with lower halves on, beside and between the ties.
    void roundsToTheNearest() {
        for (std::uint32_t upper = 0; upper < 0x10000U; ++upper)
            for (const std::uint32_t lower :
                 {0x0000U, 0x0001U, 0x1234U, 0x7FFFU, 0x8000U, 0x8001U, 0xC000U, 0xFFFFU}) {
                const auto value = std::bit_cast<float>((upper << 16U) | lower);
                const Bfloat rounded = roundToBfloat(value);
                if (std::isnan(value)) {
                    QVERIFY2(std::isnan(widened(rounded)), qPrintable(QString::number(upper, 16)));
                    QVERIFY((rounded >> 15U) == (upper >> 15U));
                    continue;
                }
                QVERIFY2(rounded == nearest(value),
                         qPrintable(QString("%1 %2").arg(upper, 0, 16).arg(lower, 0, 16)));
            }
    }

    // The loop over many is compiled for vectors.
    void manyRoundAsOne() {
        std::vector<float> values;
        for (std::uint32_t upper = 0; upper < 0x10000U; ++upper)
            for (const std::uint32_t lower : {0x0001U, 0x8000U, 0xFFFFU})
                values.push_back(std::bit_cast<float>((upper << 16U) | lower));
        std::vector<Bfloat> rounded(values.size());
        roundToBfloats(values, rounded.data());
        for (std::size_t i = 0; i < values.size(); ++i)
            QCOMPARE(rounded[i], roundToBfloat(values[i]));
    }

    void whyNotIsOnlySaidOfWhatIsAbsent() {
        QVERIFY(whyNotBf16(Bf16Ability::Ready).empty());
        QVERIFY(whyNotBf16(Bf16Ability::NotBuilt).find("built without oneDNN") == 0);
        QVERIFY(whyNotBf16(Bf16Ability::NoInstructions).find("this processor has no bf16") == 0);
    }

    void agreesWithDouble_data() {
        QTest::addColumn<int>("m");
        QTest::addColumn<int>("n");
        for (const int m : {1, 5, 8, 65, 200})
            for (const int n : {1, 15, 16, 49, 130})
                QTest::addRow("%dx%d", m, n) << m << n;
    }
    void agreesWithDouble() {
        GRADLAB_SKIP_WITHOUT_BF16();
        QFETCH(int, m);
        QFETCH(int, n);
        for (const std::size_t k : {1U, 2U, 33U, 300U, 1025U}) {
            Products products(static_cast<std::size_t>(m), static_cast<std::size_t>(n), k);
            const double worst = products.worst();
            QVERIFY2(worst <= 1.0, qPrintable(QString("k %1: %2 of the bound").arg(k).arg(worst)));
        }
    }

    // Shapes of several tasks, the last one shorter; a right-hand side beyond the caches.
    void sameBitsForEveryNumberOfThreads() {
        GRADLAB_SKIP_WITHOUT_BF16();
        struct Shape {
            std::size_t m;
            std::size_t n;
            std::size_t k;
        };
        constexpr std::array shapes{Shape{700, 256, 64}, Shape{333, 1000, 300},
                                    Shape{150, 40, 20000}, Shape{1030, 24, 500}};
        for (const auto& shape : shapes) {
            Products products(shape.m, shape.n, shape.k);
            const std::vector<float> serial = products.results();
            QVERIFY(products.worst() <= 1.0);
            for (const int threads : {1, 2, 8}) {
                ComputeArena arena(threads);
                std::vector<float> parallel;
                arena.execute([&] { parallel = products.results(); });
                QVERIFY(sameBits(serial, parallel));
            }
        }
    }

    // One object serves shapes in turn, as a model's layers do.
    void whatIsKeptOfOtherShapesDoesNotShow() {
        GRADLAB_SKIP_WITHOUT_BF16();
        PackedMatrix<float> used(ProductType::Bf16);
        for (int round = 0; round < 2; ++round)
            for (const std::size_t n : {64U, 300U, 17U}) {
                const Numbers a(90, 70, 1);
                const Numbers b(70, n, 2);
                PackedMatrix<float> fresh(ProductType::Bf16);
                std::vector<float> expected(90 * n);
                std::vector<float> got(90 * n);
                fresh.pack(b.factor());
                used.pack(b.factor());
                multiply<float>(a.factor(), fresh, {expected.data(), 90, n}, Accumulate::No);
                multiply<float>(a.factor(), used, {got.data(), 90, n}, Accumulate::No);
                QVERIFY(sameBits(expected, got));
            }
    }

    void nonFiniteOperandsReachTheResult() {
        GRADLAB_SKIP_WITHOUT_BF16();
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            Numbers a(20, 30, 1);
            const Numbers b(30, 40, 2);
            a.rounded[7 * 30 + 3] = roundToBfloat(bad);
            PackedMatrix<float> packed(ProductType::Bf16);
            packed.pack(b.factor());
            std::vector<float> c(20 * 40);
            multiply<float>(a.factor(), packed, {c.data(), 20, 40}, Accumulate::No);
            for (std::size_t i = 0; i < c.size(); ++i)
                QCOMPARE(std::isfinite(c[i]), i / 40 != 7);
        }
    }

    void refusesWhatWasNotRounded() {
        GRADLAB_SKIP_WITHOUT_BF16();
        const Numbers a(4, 3, 1);
        const Numbers b(3, 5, 2);
        std::vector<float> c(20);
        PackedMatrix<float> packed(ProductType::Bf16);
        QVERIFY_EXCEPTION_THROWN(packed.pack({b.exact.data(), 3, 5}), CheckFailure);
        packed.pack(b.factor());
        QVERIFY_EXCEPTION_THROWN(
            multiply<float>({a.exact.data(), 4, 3}, packed, {c.data(), 4, 5}, Accumulate::No),
            CheckFailure);
        QVERIFY_EXCEPTION_THROWN(
            multiply<float>(b.factor(), packed, {c.data(), 3, 5}, Accumulate::No), CheckFailure);
        QVERIFY_EXCEPTION_THROWN(static_cast<void>(PackedMatrix<double>{ProductType::Bf16}),
                                 CheckFailure);
    }
};

QTEST_GUILESS_MAIN(TestBf16Product)
#include "test_bf16_product.moc"
