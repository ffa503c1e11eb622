// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/run_series.h"
#include "widgets/series_store.h"

#include <QTest>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace gradlab::widgets;
using gradlab::engine::EventRecord;
using gradlab::engine::StepRecord;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void append(SeriesStore& store, double x, double value) {
    const std::array<double, 1> values{value};
    store.append({x, 100.0 * x, 0.5 * x, 0.25 * x, 0.01 * x, 32.0 * x}, values);
}

std::pair<double, double> extremes(const std::vector<PlotPoint>& points) {
    double low = kInfinity;
    double high = -kInfinity;
    for (const PlotPoint& point : points)
        if (std::isfinite(point.y)) {
            low = std::min(low, point.y);
            high = std::max(high, point.y);
        }
    return {low, high};
}

bool sameBits(double a, double b) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

} // namespace

class TestSeriesStore : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void agreesWithAllSamples_data();
    void agreesWithAllSamples();
    void shortSeriesIsExact();
    void staysBoundedOverAMillionSamples();
    void rangeKeepsItsExtremes();
    void bucketsStayWhileTheRunGrows();
    void nonFiniteValuesAreGapsAndMarks();
    void zeroAndNegativeValuesAreValues();
    void timeNeverGoesBack();
    void smoothedIsTheRecurrence();
    void smoothedOfMergedSamplesStaysClose();
    void nearestIsALoggedSample();
    void runSeriesAddsUpBytes();
    void runSeriesMarksChanges();
    void recentTimesStartAnewAfterAChange();
};

void TestSeriesStore::agreesWithAllSamples_data() {
    QTest::addColumn<int>("samples");
    QTest::addColumn<int>("leaves");
    QTest::addColumn<int>("maxPoints");
    for (const int samples : {1, 2, 3, 7, 63, 64, 65, 1000, 4097, 20000})
        for (const int leaves : {8, 64, 6, 8192})
            for (const int points : {8, 50, 1000})
                QTest::addRow("%d samples, %d leaves, %d points", samples, leaves, points)
                    << samples << leaves << points;
}

void TestSeriesStore::agreesWithAllSamples() {
    QFETCH(int, samples);
    QFETCH(int, leaves);
    QFETCH(int, maxPoints);
    SeriesStore store(1, static_cast<std::size_t>(leaves));
    std::mt19937_64 random(static_cast<std::uint64_t>(samples));
    std::vector<double> all;
    for (int i = 1; i <= samples; ++i) {
        all.push_back(std::ldexp(static_cast<double>(random() >> 11), -40) - 4000.0);
        append(store, i, all.back());
    }
    SeriesStore::Query query;
    query.maxPoints = static_cast<std::size_t>(maxPoints);
    const std::vector<PlotPoint> points = store.query(0, query).points;
    QVERIFY(points.size() <= query.maxPoints);
    QVERIFY(store.leaves() < static_cast<std::size_t>(leaves));
    QVERIFY(sameBits(points.front().x, 1.0) && sameBits(points.front().y, all.front()));
    QVERIFY(sameBits(points.back().x, samples) && sameBits(points.back().y, all.back()));
    for (std::size_t i = 1; i < points.size(); ++i)
        QVERIFY(points[i - 1].x <= points[i].x);
    const auto [low, high] = extremes(points);
    QVERIFY(sameBits(low, *std::min_element(all.begin(), all.end())));
    QVERIFY(sameBits(high, *std::max_element(all.begin(), all.end())));
    for (const PlotPoint& point : points)
        QVERIFY(std::find(all.begin(), all.end(), point.y) != all.end());
}

void TestSeriesStore::shortSeriesIsExact() {
    SeriesStore store(1);
    for (int i = 1; i <= 300; ++i)
        append(store, i, i % 7);
    const std::vector<PlotPoint> points = store.query(0, {}).points;
    QCOMPARE(points.size(), std::size_t{300});
    for (int i = 0; i < 300; ++i)
        QVERIFY((points[static_cast<std::size_t>(i)] == PlotPoint{i + 1.0, (i + 1) % 7 * 1.0}));
}

void TestSeriesStore::staysBoundedOverAMillionSamples() {
    SeriesStore store(1);
    std::size_t most = 0;
    for (int i = 1; i <= 1'000'000; ++i) {
        append(store, i, i == 777'777 ? 1e6 : std::sin(i * 1e-3));
        most = std::max(most, store.leaves());
    }
    QCOMPARE(store.samples(), std::uint64_t{1'000'000});
    QVERIFY(most < SeriesStore::kDefaultLeaves);
    QCOMPARE(store.stride(), std::uint64_t{128});
    SeriesStore::Query query;
    query.maxPoints = 500;
    const std::vector<PlotPoint> points = store.query(0, query).points;
    QVERIFY(points.size() <= 500);
    QVERIFY((points.front() == PlotPoint{1.0, std::sin(1e-3)}));
    QVERIFY((points.back() == PlotPoint{1e6, std::sin(1e3)}));
    QVERIFY(extremes(points).second == 1e6);
}

void TestSeriesStore::rangeKeepsItsExtremes() {
    SeriesStore store(1);
    for (int i = 0; i < 5000; ++i)
        append(store, i, (i * 37) % 1001);
    SeriesStore::Query query;
    query.axis = XAxis::Bytes;
    query.from = 100000.0;
    query.to = 120000.0;
    query.maxPoints = 60;
    const std::vector<PlotPoint> points = store.query(0, query).points;
    QVERIFY(points.size() <= 60);
    // The range itself is covered; buckets may reach beyond it on either side.
    QVERIFY(points.front().x <= query.from && points.back().x >= query.to);
    const auto [low, high] = extremes(points);
    double least = kInfinity;
    double most = -kInfinity;
    for (int i = 1000; i <= 1200; ++i) {
        least = std::min(least, (i * 37) % 1001 * 1.0);
        most = std::max(most, (i * 37) % 1001 * 1.0);
    }
    QVERIFY(low <= least && high >= most);
}

void TestSeriesStore::bucketsStayWhileTheRunGrows() {
    SeriesStore store(1);
    for (int i = 0; i < 1100; ++i)
        append(store, i, (i * 7919) % 997);
    SeriesStore::Query query;
    query.maxPoints = 300;
    const std::vector<PlotPoint> before = store.query(0, query).points;
    for (int i = 1100; i < 1103; ++i)
        append(store, i, 5.0);
    const std::vector<PlotPoint> after = store.query(0, query).points;
    for (std::size_t i = 0; i + 4 < before.size(); ++i)
        QVERIFY(before[i] == after[i]);
}

void TestSeriesStore::nonFiniteValuesAreGapsAndMarks() {
    SeriesStore store(1);
    const std::vector<double> values{1.0, 2.0, kNaN, kInfinity, 3.0, -kInfinity, 4.0, kNaN};
    for (std::size_t i = 0; i < values.size(); ++i)
        append(store, static_cast<double>(i), values[i]);
    const SeriesStore::Result result = store.query(0, {});
    std::vector<double> finite;
    int gaps = 0;
    for (const PlotPoint& point : result.points)
        std::isnan(point.y) ? void(++gaps) : finite.push_back(point.y);
    QVERIFY((finite == std::vector<double>{1.0, 2.0, 3.0, 4.0}));
    QVERIFY(gaps >= 2);
    using Kind = NonFiniteMark::Kind;
    QCOMPARE(result.marks.size(), std::size_t{4});
    QVERIFY(result.marks[0].kind == Kind::NotANumber && result.marks[0].x == 2.0);
    QVERIFY(result.marks[1].kind == Kind::PositiveInfinity);
    QVERIFY(result.marks[2].kind == Kind::NegativeInfinity && result.marks[2].x == 5.0);
    for (int i = 0; i < 5000; ++i)
        append(store, 100 + i, kNaN);
    QCOMPARE(store.query(0, {}).marks.size(), SeriesStore::kMaxMarks);
}

void TestSeriesStore::zeroAndNegativeValuesAreValues() {
    SeriesStore store(1, 8);
    for (int i = 0; i < 100; ++i)
        append(store, i, i == 40 ? -3.0 : 0.0);
    const auto [low, high] = extremes(store.query(0, {}).points);
    QVERIFY(low == -3.0 && high == 0.0);
}

void TestSeriesStore::timeNeverGoesBack() {
    SeriesStore store(1);
    append(store, 5.0, 1.0);
    append(store, 3.0, 2.0);
    append(store, kNaN, 3.0);
    append(store, 6.0, 4.0);
    const std::vector<PlotPoint> points = store.query(0, {}).points;
    for (std::size_t i = 1; i < points.size(); ++i)
        QVERIFY(points[i - 1].x <= points[i].x);
    QVERIFY(points.front().x == 5.0 && points.back().x == 6.0);
}

void TestSeriesStore::smoothedIsTheRecurrence() {
    for (const double steps : {1.0, 2.0, 8.0, 300.0}) {
        SeriesStore store(1);
        std::mt19937_64 random(5);
        std::vector<double> expected;
        double sum = 0.0;
        double weight = 0.0;
        for (int i = 1; i <= 400; ++i) {
            const double y = i == 90 ? kNaN : 10.0 + static_cast<double>(random() % 100);
            append(store, i, y);
            if (std::isfinite(y)) {
                sum = sum * (1.0 - 1.0 / steps) + y / steps;
                weight = weight * (1.0 - 1.0 / steps) + 1.0 / steps;
            }
            expected.push_back(std::isfinite(y) ? sum / weight : kNaN);
        }
        const auto all = store.smoothed(0, {XAxis::Step, 0.0, 1e9, 2000}, steps);
        QCOMPARE(all.size(), std::size_t{400});
        for (std::size_t i = 0; i < all.size(); ++i) {
            QCOMPARE(all[i].x, static_cast<double>(i + 1));
            QVERIFY2(std::isnan(expected[i]) ? std::isnan(all[i].y)
                                             : std::abs(all[i].y - expected[i]) < 1e-9,
                     QByteArray::number(i));
        }
        // A part of it has the same values: what was before counts.
        for (const PlotPoint& point : store.smoothed(0, {XAxis::Step, 200.0, 210.0, 100}, steps))
            QVERIFY(std::abs(point.y - expected[static_cast<std::size_t>(point.x) - 1]) < 1e-9);
    }
}

void TestSeriesStore::smoothedOfMergedSamplesStaysClose() {
    SeriesStore store(1, 64);
    double sum = 0.0;
    double weight = 0.0;
    constexpr double kSteps = 2000.0;
    for (int i = 1; i <= 20000; ++i) {
        const double y = 100.0 * std::exp(-i / 5000.0) + (i % 2 == 0 ? 7.0 : -7.0);
        append(store, i, y);
        sum = sum * (1.0 - 1.0 / kSteps) + y / kSteps;
        weight = weight * (1.0 - 1.0 / kSteps) + 1.0 / kSteps;
    }
    const auto points = store.smoothed(0, {XAxis::Step, 0.0, 1e9, 100}, kSteps);
    QVERIFY(points.size() > 20 && points.size() <= 100);
    QCOMPARE(points.back().x, 20000.0);
    QVERIFY2(std::abs(points.back().y - sum / weight) < 0.5, QByteArray::number(points.back().y));
    for (std::size_t i = 1; i < points.size(); ++i) // the noise is gone
        QVERIFY(points[i].y < points[i - 1].y + 0.1);
}

void TestSeriesStore::nearestIsALoggedSample() {
    SeriesStore store(1, 64);
    std::vector<double> all;
    for (int i = 0; i < 1000; ++i) {
        all.push_back(std::exp(0.001 * i) / 3.0);
        append(store, i, all.back());
        const auto latest = store.nearest(0, XAxis::Step, i);
        QVERIFY(latest && sameBits(latest->value, all.back()));
    }
    for (const double x : {-5.0, 0.0, 0.4, 500.2, 998.9, 2000.0}) {
        const auto sample = store.nearest(0, XAxis::Step, x);
        QVERIFY(sample.has_value());
        const double step = sample->x[0];
        QVERIFY(sameBits(sample->value, all[static_cast<std::size_t>(step)]));
        QVERIFY(std::abs(step - std::clamp(x, 0.0, 999.0)) <= static_cast<double>(store.stride()));
    }
    QVERIFY(!SeriesStore(1).nearest(0, XAxis::Step, 1.0));
}

void TestSeriesStore::runSeriesAddsUpBytes() {
    RunSeries run;
    for (std::uint64_t i = 1; i <= 10; ++i) {
        StepRecord record;
        record.step = i;
        record.bytesMessage = 100.0;
        record.bytesUp = 100.0;
        record.bytesDense = 6800.0;
        record.loss = 2.0;
        record.cpu.forward = 0.25;
        record.linkS = 0.75;
        run.append(record);
    }
    const RunNumbers numbers = run.numbers();
    QVERIFY(numbers.bytesTotal == 1000.0 && numbers.bytesPerStep == 100.0);
    QVERIFY(numbers.compressionRatio == 68.0);
    QVERIFY(std::abs(*numbers.networkShare - 0.75) < 1e-12);
    QVERIFY(std::abs(*numbers.trainPerplexity - std::exp(2.0)) < 1e-9);
    QVERIFY(run.last(Metric::DenseBytesTotal)->value == 68000.0);
    QVERIFY(run.query(Metric::TrainPerplexity, {}).points.size() == 10);
}

void TestSeriesStore::runSeriesMarksChanges() {
    RunSeries run;
    StepRecord record;
    record.step = 400;
    run.append(record);
    run.append(EventRecord{400, "parameter_changed", "", "compression.memory", "none", "residual"});
    run.append(EventRecord{400, "parameter_changed", "", "training.lr", "20", "5"});
    run.append(EventRecord{400, "checkpoint", "saved"});
    QCOMPARE(run.changes().size(), std::size_t{1});
    QCOMPARE(run.changes()[0].text, std::string("memory none → residual, lr 20 → 5"));
    QVERIFY(run.changes()[0].x[0] == 400.0);
}

void TestSeriesStore::recentTimesStartAnewAfterAChange() {
    RunSeries run;
    StepRecord record;
    record.linkS = 2.0;
    for (record.step = 1; record.step <= 30; ++record.step)
        run.append(record);
    QVERIFY(run.simulatedParts().network == 2.0);
    run.append(EventRecord{30, "parameter_changed", "", "cluster.bandwidth", "1", "2"});
    QVERIFY(run.simulatedParts().network == 2.0);
    record.linkS = 0.5;
    run.append(record);
    QVERIFY(run.simulatedParts().network == 0.5);
}

QTEST_GUILESS_MAIN(TestSeriesStore)
#include "test_series_store.moc"
