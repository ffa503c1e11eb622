// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The hand-over to a reader that lags: order is kept, memory is bounded, only steps are dropped.
#include "engine/core/check.h"
#include "engine/metrics/record_buffer.h"

#include <QTest>

#include <atomic>
#include <thread>

using namespace gradlab::engine;

namespace {

StepRecord step(std::uint64_t number) {
    StepRecord record;
    record.step = number;
    return record;
}

EvalRecord evaluation(std::uint64_t number) {
    EvalRecord record;
    record.step = number;
    return record;
}

} // namespace

class TestRecordBuffer : public QObject {
    Q_OBJECT

private slots:
    void keepsOrder() {
        RecordBuffer buffer(10);
        buffer.record(step(1));
        buffer.record(evaluation(1));
        buffer.record(step(2));
        const auto records = buffer.take();
        QCOMPARE(records.size(), std::size_t{3});
        QCOMPARE(std::get<StepRecord>(records[0]).step, std::uint64_t{1});
        QVERIFY(std::holds_alternative<EvalRecord>(records[1]));
        QCOMPARE(std::get<StepRecord>(records[2]).step, std::uint64_t{2});
        QVERIFY(buffer.take().empty());
        QCOMPARE(buffer.dropped(), std::size_t{0});
    }

    void keepsTheNewestSnapshots() {
        RecordBuffer buffer(10);
        for (std::uint64_t step = 1; step <= 100; ++step) {
            GradientSnapshot snapshot;
            snapshot.step = step;
            buffer.snapshot(std::make_shared<const GradientSnapshot>(snapshot));
        }
        const auto snapshots = buffer.takeSnapshots();
        QCOMPARE(snapshots.size(), RecordBuffer::kMostSnapshots);
        QCOMPARE(snapshots.front()->step, std::uint64_t{97});
        QCOMPARE(snapshots.back()->step, std::uint64_t{100});
        QVERIFY(buffer.takeSnapshots().empty());
        QVERIFY(buffer.take().empty());
    }

    void dropsOldestStepsOnly() {
        RecordBuffer buffer(4);
        buffer.record(StartRecord{});
        buffer.record(evaluation(7));
        for (std::uint64_t i = 1; i <= 100; ++i)
            buffer.record(step(i));
        buffer.record(EndRecord{});
        const auto records = buffer.take();
        QCOMPARE(records.size(), std::size_t{4});
        QVERIFY(std::holds_alternative<StartRecord>(records[0]));
        QVERIFY(std::holds_alternative<EvalRecord>(records[1]));
        QCOMPARE(std::get<StepRecord>(records[2]).step, std::uint64_t{100});
        QVERIFY(std::holds_alternative<EndRecord>(records[3]));
        QCOMPARE(buffer.dropped(), std::size_t{99});
    }

    void growsRatherThanLoseAnEvent() {
        RecordBuffer buffer(2);
        for (std::uint64_t i = 0; i < 5; ++i)
            buffer.record(EventRecord{});
        QCOMPARE(buffer.take().size(), std::size_t{5});
    }

    void readerAndWriterInTwoThreads() {
        RecordBuffer buffer(100000);
        constexpr std::uint64_t kSteps = 20000;
        std::atomic<bool> done = false;
        std::thread writer([&] {
            for (std::uint64_t i = 1; i <= kSteps; ++i)
                buffer.record(step(i));
            done = true;
        });
        std::uint64_t last = 0;
        bool ordered = true;
        const auto drain = [&] {
            for (const Record& record : buffer.take()) {
                const std::uint64_t number = std::get<StepRecord>(record).step;
                ordered = ordered && number == last + 1;
                last = number;
            }
        };
        while (!done)
            drain();
        writer.join();
        drain();
        QVERIFY(ordered);
        QCOMPARE(last, kSteps);
    }

    void needsRoom() { QVERIFY_EXCEPTION_THROWN(RecordBuffer(0), CheckFailure); }
};

QTEST_GUILESS_MAIN(TestRecordBuffer)
#include "test_record_buffer.moc"
