// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The model against PyTorch's oracle and against the slow reference; state, threads, cancelling,
// order of gradients.
#include "engine/core/check.h"
#include "engine/core/errors.h"
#include "engine/core/parallel.h"
#include "engine/core/safetensors.h"
#include "engine/data/batch_iterator.h"
#include "tests/support/json_file.h"
#include "tests/support/model_case.h"
#include "tests/support/reference_language_model.h"

#include <QTest>

#include <cstring>

using namespace gradlab::engine;
using namespace gradlab::tests;

namespace {

template <class T>
bool sameBits(const AlignedBuffer<T>& a, const AlignedBuffer<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// The oracle's model, window and state.
template <class T>
ModelCase<T> oracleCase(const nlohmann::json& oracle) {
    ModelCase<T> result({41, 12, 2, true}, 5, 3);
    const auto file = SafetensorsFile::read(dataPath("init.safetensors"));
    for (const TensorInfo& info : result.model->layout().tensors())
        file.copyTo(info.name, result.parameters.span().subspan(info.offset, info.size));
    result.ids.clear();
    for (const auto& row : oracle["inputs_TxB"])
        for (const auto& id : row)
            result.ids.push_back(id.get<std::int32_t>());
    for (const auto& id : oracle["targets_TxB"].back())
        result.ids.push_back(id.get<std::int32_t>());
    std::ranges::copy(numbers<T>(oracle["h0"]), result.h.begin());
    std::ranges::copy(numbers<T>(oracle["c0"]), result.c.begin());
    return result;
}

/// Largest relative error over loss, logits, states and every gradient.
template <class T>
double oracleError(std::string& worstName) {
    const auto oracle = readJsonFile("lstm_step.json");
    double worst = 0.0;
    const auto compare = [&](const std::string& name, std::span<const T> ours,
                             const nlohmann::json& theirs) {
        const auto expected = numbers<double>(theirs);
        const double error = relativeError<T>(ours, expected);
        if (!(error <= worst)) {
            worst = error;
            worstName = name;
        }
    };
    auto logitsCase = oracleCase<T>(oracle);
    std::vector<T> logits(15 * 41);
    logitsCase.model->logits(logitsCase.parameters.span(), logitsCase.window(), logitsCase.state(),
                             logits);
    compare("logits", logits, oracle["logits"]);
    auto test = oracleCase<T>(oracle);
    const T loss = static_cast<T>(test.step());
    compare("loss", std::span<const T>(&loss, 1), nlohmann::json::array({oracle["loss"]}));
    compare("h", std::as_const(test.h).span(), oracle["hn"]);
    compare("c", std::as_const(test.c).span(), oracle["cn"]);
    for (const TensorInfo& info : test.model->layout().tensors())
        compare(info.name, std::as_const(test.gradient).span().subspan(info.offset, info.size),
                oracle["grads"][info.name]);
    return worst;
}

template <class T>
struct StepResult {
    double loss = 0.0;
    AlignedBuffer<T> gradient;
    AlignedBuffer<T> h;
};

/// Large enough that every loop of the model splits into blocks.
template <class T>
StepResult<T> stepInArena(int threads, bool tied) {
    ModelCase<T> test({2000, 136, 2, tied}, 5, 64);
    StepResult<T> result;
    const auto run = [&] { result.loss = test.step({0.3, 5, 2, 0}); };
    if (threads == 0) {
        run();
    } else {
        ComputeArena arena(threads);
        arena.execute(run);
    }
    result.gradient = test.gradient;
    result.h = test.h;
    return result;
}

} // namespace

class TestLanguageModel : public QObject {
    Q_OBJECT

private slots:
    void agreesWithPyTorch() {
        std::string name;
        const double f64 = oracleError<double>(name);
        QVERIFY2(f64 <= 1e-9, qPrintable(QString("f64 %1: %2").arg(f64).arg(name.c_str())));
        const double f32 = oracleError<float>(name);
        QVERIFY2(f32 <= 1e-5, qPrintable(QString("f32 %1: %2").arg(f32).arg(name.c_str())));
    }

    void agreesWithTheSlowReference_data() {
        QTest::addColumn<int>("hidden");
        QTest::addColumn<int>("layers");
        QTest::addColumn<int>("columns");
        QTest::addColumn<bool>("tied");
        QTest::addColumn<double>("rate");
        int row = 0;
        for (const int hidden : {1, 5, 16, 19})
            for (const int layers : {1, 3})
                for (const int columns : {1, 4})
                    for (const bool tied : {true, false})
                        QTest::addRow("H%d L%d B%d %s", hidden, layers, columns,
                                      tied ? "tied" : "untied")
                            << hidden << layers << columns << tied << (row++ % 2 == 0 ? 0.0 : 0.4);
    }
    void agreesWithTheSlowReference() {
        QFETCH(int, hidden);
        QFETCH(int, layers);
        QFETCH(int, columns);
        QFETCH(bool, tied);
        QFETCH(double, rate);
        const ModelShape shape{23, static_cast<std::size_t>(hidden),
                               static_cast<std::size_t>(layers), tied};
        ModelCase<double> test(shape, 6, static_cast<std::size_t>(columns));
        const ReferenceLanguageModel reference(shape);
        std::vector<double> h(test.h.begin(), test.h.end());
        std::vector<double> c(test.c.begin(), test.c.end());
        const DropoutContext dropout{rate, 9, 4, 17};
        const double expected =
            reference.meanLoss(test.parameters.span(), test.window(), h, c, dropout);
        QVERIFY(std::abs(test.step(dropout) / expected - 1.0) < 1e-12);
        (void)reference.logits(test.parameters.span(), test.window(), h, c, dropout);
        QVERIFY(relativeError<double>(test.h.span(), h) < 1e-12);
        QVERIFY(relativeError<double>(test.c.span(), c) < 1e-12);
    }

    // Both h and c must be carried over.
    void twoWindowsEqualOneLongWindow() {
        ModelCase<double> whole({50, 24, 2, true}, 14, 5);
        ModelCase<double> parts({50, 24, 2, true}, 14, 5);
        const double once =
            whole.model->evaluate(whole.parameters.span(), whole.window(), whole.state());
        double twice =
            parts.model->evaluate(parts.parameters.span(), parts.window(0, 9), parts.state());
        twice += parts.model->evaluate(parts.parameters.span(), parts.window(9, 5), parts.state());
        QVERIFY(std::abs(twice / once - 1.0) < 1e-12);
        QVERIFY(relativeError<double>(parts.h.span(), whole.h.span()) < 1e-12);
        QVERIFY(relativeError<double>(parts.c.span(), whole.c.span()) < 1e-12);
        // The training pass gives the same losses and carries the same state.
        ModelCase<double> trained({50, 24, 2, true}, 14, 5);
        QVERIFY(std::abs(trained.step() * 70.0 / once - 1.0) < 1e-12);
        QVERIFY(relativeError<double>(trained.c.span(), whole.c.span()) < 1e-12);
    }

    // Perplexity comes from sum and count, so cutting a column into windows cannot change it.
    void scoreDoesNotDependOnTheWindow() {
        const ModelCase<double> start({40, 12, 2, true}, 1, 1);
        TokenIds stream;
        RandomStream random(4, RandomPurpose::Test, 0, 0, 0);
        for (int i = 0; i < 3 * 83; ++i)
            stream.push_back(static_cast<std::int32_t>(random.below(40)));
        const ColumnBlock block = cutColumns(stream, 3, 0, 3);
        const auto score = [&](std::size_t bptt) {
            std::vector<double> h(std::size_t{2} * 3 * 12);
            std::vector<double> c(h.size());
            const BatchIterator windows(block, bptt, true);
            double sum = 0.0;
            for (std::size_t w = 0; w < windows.windows(); ++w)
                sum += start.model->evaluate(start.parameters.span(), windows.window(w), {h, c});
            return sum;
        };
        const double whole = score(82);
        for (const std::size_t bptt : {1U, 5U, 35U, 41U, 81U})
            QVERIFY(std::abs(score(bptt) / whole - 1.0) < 1e-12);
        QVERIFY(score(5) == score(5));
    }

    void sameBitsForEveryNumberOfThreads() {
        for (const bool tied : {true, false}) {
            const auto serial = stepInArena<float>(0, tied);
            QVERIFY(std::isfinite(serial.loss));
            for (const int threads : {1, 2, 8}) {
                const auto other = stepInArena<float>(threads, tied);
                QVERIFY(std::memcmp(&serial.loss, &other.loss, sizeof(double)) == 0);
                QVERIFY2(sameBits(serial.gradient, other.gradient), "gradient");
                QVERIFY2(sameBits(serial.h, other.h), "state");
            }
        }
    }

    // A worker's object is reused over windows of all sizes; nothing of an earlier one may show.
    void reuseLeavesNoTrace() {
        ModelCase<float> fresh({70, 20, 2, false}, 7, 6);
        ModelCase<float> used({70, 20, 2, false}, 7, 6);
        ModelCase<float> large({70, 20, 2, false}, 20, 11);
        used.gradient.fill(3.0F);
        (void)large.step({0.5, 1, 1, 0});
        (void)used.model->forwardBackward(large.parameters.span(), large.window(), large.state(),
                                          {0.5, 1, 1, 0}, large.gradient.span(), {}, {}, {});
        const double expected = fresh.step();
        const double loss = used.step();
        QVERIFY(std::memcmp(&expected, &loss, sizeof loss) == 0);
        QVERIFY(sameBits(fresh.gradient, used.gradient));
    }

    void uniformModelHasThePerplexityOfItsVocabulary() {
        ModelCase<float> test({777, 8, 1, true}, 5, 4);
        test.parameters.fill(0.0F);
        const double sum =
            test.model->evaluate(test.parameters.span(), test.window(), test.state());
        QVERIFY(std::abs(std::exp(sum / 20.0) - 777.0) < 777.0 * 1e-6);
    }

    void gradientsBecomeReadyInTheLayoutsOrder() {
        for (const bool tied : {true, false}) {
            ModelCase<double> test({30, 10, 2, tied}, 4, 3);
            ModelCase<double> plain({30, 10, 2, tied}, 4, 3);
            (void)plain.step();
            std::vector<std::uint32_t> order;
            bool forwardDone = false;
            bool finalWhenReady = true;
            const auto ready = [&](std::uint32_t id) {
                const TensorInfo& info = test.model->layout().tensors()[id];
                finalWhenReady = finalWhenReady && forwardDone &&
                                 std::memcmp(test.gradient.data() + info.offset,
                                             plain.gradient.data() + info.offset,
                                             info.size * sizeof(double)) == 0;
                order.push_back(id);
            };
            (void)test.model->forwardBackward(test.parameters.span(), test.window(), test.state(),
                                              {}, test.gradient.span(), [&] { forwardDone = true; },
                                              ready, {});
            QVERIFY(order == test.model->layout().backwardOrder());
            QVERIFY(finalWhenReady);
        }
    }

    void stopsWhenAsked() {
        ModelCase<float> test({30, 10, 2, true}, 4, 3);
        std::stop_source source;
        source.request_stop();
        QVERIFY_EXCEPTION_THROWN(
            (void)test.model->forwardBackward(test.parameters.span(), test.window(), test.state(),
                                              {}, test.gradient.span(), {}, {}, source.get_token()),
            Cancelled);
        // Asked during backward.
        std::stop_source later;
        QVERIFY_EXCEPTION_THROWN((void)test.model->forwardBackward(
                                     test.parameters.span(), test.window(), test.state(), {},
                                     test.gradient.span(), [&] { later.request_stop(); }, {},
                                     later.get_token()),
                                 Cancelled);
    }

    // A number that is not finite must reach the loss, or nobody would notice it.
    void nonFiniteParametersShowInTheLoss() {
        for (const float bad :
             {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
            ModelCase<float> clean({30, 10, 2, false}, 4, 3);
            for (const TensorInfo& info : clean.model->layout().tensors()) {
                ModelCase<float> test({30, 10, 2, false}, 4, 3);
                const auto tensor = test.parameters.span().subspan(info.offset, info.size);
                std::ranges::fill(tensor, bad);
                double total = test.step();
                for (const float value : test.gradient)
                    total += static_cast<double>(value);
                // An infinite bias only saturates gates; everything else turns into NaN.
                if (std::isnan(bad) || info.name.find("weight") != std::string::npos)
                    QVERIFY2(!std::isfinite(total), info.name.c_str());
            }
        }
    }

    void refusesWindowsThatDoNotFit() {
        ModelCase<float> test({30, 10, 2, true}, 4, 3);
        test.ids[0] = 30;
        QVERIFY_EXCEPTION_THROWN((void)test.step(), CheckFailure);
        test.ids[0] = -1;
        QVERIFY_EXCEPTION_THROWN((void)test.step(), CheckFailure);
        test.ids[0] = 0;
        test.ids[3] = 31;
        QVERIFY_EXCEPTION_THROWN((void)test.step(), CheckFailure);
        test.ids[3] = 0;
        Window window = test.window();
        window.time = 5;
        QVERIFY_EXCEPTION_THROWN(
            (void)test.model->evaluate(test.parameters.span(), window, test.state()), CheckFailure);
    }

    void initialParametersFollowTheRule() {
        const ModelShape shape{100, 25, 2, false};
        const ParameterLayout layout(shape);
        std::vector<float> f32(layout.size());
        std::vector<double> f64(layout.size());
        initialiseParameters<float>(layout, shape, 42, f32);
        initialiseParameters<double>(layout, shape, 42, f64);
        double sum = 0.0;
        double squares = 0.0;
        const TensorInfo& bias = layout.tensors().back();
        for (std::size_t i = 0; i < layout.size(); ++i) {
            QVERIFY(static_cast<double>(f32[i]) == f64[i]);
            QVERIFY(std::abs(f64[i]) <= 0.2 + 1e-7);
            sum += f64[i];
            squares += f64[i] * f64[i];
            QVERIFY((i >= bias.offset) == (f64[i] == 0.0));
        }
        const auto drawn = static_cast<double>(layout.size() - bias.size);
        QVERIFY(std::abs(sum / drawn) < 0.2 / std::sqrt(3.0 * drawn) * 4.0);
        QVERIFY(std::abs(squares / drawn / (0.04 / 3.0) - 1.0) < 0.03);
        std::vector<float> other(layout.size());
        initialiseParameters<float>(layout, shape, 43, other);
        QVERIFY(other != f32);
    }
};

QTEST_GUILESS_MAIN(TestLanguageModel)
#include "test_language_model.moc"
