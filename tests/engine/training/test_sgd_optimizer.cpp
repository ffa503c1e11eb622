// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The update rule against hand-computed numbers and against its own closed forms.
#include "engine/core/parallel.h"
#include "engine/core/random.h"
#include "engine/training/sgd_optimizer.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <vector>

using namespace gradlab::engine;

class TestSgdOptimizer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void plainStep() {
        SgdOptimizer<double> optimizer(2);
        std::vector<double> w{1.0, -2.0};
        const std::vector<double> mean{0.5, 0.25};
        const double norm = SgdOptimizer<double>::norm(mean);
        const SgdOutcome outcome = optimizer.update(w, mean, norm, {.lr = 0.1});
        QVERIFY(std::abs(w[0] - 0.95) < 1e-15 && std::abs(w[1] + 2.025) < 1e-15);
        QVERIFY(!outcome.clipped);
        QVERIFY(std::abs(outcome.gradNorm - std::sqrt(0.3125)) < 1e-15);
        QVERIFY(optimizer.velocity().empty());
    }

    void clipActsOnTheNorm() {
        SgdOptimizer<double> optimizer(2);
        std::vector<double> w{0.0, 0.0};
        const std::vector<double> mean{3.0, 4.0};
        const SgdOutcome outcome = optimizer.update(w, mean, 5.0, {.lr = 1.0, .clip = 0.25});
        const double scale = 0.25 / (5.0 + 1e-6);
        QVERIFY(outcome.clipped);
        QVERIFY(std::abs(w[0] + 3.0 * scale) < 1e-15 && std::abs(w[1] + 4.0 * scale) < 1e-15);
    }

    void momentumAndDecay() {
        SgdOptimizer<double> optimizer(1);
        std::vector<double> w{2.0};
        const std::vector<double> mean{1.0};
        const SgdSettings settings{.lr = 0.1, .momentum = 0.5, .weightDecay = 0.01};
        double expected = 2.0;
        double velocity = 0.0;
        for (int step = 0; step < 5; ++step) {
            velocity = 0.5 * velocity + (1.0 + 0.01 * expected);
            expected -= 0.1 * velocity;
            optimizer.update(w, mean, 1.0, settings);
        }
        QVERIFY(std::abs(w[0] - expected) < 1e-14);
    }

    // A mean in update units is η times the gradient: the same trajectory while η stays the same.
    void updateUnitsEqualGradientUnitsAtConstantRate() {
        SgdOptimizer<double> a(1);
        SgdOptimizer<double> b(1);
        std::vector<double> wa{1.0};
        std::vector<double> wb{1.0};
        SgdSettings settings{.lr = 0.2, .momentum = 0.3, .weightDecay = 0.1, .clip = 0.5};
        for (int step = 0; step < 6; ++step) {
            const std::vector<double> mean{0.7 + step};
            const std::vector<double> scaled{0.2 * mean[0]};
            settings.updateUnits = false;
            const SgdOutcome oa = a.update(wa, mean, mean[0], settings);
            settings.updateUnits = true;
            const SgdOutcome ob = b.update(wb, scaled, scaled[0], settings);
            QVERIFY(std::abs(oa.gradNorm - ob.gradNorm) < 1e-12);
            QVERIFY(std::abs(wa[0] - wb[0]) < 1e-12);
        }
    }

    void updateUnitsStayFiniteAtRateZero() {
        SgdOptimizer<float> optimizer(1);
        std::vector<float> w{1.0F};
        const std::vector<float> mean{0.25F};
        optimizer.update(w, mean, 0.25, {.lr = 0.0, .updateUnits = true});
        QCOMPARE(w[0], 0.75F);
    }

    void smallDecaySurvivesInSinglePrecision() {
        SgdOptimizer<float> optimizer(1);
        std::vector<float> w{1.0F};
        const std::vector<float> mean{0.0F};
        optimizer.update(w, mean, 0.0, {.lr = 1.0, .weightDecay = 3e-6});
        QCOMPARE(w[0], 1.0F - 3e-6F);
    }

    void sameBitsForAnyThreads() {
        const std::size_t size = 200003;
        std::vector<float> mean(size);
        std::vector<float> start(size);
        fillUniform(mean, 7, RandomPurpose::Test, {1, 0, 0, 0});
        fillUniform(start, 7, RandomPurpose::Test, {2, 0, 0, 0});
        std::vector<float> reference;
        double referenceNorm = 0.0;
        for (const int threads : {1, 2, 8}) {
            ComputeArena arena(threads);
            SgdOptimizer<float> optimizer(size);
            std::vector<float> w = start;
            double norm = 0.0;
            arena.execute([&] {
                norm = SgdOptimizer<float>::norm(mean);
                optimizer.update(w, mean, norm, {.lr = 3.0, .momentum = 0.9, .clip = 1.0});
            });
            if (reference.empty()) {
                reference = w;
                referenceNorm = norm;
            }
            QCOMPARE(std::memcmp(&norm, &referenceNorm, sizeof norm), 0);
            QCOMPARE(std::memcmp(w.data(), reference.data(), size * sizeof(float)), 0);
        }
    }
};

QTEST_GUILESS_MAIN(TestSgdOptimizer)
#include "test_sgd_optimizer.moc"
