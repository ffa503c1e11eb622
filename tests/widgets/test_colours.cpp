// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether eyes without one kind of cones tell the runs apart: colours as they see them
// (G. Machado, M. Oliveira, L. Fernandes, 2009, severity 1) compared by CIEDE2000.
#include "widgets/theme.h"

#include <QTest>

#include <array>
#include <cmath>
#include <numbers>

using namespace gradlab::widgets;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

constexpr Matrix kNormal{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kProtanopia{{{0.152286, 1.052583, -0.204868},
                              {0.114503, 0.786281, 0.099216},
                              {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeuteranopia{{{0.367322, 0.860646, -0.227968},
                                {0.280085, 0.672501, 0.047413},
                                {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kTritanopia{{{1.255528, -0.076749, -0.178779},
                              {-0.078411, 0.930809, 0.147602},
                              {0.004733, 0.691367, 0.303900}}};
constexpr Matrix kXyz{{{0.4124564, 0.3575761, 0.1804375},
                       {0.2126729, 0.7151522, 0.0721750},
                       {0.0193339, 0.1191920, 0.9503041}}};

double linear(double channel) {
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
}

Triple times(const Matrix& matrix, const Triple& v) {
    Triple product{};
    for (std::size_t i = 0; i < 3; ++i)
        product[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
    return product;
}

double labCurve(double t) {
    return t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0;
}

Triple labOf(const QColor& colour, const Matrix& eyes) {
    Triple seen =
        times(eyes, {linear(colour.redF()), linear(colour.greenF()), linear(colour.blueF())});
    for (double& channel : seen)
        channel = std::clamp(channel, 0.0, 1.0);
    const Triple xyz = times(kXyz, seen);
    const double x = labCurve(xyz[0] / 0.95047);
    const double y = labCurve(xyz[1]);
    const double z = labCurve(xyz[2] / 1.08883);
    return {116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)};
}

double radians(double degrees) {
    return degrees * std::numbers::pi / 180.0;
}

double hue(double a, double b) {
    const double degrees = std::atan2(b, a) * 180.0 / std::numbers::pi;
    return a == 0.0 && b == 0.0 ? 0.0 : degrees < 0.0 ? degrees + 360.0 : degrees;
}

/// CIEDE2000 with all weights 1 (G. Sharma, W. Wu, E. Dalal, 2005).
double difference(const Triple& first, const Triple& second) {
    const double power = std::pow(25.0, 7);
    const double mean = (std::hypot(first[1], first[2]) + std::hypot(second[1], second[2])) / 2;
    const double stretch = 1.5 - 0.5 * std::sqrt(std::pow(mean, 7) / (std::pow(mean, 7) + power));
    const double c1 = std::hypot(first[1] * stretch, first[2]);
    const double c2 = std::hypot(second[1] * stretch, second[2]);
    const double h1 = hue(first[1] * stretch, first[2]);
    const double h2 = hue(second[1] * stretch, second[2]);
    const bool grey = c1 * c2 == 0.0;
    double turn = grey ? 0.0 : h2 - h1;
    turn += turn > 180.0 ? -360.0 : turn < -180.0 ? 360.0 : 0.0;
    double h = grey ? h1 + h2 : (h1 + h2) / 2;
    if (!grey && std::abs(h1 - h2) > 180.0)
        h += h1 + h2 < 360.0 ? 180.0 : -180.0;
    const double l = (first[0] + second[0]) / 2 - 50.0;
    const double c = (c1 + c2) / 2;
    const double t = 1 - 0.17 * std::cos(radians(h - 30)) + 0.24 * std::cos(radians(2 * h)) +
                     0.32 * std::cos(radians(3 * h + 6)) - 0.2 * std::cos(radians(4 * h - 63));
    const double rotation = -std::sin(radians(60 * std::exp(-std::pow((h - 275) / 25, 2)))) * 2 *
                            std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + power));
    const double dl = (second[0] - first[0]) / (1 + 0.015 * l * l / std::sqrt(20 + l * l));
    const double dc = (c2 - c1) / (1 + 0.045 * c);
    const double dh = 2 * std::sqrt(c1 * c2) * std::sin(radians(turn / 2)) / (1 + 0.015 * c * t);
    return std::sqrt(dl * dl + dc * dc + dh * dh + rotation * dc * dh);
}

} // namespace

class TestColours : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Published pairs.
    void theFormulaIsRight() {
        const auto near = [](double a, double b) { return std::abs(a - b) < 1e-4; };
        QVERIFY(near(difference({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425));
        QVERIFY(near(difference({50, 2.5, 0}, {73, 25, -18}), 27.1492));
        QVERIFY(
            near(difference({60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}), 1.2644));
        QVERIFY(near(difference({2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}), 0.9082));
    }

    /// The least of Okabe-Ito's own eight is 11.6.
    void anyTwoRunsDiffer_data() {
        QTest::addColumn<bool>("dark");
        QTest::addColumn<int>("eyes");
        QTest::addColumn<double>("least");
        for (const bool dark : {false, true}) {
            const QByteArray theme = dark ? "dark, " : "light, ";
            QTest::newRow(theme + "normal") << dark << 0 << 12.0;
            QTest::newRow(theme + "red-blind") << dark << 1 << 11.5;
            QTest::newRow(theme + "green-blind") << dark << 2 << 11.5;
            QTest::newRow(theme + "blue-blind") << dark << 3 << 8.0;
        }
    }

    void anyTwoRunsDiffer() {
        QFETCH(const bool, dark);
        QFETCH(const int, eyes);
        QFETCH(const double, least);
        const std::array<Matrix, 4> kinds{kNormal, kProtanopia, kDeuteranopia, kTritanopia};
        const Matrix& seenBy = kinds.at(static_cast<std::size_t>(eyes));
        const Theme theme = Theme::make(dark, false);
        for (int a = 0; a < Theme::kRunColours; ++a)
            for (int b = 0; b < a; ++b) {
                const double apart = difference(labOf(theme.runColour(a), seenBy),
                                                labOf(theme.runColour(b), seenBy));
                QVERIFY2(apart >= least, QByteArray::number(b) + " and " + QByteArray::number(a) +
                                             ": " + QByteArray::number(apart));
            }
    }
};

QTEST_GUILESS_MAIN(TestColours)
#include "test_colours.moc"
