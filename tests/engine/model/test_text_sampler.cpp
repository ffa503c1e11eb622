// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The sampled sentence: repeatable, drawn from the model's own probabilities, and always text.
#include "engine/model/text_sampler.h"
#include "tests/support/model_case.h"

#include <QTest>

#include <map>

using namespace gradlab::engine;
using namespace gradlab::tests;

namespace {

Corpus corpusOf(std::vector<std::string> vocabulary, std::int32_t endOfSentence) {
    Corpus corpus;
    corpus.vocabulary = std::move(vocabulary);
    corpus.endOfSentenceId = endOfSentence;
    return corpus;
}

} // namespace

class TestTextSampler : public QObject {
    Q_OBJECT

private slots:
    void isAFunctionOfSeedAndStep() {
        ModelCase<float> test({5, 8, 2, true}, 1, 1);
        const Corpus corpus = corpusOf({"a", "b", "c", "d", "<eos>"}, 4);
        const auto sample = [&](std::uint32_t seed, std::uint32_t step) {
            return sampleSentence<float>(*test.model, test.parameters.span(), corpus, seed, step);
        };
        std::map<std::string, int> sentences;
        for (std::uint32_t step = 0; step < 50; ++step) {
            const std::string sentence = sample(1, step);
            QCOMPARE(sample(1, step), sentence);
            QVERIFY(sentence.find("<eos>") == std::string::npos);
            QVERIFY(sentence.size() <= 25 * 2);
            ++sentences[sentence];
        }
        QVERIFY(sentences.size() > 20);
    }

    // An untied bias of ±ln makes P = {1/2, 1/4, 1/8, 1/8}: frequencies must follow.
    void drawsFromTheModelsProbabilities() {
        ModelCase<double> test({4, 3, 1, false}, 1, 1);
        test.parameters.fill(0.0);
        const TensorInfo& bias = test.model->layout().tensors().back();
        const std::vector<double> probability{0.5, 0.25, 0.125, 0.125};
        for (std::size_t i = 0; i < 4; ++i)
            test.parameters[bias.offset + i] = std::log(probability[i]);
        const Corpus corpus = corpusOf({"a", "b", "c", "<eos>"}, 3);
        std::map<std::string, double> first;
        constexpr int kDraws = 4000;
        for (std::uint32_t step = 0; step < kDraws; ++step)
            first[sampleSentence<double>(*test.model, test.parameters.span(), corpus, 2, step,
                                         1)] += 1.0 / kDraws;
        QVERIFY(std::abs(first["a"] - 0.5) < 0.04);
        QVERIFY(std::abs(first["b"] - 0.25) < 0.04);
        QVERIFY(std::abs(first["c"] - 0.125) < 0.03);
        QVERIFY(std::abs(first[""] - 0.125) < 0.03);
    }

    void joinsCharactersWithoutSpacesAndReplacesWhatIsNoText() {
        ModelCase<float> test({2, 3, 1, false}, 1, 1);
        test.parameters.fill(0.0F);
        test.parameters[test.model->layout().tensors().back().offset] = 50.0F;
        Corpus corpus = corpusOf({"\xE9t\xC3\xA9", "<eos>"}, 1);
        const auto sample = [&] {
            return sampleSentence<float>(*test.model, test.parameters.span(), corpus, 1, 1, 2);
        };
        QCOMPARE(sample(), std::string("\xEF\xBF\xBDt\xC3\xA9 \xEF\xBF\xBDt\xC3\xA9"));
        corpus.unit = TokenUnit::Character;
        corpus.vocabulary[0] = "x";
        QCOMPARE(sample(), std::string("xx"));
    }

    void endsWhereNumbersAreNotFinite() {
        ModelCase<float> test({3, 3, 1, true}, 1, 1);
        test.parameters.fill(std::numeric_limits<float>::quiet_NaN());
        const Corpus corpus = corpusOf({"a", "b", "<eos>"}, 2);
        QCOMPARE(sampleSentence<float>(*test.model, test.parameters.span(), corpus, 1, 1),
                 std::string());
    }
};

QTEST_GUILESS_MAIN(TestTextSampler)
#include "test_text_sampler.moc"
