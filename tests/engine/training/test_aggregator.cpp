// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The aggregator against the obvious mean, bit for bit: server, ring and dense ring, both
// precisions, every downlink; bodies that break the format; numbers that leave the finite range.
#include "engine/core/errors.h"
#include "engine/training/aggregator.h"
#include "tests/support/gradient_bodies.h"

#include <QTest>

#include <limits>

using namespace gradlab::engine;
using namespace gradlab::test;

namespace {

AggregatorSettings settingsOf(Precision precision, const std::string& downlink) {
    AggregatorSettings settings;
    settings.precision = precision;
    settings.downlink = downlink;
    return settings;
}

template <class T>
constexpr Precision kPrecision = sizeof(T) == 4 ? Precision::F32 : Precision::F64;

/// Bodies of one part, one a worker.
template <class T>
struct Bodies {
    Bodies(const MessagePlan& plan, std::size_t part,
           const std::vector<WorkerContent<T>>& workers) {
        for (const WorkerContent<T>& worker : workers)
            buffers.push_back(encodeContent<T>(plan, part, worker));
        for (const ByteBuffer& buffer : buffers)
            views.emplace_back(buffer);
    }
    std::vector<ByteBuffer> buffers;
    std::vector<ByteView> views;
};

template <class T>
std::vector<WorkerContent<T>> workersOf(const MessagePlan& plan, Kinds kinds, std::uint32_t count,
                                        std::uint32_t step = 1) {
    std::vector<WorkerContent<T>> workers;
    for (std::uint32_t rank = 0; rank < count; ++rank)
        workers.push_back(randomContent<T>(plan, kinds, 3, step, rank));
    return workers;
}

template <class T>
std::vector<T> expectedMean(const MessagePlan& plan, const std::vector<WorkerContent<T>>& workers) {
    std::vector<std::vector<T>> dense;
    for (const WorkerContent<T>& worker : workers)
        dense.push_back(expand<T>(plan, worker));
    return meanOf<T>(dense);
}

/// Every part through server and replica; returns the bytes that went down.
template <class T>
std::size_t serverStep(const MessagePlan& plan, Aggregator& server, Aggregator& replica,
                       const std::vector<WorkerContent<T>>& workers) {
    std::size_t bytes = 0;
    for (std::size_t part = 0; part < plan.parts().size(); ++part) {
        const Bodies<T> bodies(plan, part, workers);
        ByteBuffer down;
        server.aggregate(part, bodies.views, 1, 64, down);
        bytes += down.size() - 64;
        replica.applyDownlink(part, ByteView(down).subspan(64));
    }
    return bytes;
}

template <class T>
void compareAll(Kinds kinds, std::uint32_t count) {
    const MessagePlan plan = threeParts();
    QCOMPARE(plan.parts().size(), std::size_t{3});
    const auto automatic = settingsOf(kPrecision<T>, "auto");
    const auto dense = settingsOf(kPrecision<T>, "dense");
    const std::array servers = {Aggregator::create(plan, automatic),
                                Aggregator::create(plan, dense)};
    const auto replica = Aggregator::create(plan, automatic);
    const auto ring = Aggregator::create(plan, automatic);
    // Two steps: what one leaves behind would show in the next.
    for (std::uint32_t step = 1; step <= 2; ++step) {
        const auto workers = workersOf<T>(plan, kinds, count, step);
        const auto expected = expectedMean<T>(plan, workers);
        for (const auto& server : servers) {
            (void)serverStep<T>(plan, *server, *replica, workers);
            QVERIFY(sameBits<T>(replica->mean(), expected));
        }
        for (std::size_t part = 0; part < plan.parts().size(); ++part)
            ring->applyGathered(part, Bodies<T>(plan, part, workers).views);
        QVERIFY(sameBits<T>(ring->mean(), expected));
    }
}

} // namespace

class TestAggregator : public QObject {
    Q_OBJECT

private slots:
    void meansAreTheObviousOnes_data() {
        QTest::addColumn<int>("kinds");
        QTest::addColumn<unsigned>("workers");
        const std::array names = {"sparse", "dense", "mixed"};
        for (int kinds = 0; kinds < 3; ++kinds)
            for (const unsigned workers : {1U, 2U, 5U})
                QTest::addRow("%s N=%u", names[static_cast<std::size_t>(kinds)], workers)
                    << kinds << workers;
    }
    void meansAreTheObviousOnes() {
        QFETCH(int, kinds);
        QFETCH(unsigned, workers);
        compareAll<float>(static_cast<Kinds>(kinds), workers);
        compareAll<double>(static_cast<Kinds>(kinds), workers);
    }

    // A method may be switched while a run goes on: what an earlier mean set is not in a later one.
    void meansOfAnyKindFollowEachOther() {
        const MessagePlan plan = threeParts();
        const auto settings = settingsOf(Precision::F32, "auto");
        const auto server = Aggregator::create(plan, settings);
        const auto replica = Aggregator::create(plan, settings);
        const auto ring = Aggregator::create(plan, settings);
        std::uint32_t step = 0;
        for (const Kinds kinds : {Kinds::Sparse, Kinds::Dense, Kinds::Sparse, Kinds::Sparse,
                                  Kinds::Mixed, Kinds::Sparse, Kinds::Mixed}) {
            ++step;
            const auto workers = workersOf<float>(plan, kinds, 1 + step % 3, step);
            const auto expected = expectedMean<float>(plan, workers);
            (void)serverStep<float>(plan, *server, *replica, workers);
            QVERIFY(sameBits<float>(replica->mean(), expected));
            for (std::size_t part = 0; part < plan.parts().size(); ++part)
                ring->applyGathered(part, Bodies<float>(plan, part, workers).views);
            QVERIFY(sameBits<float>(ring->mean(), expected));
        }
    }

    // Field-faults A2: the units of one worker's message come in another order.
    void unitsMatchById() {
        const MessagePlan plan = threeParts();
        const auto workers = workersOf<float>(plan, Kinds::Mixed, 3);
        const auto aggregator = Aggregator::create(plan, settingsOf(Precision::F32, "auto"));
        for (std::size_t part = 0; part < plan.parts().size(); ++part) {
            Bodies<float> bodies(plan, part, workers);
            ByteBuffer expected;
            aggregator->aggregate(part, bodies.views, 1, 0, expected);
            auto order = plan.parts()[part];
            std::reverse(order.begin(), order.end());
            const ByteBuffer shuffled = encodeContent<float>(plan, part, workers[1], 0, order);
            bodies.views[1] = shuffled;
            ByteBuffer got;
            aggregator->aggregate(part, bodies.views, 1, 0, got);
            QVERIFY(got == expected);
        }
    }

    // Field-faults A8: two opposite gradients; what is sent sums to nothing.
    void oppositeGradientsCancel() {
        const MessagePlan plan = planOf({1000});
        auto workers = workersOf<float>(plan, Kinds::Sparse, 1);
        workers.push_back(workers[0]);
        for (float& value : workers[1][0].values)
            value = -value;
        const auto aggregator = Aggregator::create(plan, settingsOf(Precision::F32, "auto"));
        (void)serverStep<float>(plan, *aggregator, *aggregator, workers);
        QVERIFY(sameBits<float>(aggregator->mean(), std::vector<float>(1000, 0.0F)));
    }

    // Field-faults A10: 64 workers whose selections overlap by chance, not at all, and wholly.
    void theDownlinkNeverExceedsDense() {
        const MessagePlan plan = planOf({20000});
        const std::size_t dense = 20000 * sizeof(float) + kDescriptorBytes;
        const auto settings = settingsOf(Precision::F32, "auto");
        const auto server = Aggregator::create(plan, settings);
        const auto replica = Aggregator::create(plan, settings);
        auto workers = workersOf<float>(plan, Kinds::Sparse, 64);
        const std::size_t overlapping = serverStep<float>(plan, *server, *replica, workers);
        QVERIFY2(overlapping <= dense, qPrintable(QString::number(overlapping)));
        QVERIFY(sameBits<float>(replica->mean(), expectedMean<float>(plan, workers)));
        for (std::uint32_t rank = 0; rank < 64; ++rank) {
            workers[rank][0] = {true, {}, {}};
            for (std::uint32_t i = rank; i < 20000; i += 64) {
                workers[rank][0].indices.push_back(i);
                workers[rank][0].values.push_back(static_cast<float>(i) + 1.0F);
            }
        }
        QCOMPARE(serverStep<float>(plan, *server, *replica, workers), dense);
        QVERIFY(sameBits<float>(replica->mean(), expectedMean<float>(plan, workers)));
        std::fill(workers.begin(), workers.end(), workers.front());
        const std::size_t agreed = serverStep<float>(plan, *server, *replica, workers);
        QVERIFY2(agreed < dense / 8, qPrintable(QString::number(agreed)));
        QVERIFY(sameBits<float>(replica->mean(), expectedMean<float>(plan, workers)));
    }

    // Half of the smallest negative number rounds to −0: it must be the same zero on every way.
    void negativeZerosAreNoDifference() {
        const MessagePlan plan = planOf({64});
        const float tiny = -std::numeric_limits<float>::denorm_min();
        const WorkerContent<float> one = {{true, {5, 9}, {tiny, -0.0F}}};
        const WorkerContent<float> other = {{true, {7}, {1.0F}}};
        const std::vector<WorkerContent<float>> workers = {one, other};
        std::vector<float> expected(64, 0.0F);
        expected[7] = 0.5F;
        for (const char* downlink : {"auto", "dense"}) {
            const auto settings = settingsOf(Precision::F32, downlink);
            const auto aggregator = Aggregator::create(plan, settings);
            (void)serverStep<float>(plan, *aggregator, *aggregator, workers);
            QVERIFY(sameBits<float>(aggregator->mean(), expected));
        }
        const auto ring = Aggregator::create(plan, settingsOf(Precision::F32, "auto"));
        ring->applyGathered(0, Bodies<float>(plan, 0, workers).views);
        QVERIFY(sameBits<float>(ring->mean(), expected));
    }

    // Field-faults B17: sums are wide, so eight times 60 000 in 16 bits is no overflow.
    void halfValuesAreAddedInFullWidth() {
        const MessagePlan plan = planOf({100});
        const std::vector<float> values(100, 60000.0F);
        ByteBuffer body;
        UnitWriter writer(body, 0, 1);
        encodeDenseUnit<float>(plan.units()[0], values, ValueType::F16, writer);
        const std::vector<ByteView> views(8, ByteView(body));
        const auto aggregator = Aggregator::create(plan, settingsOf(Precision::F32, "auto"));
        ByteBuffer down;
        aggregator->aggregate(0, views, 1, 0, down);
        aggregator->applyDownlink(0, down);
        QVERIFY(sameBits<float>(aggregator->mean(), values));
    }

    void anOverflowNamesStepAndTensor() {
        const MessagePlan plan = planOf({8, 8});
        const float large = std::numeric_limits<float>::max();
        for (const bool sparse : {true, false}) {
            const auto aggregator = Aggregator::create(plan, settingsOf(Precision::F32, "auto"));
            UnitContent<float> much{sparse, {3}, {large}};
            if (!sparse)
                much = {false, {}, std::vector<float>(8, large)};
            const UnitContent<float> little{true, {0}, {1.0F}};
            const Bodies<float> bodies(plan, 0, {{little, much}, {little, much}});
            ByteBuffer down;
            try {
                aggregator->aggregate(0, bodies.views, 17, 0, down);
                QFAIL("an infinite mean went out");
            } catch (const NumericError& error) {
                QCOMPARE(error.step(), std::uint64_t{17});
                QCOMPARE(error.tensor(), std::string("t1"));
            }
            const auto workers = workersOf<float>(plan, Kinds::Mixed, 2);
            (void)serverStep<float>(plan, *aggregator, *aggregator, workers);
            QVERIFY(sameBits<float>(aggregator->mean(), expectedMean<float>(plan, workers)));
        }
    }

    void brokenBodiesChangeNothing_data() {
        QTest::addColumn<int>("fault");
        const std::array names = {
            "cut",        "extended",   "unit twice", "unit of another part", "elements",
            "index high", "not finite", "empty",      "descriptor",           "payload bytes"};
        for (std::size_t i = 0; i < names.size(); ++i)
            QTest::newRow(names[i]) << static_cast<int>(i);
    }
    void brokenBodiesChangeNothing();

    void chunksSumInRingOrder_data() {
        QTest::addColumn<unsigned>("workers");
        for (const unsigned workers : {1U, 2U, 3U, 4U, 7U})
            QTest::addRow("N=%u", workers) << workers;
    }
    void chunksSumInRingOrder();

    void chunksOfWrongSizeAreRefused() {
        const MessagePlan plan = planOf({10});
        const auto aggregator = Aggregator::create(plan, settingsOf(Precision::F32, "auto"));
        const auto body =
            encodeContent<float>(plan, 0, randomContent<float>(plan, Kinds::Dense, 1, 1, 0));
        ByteBuffer chunk;
        aggregator->takeChunk(0, 3, 4, body, 8, chunk);
        QCOMPARE(chunk.size(), std::size_t{8 + 4}); // chunks of 3, 3, 3, 1
        const auto values = std::span(chunk).subspan(8);
        QVERIFY_EXCEPTION_THROWN(aggregator->addChunk(0, 0, 4, body, values), ProtocolError);
        QVERIFY_EXCEPTION_THROWN(aggregator->applyChunk(0, 0, 4, values, 4), ProtocolError);
    }
};

namespace {

/// A body of part 0 of {40, 50}, unit 1 before unit 0, indices in 32 bits, with one thing wrong.
ByteBuffer brokenBody(const MessagePlan& plan, int fault) {
    const std::vector<std::uint32_t> indices = {0, 39};
    const std::vector<float> values = {3.0F, 4.0F};
    ByteBuffer body;
    UnitWriter writer(body, 0, 2);
    for (const std::size_t unit : {1U, 0U})
        encodeSparseUnit<float>(plan.units()[unit], indices, values, ValueType::F32,
                                IndexCode::Raw32, writer);
    const auto patch = [&](std::size_t at, std::uint32_t value) {
        std::memcpy(body.data() + at, &value, sizeof(value));
    };
    switch (fault) {
    case 0:
        body.pop_back();
        break;
    case 1:
        body.push_back(std::byte{0});
        break;
    case 2:
        patch(kDescriptorBytes, 1);
        break;
    case 3:
        patch(kDescriptorBytes, 2);
        break;
    case 4:
        patch(kDescriptorBytes + 8, 41);
        break;
    case 5:
        patch(body.size() - 12, 40);
        break;
    case 6:
        patch(body.size() - 4, 0x7F800000U);
        break;
    case 7:
        body.clear();
        break;
    case 8:
        body[kDescriptorBytes + 4] = std::byte{0xEE};
        break;
    default:
        patch(kDescriptorBytes + 28, 0x7FFFFFFFU);
        break;
    }
    return body;
}

} // namespace

void TestAggregator::brokenBodiesChangeNothing() {
    QFETCH(int, fault);
    const MessagePlan plan = planOf({40, 50});
    const auto settings = settingsOf(Precision::F32, "auto");
    const auto aggregator = Aggregator::create(plan, settings);
    const auto workers = workersOf<float>(plan, Kinds::Sparse, 3);
    (void)serverStep<float>(plan, *aggregator, *aggregator, workers);
    const auto expected = expectedMean<float>(plan, workers);
    QVERIFY(sameBits<float>(aggregator->mean(), expected));

    Bodies<float> bodies(plan, 0, workersOf<float>(plan, Kinds::Sparse, 3, 2));
    const ByteBuffer broken = brokenBody(plan, fault);
    bodies.views[2] = broken;
    ByteBuffer down;
    QVERIFY_EXCEPTION_THROWN(aggregator->aggregate(0, bodies.views, 2, 0, down), ProtocolError);
    QVERIFY_EXCEPTION_THROWN(aggregator->applyGathered(0, bodies.views), ProtocolError);
    QVERIFY(sameBits<float>(aggregator->mean(), expected));
    QVERIFY_EXCEPTION_THROWN(aggregator->applyDownlink(0, broken), ProtocolError);
    // Nothing of the broken bodies is left in the sums.
    (void)serverStep<float>(plan, *aggregator, *aggregator, workers);
    QVERIFY(sameBits<float>(aggregator->mean(), expected));
}

void TestAggregator::chunksSumInRingOrder() {
    QFETCH(unsigned, workers);
    const std::size_t n = workers;
    const MessagePlan plan = threeParts();
    const auto contents = workersOf<float>(plan, Kinds::Dense, workers);
    std::vector<std::vector<float>> dense;
    for (const auto& content : contents)
        dense.push_back(expand<float>(plan, content));
    const auto aggregator = Aggregator::create(plan, settingsOf(Precision::F32, "auto"));
    for (std::size_t part = 0; part < plan.parts().size(); ++part) {
        const Bodies<float> bodies(plan, part, contents);
        for (std::size_t chunk = 0; chunk < n; ++chunk) {
            ByteBuffer partial;
            aggregator->takeChunk(part, chunk, n, bodies.views[chunk], 64, partial);
            for (std::size_t hop = 1; hop < n; ++hop)
                aggregator->addChunk(part, chunk, n, bodies.views[(chunk + hop) % n],
                                     std::span(partial).subspan(64));
            aggregator->applyChunk(part, chunk, n, ByteView(partial).subspan(64), n);
        }
    }
    QVERIFY(sameBits<float>(aggregator->mean(), ringMeanOf<float>(plan, dense)));
}

QTEST_GUILESS_MAIN(TestAggregator)
#include "test_aggregator.moc"
