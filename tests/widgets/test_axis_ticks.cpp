// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/axis_ticks.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

using namespace gradlab::widgets;

namespace {

std::vector<std::string> labels(const std::vector<AxisTick>& ticks) {
    std::vector<std::string> result;
    for (const AxisTick& tick : ticks)
        if (!tick.label.empty())
            result.push_back(tick.label);
    return result;
}

QByteArray joined(const std::vector<std::string>& texts) {
    QByteArray result;
    for (const std::string& text : texts)
        result += QByteArray::fromStdString(text) + "|";
    return result;
}

} // namespace

class TestAxisTicks : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void formats_data();
    void formats();
    void linearLabels_data();
    void linearLabels();
    void logLabels_data();
    void logLabels();
    void everyRangeHasDistinctLabels();
    void niceRangesHoldTheirData();
};

void TestAxisTicks::formats_data() {
    QTest::addColumn<double>("value");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("text");
    const auto row = [](double value, ValueKind kind, const char* text) {
        QTest::newRow(text) << value << static_cast<int>(kind) << QString::fromUtf8(text);
    };
    row(12.4389, ValueKind::Number, "12.4");
    row(0.0, ValueKind::Number, "0");
    row(1500.0, ValueKind::Number, "1500");
    row(20000.0, ValueKind::Number, "20k");
    row(1.5e-7, ValueKind::Number, "1.5e-07");
    row(5222.0, ValueKind::Bytes, "5.1 KiB");
    row(345088.0, ValueKind::Bytes, "337 KiB");
    row(1023.9, ValueKind::Bytes, "1 KiB");
    row(2.5 * 1024 * 1024 * 1024, ValueKind::Bytes, "2.5 GiB");
    row(0.2314, ValueKind::Seconds, "231 ms");
    row(0.99999, ValueKind::Seconds, "1 s");
    row(90.0, ValueKind::Seconds, "1.5 min");
    row(7200.0, ValueKind::Seconds, "2 h");
    row(0.01, ValueKind::Share, "1 %");
    row(0.0001, ValueKind::Share, "0.01 %");
    row(std::nan(""), ValueKind::Number, "NaN");
}

void TestAxisTicks::formats() {
    QFETCH(double, value);
    QFETCH(int, kind);
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(formatValue(value, static_cast<ValueKind>(kind))), text);
}

void TestAxisTicks::linearLabels_data() {
    QTest::addColumn<double>("from");
    QTest::addColumn<double>("to");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("expected");
    const auto row = [](double from, double to, ValueKind kind, const char* text) {
        QTest::newRow(text) << from << to << static_cast<int>(kind) << QString::fromUtf8(text);
    };
    row(0, 600, ValueKind::Number, "0|200|400|600|");
    row(0, 1e5, ValueKind::Number, "0|20k|40k|60k|80k|100k|");
    row(0.1, 0.52, ValueKind::Number, "0.1|0.2|0.3|0.4|0.5|");
    row(0, 3.0 * 1024 * 1024, ValueKind::Bytes, "0|1 MiB|2 MiB|3 MiB|");
    row(0, 130, ValueKind::Seconds, "0|0.5 min|1 min|1.5 min|2 min|");
    row(0, 4 * 3600, ValueKind::Seconds, "0|1 h|2 h|3 h|4 h|");
    row(0, 0.03, ValueKind::Seconds, "0|10 ms|20 ms|30 ms|");
    row(-1, 1, ValueKind::Number, "-1|-0.5|0|0.5|1|");
}

void TestAxisTicks::linearLabels() {
    QFETCH(double, from);
    QFETCH(double, to);
    QFETCH(int, kind);
    QFETCH(QString, expected);
    const auto ticks = linearTicks({from, to}, 5, static_cast<ValueKind>(kind));
    QCOMPARE(QString::fromUtf8(joined(labels(ticks))), expected);
}

void TestAxisTicks::logLabels_data() {
    QTest::addColumn<double>("from");
    QTest::addColumn<double>("to");
    QTest::addColumn<int>("kind");
    QTest::addColumn<QString>("expected");
    const auto row = [](double from, double to, ValueKind kind, const char* text) {
        QTest::newRow(text) << from << to << static_cast<int>(kind) << QString::fromUtf8(text);
    };
    row(12, 35, ValueKind::Number, "12|15|20|25|30|35|");
    row(8, 300, ValueKind::Number, "10|20|50|100|200|");
    row(11.62, 12.31, ValueKind::Number, "11.8|12|12.2|");
    row(1, 1e6, ValueKind::Number, "1|10|100|1000|10k|100k|1M|");
    row(1e-4, 1, ValueKind::Share, "0.01 %|0.1 %|1 %|10 %|100 %|");
    row(0.02, 140, ValueKind::Seconds, "100 ms|1 s|10 s|1 min|");
    row(2, 9000, ValueKind::Seconds, "10 s|1 min|10 min|1 h|");
    row(4000, 400000, ValueKind::Bytes, "4 KiB|8 KiB|16 KiB|32 KiB|64 KiB|128 KiB|256 KiB|");
    row(4096, 3e9, ValueKind::Bytes, "32 KiB|1 MiB|32 MiB|1 GiB|");
}

void TestAxisTicks::logLabels() {
    QFETCH(double, from);
    QFETCH(double, to);
    QFETCH(int, kind);
    QFETCH(QString, expected);
    const auto ticks = logTicks({from, to}, 6, static_cast<ValueKind>(kind));
    QCOMPARE(QString::fromUtf8(joined(labels(ticks))), expected);
}

void TestAxisTicks::everyRangeHasDistinctLabels() {
    for (const ValueKind kind :
         {ValueKind::Number, ValueKind::Bytes, ValueKind::Seconds, ValueKind::Share})
        for (double from = 1e-3; from < 1e7; from *= 3.7)
            for (double factor = 1.002; factor < 1e9; factor *= 1.7)
                for (const int count : {3, 6, 9}) {
                    const AxisRange range{from, from * factor};
                    for (const bool log : {false, true}) {
                        const auto ticks =
                            log ? logTicks(range, count, kind) : linearTicks(range, count, kind);
                        const auto texts = labels(ticks);
                        const QByteArray where = QByteArray::number(from) + " to " +
                                                 QByteArray::number(range.to) + ": " +
                                                 joined(texts);
                        // A linear byte axis below one byte has no second tick to give.
                        if (kind != ValueKind::Bytes || range.to - range.from > 8)
                            QVERIFY2(texts.size() >= (log ? 2 : 1), where);
                        QVERIFY2(texts.size() <= 14, where);
                        QVERIFY2(std::set(texts.begin(), texts.end()).size() == texts.size(),
                                 where);
                        for (const AxisTick& tick : ticks)
                            QVERIFY2(tick.value >= range.from * (1 - 1e-6) &&
                                         tick.value <= range.to * (1 + 1e-6),
                                     where);
                    }
                }
}

void TestAxisTicks::niceRangesHoldTheirData() {
    for (double from = 1e-6; from < 1e9; from *= 2.3)
        for (double factor = 1.0; factor < 1e6; factor *= 1.9) {
            const AxisRange data{from, from * factor};
            const AxisRange log = niceLogRange(data);
            QVERIFY(log.from <= data.from * (1 + 1e-9) && log.to >= data.to * (1 - 1e-9));
            QVERIFY(log.from < log.to);
            const AxisRange linear = niceRange(data, ValueKind::Number);
            QVERIFY(linear.from <= data.from && linear.to >= data.to * (1 - 1e-9));
            QVERIFY(linear.from < linear.to);
        }
}

QTEST_GUILESS_MAIN(TestAxisTicks)
#include "test_axis_ticks.moc"
