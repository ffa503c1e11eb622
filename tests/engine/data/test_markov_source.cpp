// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The generated language: its law, its known perplexities, and that it depends on the seed alone.
#include "engine/data/corpus.h"
#include "engine/data/markov_source.h"

#include <QTest>

#include <cmath>
#include <map>
#include <set>

using namespace gradlab::engine;

namespace {

/// Perplexity on `ids` of the best reader who knows the last word only, estimated from `train`.
double bigramPerplexity(const TokenIds& train, const TokenIds& ids, double floorCount) {
    std::map<std::pair<int, int>, double> pairs;
    std::map<int, double> singles;
    for (std::size_t i = 0; i + 1 < train.size(); ++i) {
        pairs[{train[i], train[i + 1]}] += 1.0;
        singles[train[i]] += 1.0;
    }
    double sum = 0.0;
    for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        const auto found = pairs.find({ids[i], ids[i + 1]});
        const double count = found == pairs.end() ? floorCount : found->second;
        sum -= std::log(count / singles[ids[i]]);
    }
    return std::exp(sum / static_cast<double>(ids.size() - 1));
}

} // namespace

class TestMarkovSource : public QObject {
    Q_OBJECT

private slots:
    void probabilitiesAreALaw() {
        const MarkovSource source(42);
        std::set<std::string> spellings(source.words().begin(), source.words().end());
        QCOMPARE(spellings.size(), MarkovSource::kStates);
        for (const std::size_t first : {1U, 2U, 3U})
            for (std::size_t current = 0; current < MarkovSource::kStates; ++current) {
                double sum = 0.0;
                std::size_t successors = 0;
                for (std::size_t next = 0; next < MarkovSource::kStates; ++next) {
                    const double p = source.probability(first, current, next);
                    sum += p;
                    successors += p > 0.0 ? 1 : 0;
                }
                QVERIFY(std::abs(sum - 1.0) < 1e-12);
                QCOMPARE(successors, MarkovSource::kSuccessors);
            }
    }

    // The reported perplexity is that of the text, recomputed here from the words.
    void scoresItsOwnText() {
        const MarkovSource source(7);
        const MarkovText text = source.generate(2, 5000);
        std::map<std::string, std::size_t> states;
        for (std::size_t i = 1; i < source.words().size(); ++i)
            states[source.words()[i]] = i;
        double sum = 0.0;
        std::size_t tokens = 0;
        for (const QByteArray& line : QByteArray::fromStdString(text.text).trimmed().split('\n')) {
            std::size_t first = 0;
            std::size_t current = 0;
            for (const QByteArray& word : line.split(' ')) {
                const std::size_t next = states.at(word.toStdString());
                sum += std::log(source.probability(first, current, next));
                first = current == 0 ? next : first;
                current = next;
                ++tokens;
            }
            sum += std::log(source.probability(first, current, 0));
            ++tokens;
        }
        QCOMPARE(text.tokens, tokens);
        QVERIFY(tokens >= 5000 && tokens < 5200);
        QVERIFY(std::abs(std::exp(-sum / static_cast<double>(tokens)) - text.perplexity) < 1e-9);
    }

    void corpusHasTheKnownNumbers_data() {
        QTest::addColumn<unsigned>("seed");
        for (const unsigned seed : {42U, 1U, 1000U})
            QTest::addRow("seed %u", seed) << seed;
    }
    void corpusHasTheKnownNumbers() {
        QFETCH(unsigned, seed);
        CorpusSource source;
        source.seed = seed;
        const auto corpus = loadCorpus(source);
        QCOMPARE(corpus->vocabulary.size(), std::size_t{300});
        QVERIFY(!corpus->unknownId);
        QVERIFY(corpus->train.size() >= 200000 && corpus->train.size() < 200200);
        QVERIFY(corpus->valid.size() >= 20000 && corpus->test.size() >= 20000);
        QVERIFY(corpus->valid != corpus->test);
        for (const double floor : {*corpus->entropyFloor, *corpus->entropyFloorValid})
            QVERIFY2(floor > 8.0 && floor < 9.0, qPrintable(QString::number(floor)));
        const double unigram = corpus->unigramPerplexity;
        QVERIFY2(unigram > 70.0 && unigram < 100.0, qPrintable(QString::number(unigram)));
        // A reader who has forgotten the first word is visibly worse, even one who saw the test
        // text.
        const double bigram = bigramPerplexity(corpus->train, corpus->train, 1.0);
        const double fair = bigramPerplexity(corpus->train, corpus->test, 0.5);
        QVERIFY2(bigram > 1.1 * *corpus->entropyFloor, qPrintable(QString::number(bigram)));
        QVERIFY2(fair > 1.12 * *corpus->entropyFloor, qPrintable(QString::number(fair)));
    }

    void frequenciesFallLikeZipfs() {
        const auto corpus = loadCorpus({});
        std::vector<double> counts(300, 0.0);
        for (const std::int32_t id : corpus->train)
            counts[static_cast<std::size_t>(id)] += 1.0;
        std::ranges::sort(counts, std::greater<>{});
        QVERIFY(counts[0] > 5.0 * counts[9] && counts[9] > 3.0 * counts[49]);
        QVERIFY(counts[49] > 3.0 * counts[199] && counts[299] >= 1.0);
    }

    void dependsOnTheSeedAlone() {
        CorpusSource source;
        const auto first = loadCorpus(source);
        QCOMPARE(loadCorpus(source)->hash, first->hash);
        source.seed = 43;
        const auto other = loadCorpus(source);
        QVERIFY(other->hash != first->hash);
        QVERIFY(other->vocabulary != first->vocabulary);
    }

    void floorIsLeftOutWhereItDoesNotHold() {
        CorpusSource source;
        source.vocabulary = 100;
        QVERIFY(!loadCorpus(source)->entropyFloor);
        source.vocabulary = 10000;
        source.unit = TokenUnit::Character;
        QVERIFY(!loadCorpus(source)->entropyFloor);
        source.unit = TokenUnit::Word;
        source.valid = GRADLAB_TEST_DATA "/tiny.valid.txt";
        const auto corpus = loadCorpus(source);
        QVERIFY(!corpus->entropyFloorValid);
        QVERIFY(corpus->unknownId);
    }
};

QTEST_GUILESS_MAIN(TestMarkovSource)
#include "test_markov_source.moc"
