// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Dropout masks: their law, their key, and that they do not depend on how columns are shared out.
#include "engine/model/dropout.h"
#include "tests/support/json_file.h"
#include "tests/support/model_case.h"
#include "tests/support/reference_language_model.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::tests;

class TestDropout : public QObject {
    Q_OBJECT

private slots:
    void masksFollowTheKey() {
        const DropoutContext context{0.3, 7, 11, 5};
        constexpr std::size_t kTime = 3;
        constexpr std::size_t kColumns = 4;
        for (const std::size_t hidden : {1U, 6U, 300U}) {
            std::vector<double> mask(kTime * kColumns * hidden);
            fillDropoutMask<double>(context, 2, kTime, kColumns, hidden, mask);
            for (std::size_t t = 0; t < kTime; ++t)
                for (std::size_t b = 0; b < kColumns; ++b)
                    for (std::size_t j = 0; j < hidden; ++j)
                        QVERIFY(mask[(t * kColumns + b) * hidden + j] ==
                                ReferenceLanguageModel::mask(context, 2, t, b, j, hidden));
        }
    }

    void keepsTheRightShare() {
        for (const double rate : {0.1, 0.5, 0.9}) {
            std::vector<float> mask(50 * 20 * 100);
            fillDropoutMask<float>({rate, 1, 1, 0}, 0, 50, 20, 100, mask);
            double kept = 0.0;
            for (const float value : mask) {
                QVERIFY(value == 0.0F || value == static_cast<float>(1.0 / (1.0 - rate)));
                kept += value == 0.0F ? 0.0 : 1.0;
            }
            const auto n = static_cast<double>(mask.size());
            QVERIFY(std::abs(kept / n - (1.0 - rate)) < 5.0 * std::sqrt(rate * (1.0 - rate) / n));
        }
    }

    // Sites, steps and time steps all have their own masks.
    void masksAreFresh() {
        const auto mask = [](std::uint32_t step, std::uint32_t site) {
            std::vector<float> values(2 * 3 * 40);
            fillDropoutMask<float>({0.5, 1, step, 0}, site, 2, 3, 40, values);
            return values;
        };
        const auto first = mask(1, 0);
        QVERIFY(first != mask(2, 0));
        QVERIFY(first != mask(1, 1));
        QVERIFY(!std::equal(first.begin(), first.begin() + 120, first.begin() + 120));
        QVERIFY(first == mask(1, 0));
    }

    // Four workers with two columns each together compute what one worker computes.
    void gradientDoesNotDependOnTheSplitIntoWorkers() {
        const ModelShape shape{60, 18, 2, false};
        constexpr std::size_t kWorkers = 4;
        constexpr std::size_t kEach = 2;
        ModelCase<double> one(shape, 7, kWorkers * kEach);
        const AlignedBuffer<double> h = one.h;
        const AlignedBuffer<double> c = one.c;
        const double loss = one.step({0.4, 3, 9, 0});
        std::vector<double> mean(one.gradient.size());
        double meanLoss = 0.0;
        for (std::size_t w = 0; w < kWorkers; ++w) {
            ModelCase<double> part(shape, 7, kEach);
            for (std::size_t i = 0; i < part.ids.size(); ++i)
                part.ids[i] = one.ids[i / kEach * one.columns + w * kEach + i % kEach];
            const std::size_t own = kEach * shape.hidden;
            for (std::size_t i = 0; i < part.h.size(); ++i) {
                const std::size_t from = i / own * own * kWorkers + w * own + i % own;
                part.h[i] = h[from];
                part.c[i] = c[from];
            }
            meanLoss += part.step({0.4, 3, 9, static_cast<std::uint32_t>(w * kEach)}) / kWorkers;
            for (std::size_t i = 0; i < mean.size(); ++i)
                mean[i] += part.gradient[i] / kWorkers;
        }
        QVERIFY(std::abs(meanLoss / loss - 1.0) < 1e-12);
        QVERIFY(relativeError<double>(mean, one.gradient.span()) < 1e-12);
    }

    void evaluationHasNoDropout() {
        ModelCase<double> trained({60, 18, 2, true}, 7, 4);
        ModelCase<double> scored({60, 18, 2, true}, 7, 4);
        const double sum =
            scored.model->evaluate(scored.parameters.span(), scored.window(), scored.state());
        QVERIFY(std::abs(trained.step() * 28.0 / sum - 1.0) < 1e-12);
        ModelCase<double> dropped({60, 18, 2, true}, 7, 4);
        QVERIFY(std::abs(dropped.step({0.5, 1, 1, 0}) * 28.0 / sum - 1.0) > 1e-4);
    }
};

QTEST_GUILESS_MAIN(TestDropout)
#include "test_dropout.moc"
