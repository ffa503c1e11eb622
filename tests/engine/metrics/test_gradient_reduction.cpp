// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A worker's step seen by the inspector against counts and sums by the plainest loops, for every
// method with every memory and code.
#include "engine/metrics/gradient_reduction.h"
#include "engine/metrics/magnitude_bins.h"
#include "engine/training/gradient_inspector.h"
#include "tests/support/compression_case.h"
#include "tests/support/compression_rows.h"

#include <QTest>

#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

bool close(double a, double b) {
    return a == b || std::fabs(a - b) <= 1e-9 * std::max(std::fabs(a), std::fabs(b)) ||
           (!std::isfinite(a) && !std::isfinite(b));
}

std::uint64_t sumOf(const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// The bin by comparing with every edge.
std::size_t slowBin(double magnitude) {
    static const std::vector<double> edges = [] {
        std::vector<double> all;
        for (std::size_t bin = 0; bin < kMagnitudeBins; ++bin)
            all.push_back(magnitudeBinEdge(bin));
        return all;
    }();
    std::size_t bin = 0;
    while (bin + 1 < kMagnitudeBins && magnitude >= edges[bin + 1])
        ++bin;
    return bin;
}

std::int8_t slowLevel(double value) {
    if (value == 0.0)
        return 0;
    int level = 1;
    while (level < kMostHeatLevel && std::fabs(value) >= heatLevelEdge(level + 1))
        ++level;
    return static_cast<std::int8_t>(value < 0.0 ? -level : level);
}

/// p of the worker's next step, in T's arithmetic, from its state before it.
template <class T>
std::vector<T> nextToSend(CompressionWorker<T>& worker, const std::vector<T>& g) {
    const auto state = worker.compressor.state();
    std::vector<T> p = g;
    if (state.size() == 1)
        for (std::size_t i = 0; i < p.size(); ++i)
            p[i] = g[i] + state[0].values[i];
    if (state.size() == 2) // u, v; momentum 0.5
        for (std::size_t i = 0; i < p.size(); ++i)
            p[i] = state[1].values[i] + (T{0.5} * state[0].values[i] + g[i]);
    return p;
}

template <class T>
WorkerInspection inspectStep(CompressionWorker<T>& worker, const std::vector<T>& gradient,
                             const std::shared_ptr<const InspectionPlan>& inspection) {
    GradientInspector<T> inspector(worker.plan, inspection, 0);
    worker.compressor.copySeen(&inspector.seen());
    worker.load(gradient);
    for (std::size_t part = 0; part < worker.bodies.size(); ++part)
        inspector.lookAtGradient(part, worker.gradient.span());
    worker.encode(gradient);
    for (std::size_t part = 0; part < worker.bodies.size(); ++part)
        inspector.lookAtMessage(part, worker.body(part), worker.compressor.remembers());
    worker.compressor.copySeen(nullptr);
    return inspector.take();
}

template <class T>
std::vector<std::int8_t> slowMap(const std::vector<T>& values, std::size_t rows,
                                 std::size_t columns, const HeatMap& map) {
    std::vector<double> cells(std::size_t{map.rows} * map.columns, 0.0);
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t c = 0; c < columns; ++c) {
            std::size_t cell = 0; // the cell whose stretch of columns holds c
            while ((cell + 1) * columns / map.columns <= c)
                ++cell;
            double& held = cells[r * map.rows / rows * map.columns + cell];
            const auto value = static_cast<double>(values[r * columns + c]);
            if (std::fabs(value) > std::fabs(held))
                held = value;
        }
    std::vector<std::int8_t> levels;
    for (const double cell : cells)
        levels.push_back(slowLevel(cell));
    return levels;
}

/// Magnitudes only: of two opposite elements of the same size either may stand for the cell.
bool sameMagnitudes(const std::vector<std::int8_t>& a, const std::vector<std::int8_t>& b) {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](int x, int y) {
               return std::abs(x) == std::abs(y);
           });
}

template <class T>
void checkTensor(const TensorSnapshot& seen, const std::vector<T>& x, const std::vector<T>& decoded,
                 const UnitDescriptor& descriptor, const QByteArray& what) {
    double norm = 0.0;
    double kept = 0.0;
    double error = 0.0;
    std::map<std::size_t, std::uint64_t> bins;
    std::uint64_t zeros = 0;
    std::vector<T> stayed(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto a = static_cast<double>(x[i]);
        const auto b = static_cast<double>(decoded[i]);
        norm += a * a;
        kept += b * b;
        error += (a - b) * (a - b);
        stayed[i] = x[i] - decoded[i];
        if (x[i] == T{0})
            ++zeros;
        else
            ++bins[slowBin(std::fabs(a))];
    }
    const MagnitudeHistogram& histogram = seen.magnitudes;
    QVERIFY2(seen.elements == x.size() && seen.selected == descriptor.selected, what);
    QVERIFY2(close(seen.squaredNorm, norm) && close(seen.squaredKept, kept), what);
    QVERIFY2(close(seen.squaredError, error) || std::fabs(seen.squaredError - error) <= 1e-9 * norm,
             what);
    QVERIFY2(histogram.zeros == zeros, what);
    QVERIFY2(sumOf(histogram.all) + histogram.zeros == x.size(), what);
    for (std::size_t i = 0; i < histogram.all.size(); ++i)
        QVERIFY2(histogram.all[i] == bins[histogram.firstBin + i], what);
    const bool levels = descriptor.codec == Codec::Levels;
    const std::uint64_t chosen = sumOf(histogram.chosen) + histogram.chosenZeros;
    QVERIFY2(chosen == (levels ? seen.nonzero : descriptor.selected), what);
    if (levels) {
        const double expected =
            std::accumulate(seen.levels.expected.begin(), seen.levels.expected.end(), 0.0);
        QVERIFY2(sumOf(seen.levels.drawn) == x.size(), what);
        QVERIFY2(std::fabs(expected - static_cast<double>(x.size())) < 1e-6, what);
        QVERIFY2(seen.levels.drawn[0] == x.size() - seen.nonzero || seen.levels.width > 1, what);
    }
    QVERIFY2(sameMagnitudes(seen.map.toSend, slowMap(x, 1, x.size(), seen.map)), what);
    QVERIFY2(sameMagnitudes(seen.map.sent, slowMap(decoded, 1, x.size(), seen.map)), what);
    QVERIFY2(sameMagnitudes(seen.map.stayed, slowMap(stayed, 1, x.size(), seen.map)), what);
}

template <class T>
void checkMethod(const Combination& combination, const std::string& content) {
    const QByteArray what = combination.tag + ", " + content.c_str();
    CompressionWorker<T> worker(planOf({1, 2, 33, 257, 5000}), combination.settings);
    const ParameterLayout layout({{"t0", {1}, 0, 1},
                                  {"t1", {2}, 0, 2},
                                  {"t2", {33}, 0, 33},
                                  {"t3", {257}, 0, 257},
                                  {"t4", {5000}, 0, 5000}});
    const auto inspection = std::make_shared<const InspectionPlan>(
        InspectionPlan{snapshotTensors(layout, worker.plan), std::nullopt});
    for (std::uint32_t step = 1; step <= 2; ++step) {
        const std::vector<T> gradient = contentOf<T>(content, worker.plan.size(), step);
        const std::vector<T> p = nextToSend(worker, gradient);
        const WorkerInspection seen = inspectStep(worker, gradient, inspection);
        const std::vector<T> received = worker.received();
        const CompressionStats stats = worker.compressor.stats();
        double kept = 0.0;
        double residual = 0.0;
        for (std::size_t part = 0; part < worker.bodies.size(); ++part)
            for (const UnitView& view : worker.units(part)) {
                const CompressionUnit& unit = worker.plan.units()[view.descriptor.unit];
                const auto range = [&](const std::vector<T>& all) {
                    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(unit.offset);
                    return std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(unit.size));
                };
                const TensorSnapshot& tensor = seen.snapshot.tensors[unit.id];
                checkTensor(tensor, range(p), range(received), view.descriptor, what);
                if (QTest::currentTestFailed())
                    return;
                kept += tensor.squaredKept;
                residual += tensor.squaredResidual;
            }
        QVERIFY2(close(kept, stats.squaredKept), what);
        QVERIFY2(close(residual, stats.squaredResidual) ||
                     std::fabs(residual - stats.squaredResidual) <= 1e-9 * stats.squaredNorm,
                 what);
        worker.commit();
    }
}

} // namespace

class TestGradientReduction : public QObject {
    Q_OBJECT

private slots:
    void binsBeginWhereTheirEdgesAre() {
        for (std::size_t bin = 1; bin < kMagnitudeBins; ++bin) {
            const double edge = magnitudeBinEdge(bin);
            QCOMPARE(magnitudeBin(edge), bin);
            QCOMPARE(magnitudeBin(-edge), bin);
            QCOMPARE(magnitudeBin(std::nextafter(edge, 0.0)), bin - 1);
            auto narrow = static_cast<float>(edge);
            if (static_cast<double>(narrow) < edge)
                narrow = std::nextafter(narrow, 1e30F);
            QCOMPARE(magnitudeBin(narrow), bin);
            QCOMPARE(magnitudeBin(std::nextafter(narrow, 0.0F)), bin - 1);
        }
        QCOMPARE(magnitudeBin(std::numeric_limits<float>::denorm_min()), std::size_t{0});
        QCOMPARE(magnitudeBin(std::numeric_limits<double>::max()), kMagnitudeBins - 1);
    }

    void levelsBeginWhereTheirEdgesAre() {
        for (int level = 2; level <= kMostHeatLevel; ++level) {
            QCOMPARE(int{heatLevel(heatLevelEdge(level))}, level);
            QCOMPARE(int{heatLevel(-std::nextafter(heatLevelEdge(level), 0.0))}, 1 - level);
        }
        QCOMPARE(int{heatLevel(0.0F)}, 0);
        QCOMPARE(int{heatLevel(-1e-30F)}, -1);
        QCOMPARE(int{heatLevel(1e30F)}, kMostHeatLevel);
    }

    void countsAreThoseOfPlainLoops_data() { addCombinations(); }
    void countsAreThoseOfPlainLoops() {
        QFETCH(int, combination);
        const Combination what = combinations()[static_cast<std::size_t>(combination)];
        for (const char* content : {"heavy", "zeros", "few", "mostlyZero"}) {
            checkMethod<float>(what, content);
            if (QTest::currentTestFailed())
                return;
        }
        checkMethod<double>(what, "heavy");
    }

    void exactTopKHasAThreshold() {
        CompressionSettings settings = settingsOf("topk", "none");
        settings.parameters["ratio"] = 0.05;
        CompressionWorker<float> worker(planOf({5000}), settings);
        const ParameterLayout layout({{"t0", {50, 100}, 0, 5000}});
        const auto inspection = std::make_shared<const InspectionPlan>(
            InspectionPlan{snapshotTensors(layout, worker.plan), InspectionRequest{0, 0}});
        const std::vector<float> x = contentOf<float>("normal", 5000);
        const WorkerInspection seen = inspectStep(worker, x, inspection);
        const TensorSnapshot& tensor = seen.snapshot.tensors[0];
        std::vector<float> sorted(x);
        std::sort(sorted.begin(), sorted.end(),
                  [](float a, float b) { return std::fabs(a) > std::fabs(b); });
        QVERIFY(tensor.hasThreshold());
        QCOMPARE(tensor.smallestChosen, static_cast<double>(std::fabs(sorted[249])));
        QCOMPARE(tensor.largestLeft, static_cast<double>(std::fabs(sorted[250])));
        QCOMPARE(tensor.largest, static_cast<double>(std::fabs(sorted[0])));
        QVERIFY(seen.chosen[0] == sortedTopK(x, 250));
        // In focus the map is as fine as the tensor.
        QCOMPARE(tensor.map.rows, 50U);
        QCOMPARE(tensor.map.columns, 100U);
        for (std::size_t i = 0; i < x.size(); ++i)
            QCOMPARE(int{tensor.map.toSend[i]}, int{slowLevel(x[i])});
    }

    void chanceHasNoThreshold() {
        CompressionWorker<float> worker(planOf({5000}), settingsOf("randomk", "none"));
        const ParameterLayout layout({{"t0", {5000}, 0, 5000}});
        const auto inspection = std::make_shared<const InspectionPlan>(
            InspectionPlan{snapshotTensors(layout, worker.plan), std::nullopt});
        const WorkerInspection seen =
            inspectStep(worker, contentOf<float>("normal", 5000), inspection);
        QVERIFY(seen.snapshot.tensors[0].selection);
        QVERIFY(!seen.snapshot.tensors[0].hasThreshold());
    }

    void overlapIsThatOfSets() {
        RandomStream random(5, RandomPurpose::Test, 0, 0, 0);
        std::vector<std::vector<std::uint32_t>> lists(5);
        std::map<std::uint32_t, int> times;
        for (auto& list : lists) {
            std::set<std::uint32_t> distinct;
            while (distinct.size() < 60)
                distinct.insert(random.word() % 200U);
            list.assign(distinct.begin(), distinct.end());
            for (const std::uint32_t index : list)
                ++times[index];
        }
        std::vector<std::uint64_t> expected(5, 0);
        for (const auto& [index, count] : times)
            ++expected[static_cast<std::size_t>(count) - 1];
        QCOMPARE(countChosenBy(lists, 200), expected);
    }
};

QTEST_GUILESS_MAIN(TestGradientReduction)
#include "test_gradient_reduction.moc"
