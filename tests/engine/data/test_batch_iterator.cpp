// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Columns and windows: every prediction once, none of padding, and the same tokens for any number
// of workers.
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/data/batch_iterator.h"

#include <QTest>

#include <algorithm>
#include <numeric>

using namespace gradlab::engine;

namespace {

TokenIds counting(std::size_t size) {
    TokenIds ids(size);
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

} // namespace

class TestBatchIterator : public QObject {
    Q_OBJECT

private slots:
    void columnsAreConsecutivePartsOfTheStream() {
        const ColumnBlock block = cutColumns(counting(23), 4, 1, 2);
        QCOMPARE(block.rows, std::size_t{5}); // 23 div 4, three tokens dropped
        QCOMPARE(block.firstColumn, std::size_t{1});
        QVERIFY(block.ids == (TokenIds{5, 10, 6, 11, 7, 12, 8, 13, 9, 14}));
    }

    // A column of T tokens has exactly T − 1 predictions, and token t is predicted from t − 1.
    void everyPredictionIsMadeOnce() {
        constexpr std::size_t kWindow = 7;
        constexpr std::size_t kColumns = 3;
        for (std::size_t rows = 2; rows <= 4 * kWindow + 2; ++rows) {
            const ColumnBlock block = cutColumns(counting(rows * kColumns), kColumns, 0, kColumns);
            const BatchIterator all(block, kWindow, true);
            const BatchIterator whole(block, kWindow, false);
            QCOMPARE(whole.windows(), (rows - 1) / kWindow);
            TokenIds targets;
            for (std::size_t w = 0; w < all.windows(); ++w) {
                const Window window = all.window(w);
                QCOMPARE(window.inputs.size(), window.time * kColumns);
                for (std::size_t i = 0; i < window.inputs.size(); ++i)
                    QCOMPARE(window.targets[i], window.inputs[i] + 1);
                targets.insert(targets.end(), window.targets.begin(), window.targets.end());
            }
            QCOMPARE(targets.size(), (rows - 1) * kColumns);
            std::ranges::sort(targets);
            QVERIFY(std::ranges::adjacent_find(targets) == targets.end());
            for (std::size_t w = 0; w < whole.windows(); ++w)
                QCOMPARE(whole.window(w).time, kWindow);
            QVERIFY_EXCEPTION_THROWN((void)all.window(all.windows()), CheckFailure);
        }
    }

    void workersTogetherSeeWhatOneSees() {
        const TokenIds stream = counting(1000);
        constexpr std::size_t kBatch = 8;
        const ColumnBlock whole = cutColumns(stream, kBatch, 0, kBatch);
        const BatchIterator one(whole, 10, false);
        for (const std::size_t workers : {1U, 2U, 4U, 8U})
            for (std::size_t step = 0; step < one.windows(); ++step) {
                TokenIds seen;
                for (std::size_t w = 0; w < workers; ++w) {
                    const std::size_t each = kBatch / workers;
                    const ColumnBlock part = cutColumns(stream, kBatch, w * each, each);
                    const BatchIterator iterator(part, 10, false);
                    QCOMPARE(iterator.windows(), one.windows());
                    const Window window = iterator.window(step);
                    seen.insert(seen.end(), window.inputs.begin(), window.inputs.end());
                }
                const Window expected = one.window(step);
                QVERIFY(std::ranges::is_permutation(seen, expected.inputs));
            }
    }

    void tooShortStreamsAreRefused() {
        QVERIFY_EXCEPTION_THROWN((void)cutColumns(counting(7), 4, 0, 4), DataError);
        QCOMPARE(cutColumns(counting(8), 4, 0, 4).rows, std::size_t{2});
        QVERIFY_EXCEPTION_THROWN((void)cutColumns({}, 4, 0, 4), DataError);
        QVERIFY_EXCEPTION_THROWN((void)cutColumns(counting(99), 4, 3, 2), CheckFailure);
    }
};

QTEST_GUILESS_MAIN(TestBatchIterator)
#include "test_batch_iterator.moc"
