// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The model with products in bf16 beside the same model in f32: near it, and the same bits for
// itself however it is run.
#include "engine/core/parallel.h"
#include "engine/core/precision.h"
#include "tests/support/model_case.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

using namespace gradlab::engine;
using namespace gradlab::tests;

namespace {

struct Step {
    double loss = 0.0;
    std::vector<float> gradient;
    std::vector<float> h;
};

bool operator==(const Step& a, const Step& b) {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
        return x.size() == y.size() &&
               std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    return std::memcmp(&a.loss, &b.loss, sizeof(double)) == 0 && same(a.gradient, b.gradient) &&
           same(a.h, b.h);
}

Step stepOf(ModelCase<float>& test, const DropoutContext& dropout = {}) {
    Step step;
    step.loss = test.step(dropout);
    step.gradient.assign(test.gradient.begin(), test.gradient.end());
    step.h.assign(test.h.begin(), test.h.end());
    return step;
}

ModelCase<float> bf16Case(const ModelShape& shape, std::size_t time, std::size_t columns) {
    ModelCase<float> test(shape, time, columns);
    test.model = makeLstmLanguageModel<float>(shape, ProductType::Bf16);
    return test;
}

} // namespace

class TestBf16Model : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() {
        if (bf16Ability() != Bf16Ability::Ready)
            QSKIP(whyNotBf16(bf16Ability()).data());
    }

    // Rounding wrongs an operand by at most 2^-8 of its size. Errors of many terms are independent,
    // so that a tensor of the gradient stays within three times that, and the loss, a mean over all
    // predictions, within a tenth of it.
    void gradientIsNearThatOfF32_data() {
        QTest::addColumn<int>("layers");
        QTest::addColumn<bool>("tied");
        QTest::addColumn<double>("rate");
        for (const int layers : {1, 2, 3})
            for (const bool tied : {true, false})
                for (const double rate : {0.0, 0.35})
                    QTest::addRow("L%d %s dropout %.2f", layers, tied ? "tied" : "untied", rate)
                        << layers << tied << rate;
    }
    void gradientIsNearThatOfF32() {
        QFETCH(int, layers);
        QFETCH(bool, tied);
        QFETCH(double, rate);
        constexpr double kRounding = 1.0 / 256.0;
        const ModelShape shape{120, 40, static_cast<std::size_t>(layers), tied};
        const DropoutContext dropout{rate, 3, 8, 2};
        ModelCase<float> f32(shape, 9, 12);
        ModelCase<float> bf16 = bf16Case(shape, 9, 12);
        const Step expected = stepOf(f32, dropout);
        const Step got = stepOf(bf16, dropout);
        const double apart = std::abs(got.loss / expected.loss - 1.0);
        QVERIFY2(apart < kRounding / 10.0 && apart > 0.0, qPrintable(QString::number(apart)));
        for (const TensorInfo& info : f32.model->layout().tensors()) {
            const std::span<const float> reference(expected.gradient);
            const std::span<const float> rounded(got.gradient);
            double difference = 0.0;
            double size = 0.0;
            for (std::size_t i = info.offset; i < info.offset + info.size; ++i) {
                const auto wanted = static_cast<double>(reference[i]);
                difference += std::pow(static_cast<double>(rounded[i]) - wanted, 2);
                size += wanted * wanted;
            }
            const double error = std::sqrt(difference / size);
            QVERIFY2(error < 3.0 * kRounding && error > 0.0,
                     qPrintable(QString("%1 %2").arg(info.name.c_str()).arg(error)));
        }
    }

    void sameBitsForEveryNumberOfThreads() {
        const ModelShape shape{1500, 96, 2, true};
        ModelCase<float> alone = bf16Case(shape, 10, 32);
        const Step serial = stepOf(alone);
        QVERIFY(std::isfinite(serial.loss));
        for (const int threads : {1, 2, 8}) {
            ModelCase<float> test = bf16Case(shape, 10, 32);
            Step other;
            ComputeArena arena(threads);
            arena.execute([&] { other = stepOf(test); });
            QVERIFY(serial == other);
        }
    }

    // What oneDNN keeps of other windows must not show.
    void reuseLeavesNoTrace() {
        const ModelShape shape{70, 20, 2, false};
        ModelCase<float> fresh = bf16Case(shape, 7, 6);
        ModelCase<float> used = bf16Case(shape, 7, 6);
        ModelCase<float> large = bf16Case(shape, 20, 11);
        (void)used.model->forwardBackward(large.parameters.span(), large.window(), large.state(),
                                          {0.5, 1, 1, 0}, large.gradient.span(), {}, {}, {});
        QVERIFY(stepOf(fresh) == stepOf(used));
    }

    void lossesOfTrainingAndEvaluationAgree() {
        ModelCase<float> trained = bf16Case({50, 24, 2, true}, 14, 5);
        ModelCase<float> evaluated = bf16Case({50, 24, 2, true}, 14, 5);
        const double sum = evaluated.model->evaluate(evaluated.parameters.span(),
                                                     evaluated.window(), evaluated.state());
        QVERIFY(std::abs(trained.step() * 70.0 / sum - 1.0) < 1e-12);
        QVERIFY(std::memcmp(trained.h.data(), evaluated.h.data(), trained.h.size() * 4) == 0);
    }

    void nonFiniteParametersShowInTheLoss() {
        const ModelShape shape{30, 10, 2, false};
        const ParameterLayout layout(shape);
        for (const TensorInfo& info : layout.tensors()) {
            ModelCase<float> test = bf16Case(shape, 4, 3);
            std::ranges::fill(test.parameters.span().subspan(info.offset, info.size),
                              std::numeric_limits<float>::quiet_NaN());
            QVERIFY2(!std::isfinite(test.step()), info.name.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestBf16Model)
#include "test_bf16_model.moc"
