// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Every gradient against central differences of the slow reference's loss, in double.
#include "tests/support/json_file.h"
#include "tests/support/model_case.h"
#include "tests/support/reference_language_model.h"

#include <QTest>

using namespace gradlab::engine;
using namespace gradlab::tests;

class TestGradients : public QObject {
    Q_OBJECT

private slots:
    void agreeWithFiniteDifferences_data() {
        QTest::addColumn<int>("layers");
        QTest::addColumn<bool>("tied");
        QTest::addColumn<double>("rate");
        for (const int layers : {1, 2, 3})
            for (const bool tied : {true, false})
                for (const double rate : {0.0, 0.35})
                    QTest::addRow("L%d %s dropout %.2f", layers, tied ? "tied" : "untied", rate)
                        << layers << tied << rate;
    }
    void agreeWithFiniteDifferences() {
        QFETCH(int, layers);
        QFETCH(bool, tied);
        QFETCH(double, rate);
        const ModelShape shape{7, 5, static_cast<std::size_t>(layers), tied};
        ModelCase<double> test(shape, 3, 2);
        const ReferenceLanguageModel reference(shape);
        const std::vector<double> h(test.h.begin(), test.h.end());
        const std::vector<double> c(test.c.begin(), test.c.end());
        const DropoutContext dropout{rate, 3, 8, 2};
        (void)test.step(dropout);
        std::vector<double> moved(test.parameters.begin(), test.parameters.end());
        const auto lossAt = [&](std::size_t p, double offset) {
            moved[p] = test.parameters[p] + offset;
            const double loss = reference.meanLoss(moved, test.window(), h, c, dropout);
            moved[p] = test.parameters[p];
            return loss;
        };
        constexpr double kStep = 1e-3; // fourth-order differences: error about 1e-12
        for (const TensorInfo& info : test.model->layout().tensors()) {
            std::vector<double> expected(info.size);
            for (std::size_t i = 0; i < info.size; ++i) {
                const std::size_t p = info.offset + i;
                expected[i] = (8 * (lossAt(p, kStep) - lossAt(p, -kStep)) -
                               (lossAt(p, 2 * kStep) - lossAt(p, -2 * kStep))) /
                              (12 * kStep);
            }
            const double error = relativeError<double>(
                test.gradient.span().subspan(info.offset, info.size), expected);
            QVERIFY2(error < 1e-8, qPrintable(QString("%1 %2").arg(info.name.c_str()).arg(error)));
        }
    }

    void bothBiasesHaveTheSameGradient() {
        ModelCase<float> test({40, 24, 2, true}, 6, 4);
        (void)test.step();
        const auto& tensors = test.model->layout().tensors();
        for (const std::size_t id : {3U, 7U})
            for (std::size_t i = 0; i < tensors[id].size; ++i)
                QVERIFY(test.gradient[tensors[id].offset + i] ==
                        test.gradient[tensors[id + 1].offset + i]);
    }

    // Embedding rows of tokens that do not occur get no gradient when the output layer has its own
    // weights.
    void untouchedEmbeddingRowsHaveZeroGradient() {
        ModelCase<float> test({200, 12, 1, false}, 5, 4);
        test.gradient.fill(1.0F);
        (void)test.step();
        std::vector<bool> occurs(200, false);
        for (std::size_t i = 0; i < 20; ++i)
            occurs[static_cast<std::size_t>(test.ids[i])] = true;
        for (std::size_t id = 0; id < 200; ++id) {
            bool zero = true;
            for (std::size_t j = 0; j < 12; ++j)
                zero = zero && test.gradient[id * 12 + j] == 0.0F;
            QCOMPARE(zero, !occurs[id]);
        }
    }
};

QTEST_GUILESS_MAIN(TestGradients)
#include "test_gradients.moc"
