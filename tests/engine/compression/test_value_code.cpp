// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Values on the wire: every 16-bit pattern, rounding to nearest even against a slow reference, one
// rounding from double, clamping.
#include "engine/compression/value_code.h"
#include "engine/core/errors.h"
#include "engine/core/random.h"

#include <QTest>

#include <bit>
#include <cmath>
#include <limits>

using namespace gradlab::engine;

namespace {

template <class T>
std::vector<T> throughWire(const std::vector<T>& values, ValueType type) {
    std::vector<std::byte> bytes(values.size() * valueBytes(type) + 1);
    const auto wire = std::span<std::byte>(bytes).subspan(1); // no alignment
    writeValues(std::span<const T>(values), type, wire);
    std::vector<T> back(values.size());
    readValues(wire, type, std::span<T>(back));
    return back;
}

/// Nearest multiple of the unit that `digits` significant bits and least exponent leave at x.
double nearest(double x, int digits, int leastExponent) {
    if (x == 0.0)
        return x;
    const int exponent = std::max(std::ilogb(x), leastExponent);
    const double unit = std::ldexp(1.0, exponent - digits + 1);
    return std::nearbyint(x / unit) * unit;
}

double clampedHalf(double x) {
    return std::clamp(nearest(x, 11, -14), -65504.0, 65504.0);
}
double clampedBfloat(double x) {
    const double most = std::ldexp(255.0, 120);
    return std::clamp(nearest(x, 8, -126), -most, most);
}

std::vector<double> hardNumbers() {
    std::vector<double> numbers;
    RandomStream random(5, RandomPurpose::Test, 3, 0, 0);
    for (int i = 0; i < 20000; ++i) {
        const double scale = std::ldexp(1.0, static_cast<int>(random.below(50)) - 30);
        numbers.push_back(random.normal() * scale);
    }
    for (std::uint32_t half = 1; half < 0x7C00U; half += 7) {
        // Ties, and values that a first rounding to float would turn into ties.
        const double low = fromHalf(static_cast<std::uint16_t>(half - 1));
        const double tie = (low + fromHalf(static_cast<std::uint16_t>(half))) / 2;
        numbers.push_back(tie);
        numbers.push_back(std::nextafter(tie, 0.0));
        numbers.push_back(std::nextafter(tie, 1e9));
        numbers.push_back(-tie);
    }
    for (const double edge :
         {65503.0, 65504.0, 65519.9, 65520.0, 1e6, 6e-8, 3e-8, 2.9e-8, 1e-45, 3.3e38, 3.4e38})
        numbers.push_back(edge);
    return numbers;
}

} // namespace

class TestValueCode : public QObject {
    Q_OBJECT

private slots:
    void everyHalfPatternRoundTrips() {
        for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const float value = fromHalf(half);
            if ((bits & 0x7C00U) == 0x7C00U)
                QVERIFY(!std::isfinite(value));
            else
                QCOMPARE(toHalf(value), half);
        }
        QCOMPARE(fromHalf(0x3C00), 1.0F);
        QCOMPARE(fromHalf(0x0001), 0x1p-24F);
        QCOMPARE(fromHalf(0x7BFF), 65504.0F);
    }

    void everyBfloatPatternRoundTrips() {
        for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
            const auto bfloat = static_cast<std::uint16_t>(bits);
            const float value = fromBfloat(bfloat);
            if ((bits & 0x7F80U) == 0x7F80U)
                QVERIFY(!std::isfinite(value));
            else
                QCOMPARE(toBfloat(value), bfloat);
        }
    }

    void doublesRoundOnceToNearestEven() {
        const std::vector<double> numbers = hardNumbers();
        const auto half = throughWire(numbers, ValueType::F16);
        const auto bfloat = throughWire(numbers, ValueType::BF16);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            QVERIFY(half[i] == clampedHalf(numbers[i]));
            QVERIFY(bfloat[i] == clampedBfloat(numbers[i]));
        }
    }

    void floatsRoundToNearestEven() {
        std::vector<float> numbers;
        for (const double number : hardNumbers())
            numbers.push_back(static_cast<float>(number));
        const auto half = throughWire(numbers, ValueType::F16);
        const auto bfloat = throughWire(numbers, ValueType::BF16);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            QVERIFY(half[i] == clampedHalf(numbers[i]));
            QVERIFY(bfloat[i] == clampedBfloat(numbers[i]));
        }
    }

    void whatIsTooLargeIsClamped() {
        const double most = std::numeric_limits<double>::max();
        const float mostFloat = std::numeric_limits<float>::max();
        QCOMPARE(throughWire<double>({most, -most}, ValueType::F32),
                 (std::vector<double>{mostFloat, -double{mostFloat}}));
        QCOMPARE(throughWire<float>({mostFloat, -1e5F}, ValueType::F16),
                 (std::vector<float>{65504.0F, -65504.0F}));
        QVERIFY(std::isfinite(throughWire<float>({mostFloat}, ValueType::BF16)[0]));
    }

    void sameWidthIsBitExact() {
        const std::vector<float> floats = {0.0F, -0.0F, 1e-45F, -3.4e38F, 0.1F};
        const auto back = throughWire(floats, ValueType::F32);
        const auto wide = throughWire(floats, ValueType::F64);
        for (std::size_t i = 0; i < floats.size(); ++i) {
            QCOMPARE(std::bit_cast<std::uint32_t>(back[i]),
                     std::bit_cast<std::uint32_t>(floats[i]));
            QCOMPARE(std::bit_cast<std::uint32_t>(wide[i]),
                     std::bit_cast<std::uint32_t>(floats[i]));
        }
    }

    void namesAreThoseOfTheContract() {
        QCOMPARE(valueTypeOf("f64"), ValueType::F64);
        QCOMPARE(valueTypeOf("bf16"), ValueType::BF16);
        QVERIFY_THROWS_EXCEPTION(ExperimentError, (void)valueTypeOf("f8"));
    }
};

QTEST_GUILESS_MAIN(TestValueCode)
#include "test_value_code.moc"
