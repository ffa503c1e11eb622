// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Tokens, ids, caps, splits, layouts, hashes and errors of corpora from files.
#include "engine/core/errors.h"
#include "engine/data/corpus.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <fstream>

using namespace gradlab::engine;
using std::string_literals::operator""s;

namespace {

class Folder {
public:
    std::string write(const std::string& name, const std::string& text) const {
        std::string path = this->path(name);
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    std::string path(const std::string& name) const {
        return folder_.filePath(QString::fromStdString(name)).toStdString();
    }

private:
    QTemporaryDir folder_;
};

/// Loads three texts as the three splits.
std::shared_ptr<const Corpus> load(const std::string& train, const std::string& valid,
                                   const std::string& test, std::size_t cap = 0,
                                   TokenUnit unit = TokenUnit::Word) {
    const Folder folder;
    CorpusSource source;
    source.source = folder.write("train", train);
    source.valid = folder.write("valid", valid);
    source.test = folder.write("test", test);
    source.vocabulary = cap;
    source.unit = unit;
    return loadCorpus(source);
}

std::string joined(const Corpus& corpus, const TokenIds& ids) {
    std::string text;
    for (const std::int32_t id : ids)
        text.append(text.empty() ? "" : " ")
            .append(corpus.vocabulary.at(static_cast<std::size_t>(id)));
    return text;
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words)
        text.append(text.empty() ? "" : " ").append(word);
    return text;
}

std::string errorOf(const CorpusSource& source) {
    try {
        (void)loadCorpus(source);
    } catch (const DataError& error) {
        return error.what();
    }
    return "";
}

std::string numberedLines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
        text.append("w").append(std::to_string(i)).append(" x\n");
    return text;
}

} // namespace

class TestCorpus : public QObject {
    Q_OBJECT

private slots:
    void readsTheOraclesText() {
        CorpusSource source;
        source.source = GRADLAB_TEST_DATA "/tiny.train.txt";
        source.valid = source.test = GRADLAB_TEST_DATA "/tiny.valid.txt";
        source.vocabulary = 0;
        const auto corpus = loadCorpus(source);
        QCOMPARE(corpus->vocabulary.size(), std::size_t{41});
        QCOMPARE(corpus->train.size(), std::size_t{2933 + 420});
        QCOMPARE(corpus->test.size(), std::size_t{416 + 60});
        QVERIFY(!corpus->unknownId);
        QVERIFY(corpus->valid == corpus->test);
        QCOMPARE(joined(*corpus, TokenIds(corpus->train.begin(), corpus->train.begin() + 9)),
                 "lon nera lola teto run vin lola <eos> neto"s);
        QVERIFY(TokenIds(corpus->train.begin(), corpus->train.begin() + 9) ==
                (TokenIds{0, 1, 2, 3, 4, 5, 2, 6, 7}));
        QCOMPARE(corpus->endOfSentenceId, 6);
        QVERIFY(corpus->unigramPerplexity > 20.0 && corpus->unigramPerplexity < 41.0);
    }

    void splitsAtAsciiWhiteSpaceOnly() {
        // U+00A0 is white space to some, not to the rule; blank lines and CR LF leave no token.
        const auto corpus = load("  a\tb\v\fc \r\n \t\r\n\r\nd\xC2\xA0"
                                 "e\nlast",
                                 "a a\n", "a\n\n\n");
        QCOMPARE(joined(*corpus, corpus->train), "a b c <eos> d\xC2\xA0"
                                                 "e <eos> last <eos>"s);
        QCOMPARE(joined(*corpus, corpus->test), "a <eos>"s);
        const auto marked = load("\xEF\xBB\xBF"
                                 "a b\n",
                                 "a\n", "a\n");
        QCOMPARE(joined(*marked, marked->train), "a b <eos>"s);
    }

    void unknownIsLastWhenAdded() {
        const auto unseen = load("b a\n", "b c\n", "a\n");
        QCOMPARE(joined(unseen->vocabulary), "b a <eos> <unk>"s);
        QCOMPARE(joined(*unseen, unseen->valid), "b <unk> <eos>"s);
        QCOMPARE(unseen->unknownId.value(), 3);
        const auto inTest = load("b a\n", "b\n", "c\n");
        QCOMPARE(inTest->unknownId.value(), 3);
        const auto none = load("b a\n", "b\n", "a\n");
        QVERIFY(!none->unknownId);
        QCOMPARE(none->vocabulary.size(), std::size_t{3});
    }

    void unknownOfTheTextKeepsItsPlace() {
        const auto corpus = load("b <unk> a\nc\n", "z\n", "a\n");
        QCOMPARE(joined(corpus->vocabulary), "b <unk> a <eos> c"s);
        QCOMPARE(corpus->unknownId.value(), 1);
        QCOMPARE(joined(*corpus, corpus->valid), "<unk> <eos>"s);
        // It stays whatever its frequency, and so does <eos>.
        const auto capped = load("a a a b b <unk>\n", "c\n", "a\n", 3);
        QCOMPARE(joined(capped->vocabulary), "a <unk> <eos>"s);
        QCOMPARE(joined(*capped, capped->train), "a a a <unk> <unk> <unk> <eos>"s);
    }

    void capKeepsTheMostFrequentAndTiesByFirstAppearance() {
        const std::string text = "r q q p p s\n s s t\n";
        const auto corpus = load(text, "s\n", "s\n", 5);
        // s 3, q 2, p 2, <eos> 2; r and t once. Five places: <eos>, <unk>, s, q, p.
        QCOMPARE(joined(corpus->vocabulary), "q p s <eos> <unk>"s);
        QCOMPARE(joined(load(text, "s\n", "s\n", 4)->vocabulary), "q s <eos> <unk>"s);
        QCOMPARE(joined(load(text, "s\n", "s\n", 2)->vocabulary), "<eos> <unk>"s);
        QCOMPARE(joined(load(text, "s\n", "s\n", 6)->vocabulary), "r q p s <eos> t"s);
    }

    void capCountsAnUnknownThatAnotherSplitNeeds() {
        const std::string text = "a a b b c\n";
        QCOMPARE(joined(load(text, "a\n", "a\n", 4)->vocabulary), "a b c <eos>"s);
        QCOMPARE(joined(load(text, "new\n", "a\n", 4)->vocabulary), "a b <eos> <unk>"s);
        QCOMPARE(joined(load(text, "new\n", "a\n", 5)->vocabulary), "a b c <eos> <unk>"s);
        QVERIFY_EXCEPTION_THROWN((void)load(text, "a\n", "a\n", 1), ExperimentError);
    }

    void charactersAreCodePoints() {
        const auto corpus = load("aé €\r\n\n𝄞a\n", "a\n", "é\n", 0, TokenUnit::Character);
        QCOMPARE(joined(*corpus, corpus->train), "a é   € <eos> 𝄞 a <eos>"s);
        QCOMPARE(corpus->vocabulary.size(), std::size_t{6});
        QVERIFY(corpus->charactersPerToken == 1.0);
    }

    void invalidUtf8IsNamedByLineAndByte_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("lone continuation") << QByteArray("\x80");
        QTest::newRow("cut") << QByteArray("\xE2\x82");
        QTest::newRow("overlong") << QByteArray("\xC0\xAF");
        QTest::newRow("overlong three") << QByteArray("\xE0\x80\xAF");
        QTest::newRow("surrogate") << QByteArray("\xED\xA0\x80");
        QTest::newRow("too large") << QByteArray("\xF4\x90\x80\x80");
        QTest::newRow("latin 1") << QByteArray("\xE9t\xE9");
    }
    void invalidUtf8IsNamedByLineAndByte() {
        QFETCH(QByteArray, bytes);
        const Folder folder;
        CorpusSource source;
        source.source = folder.write("bad", "first\n\nab" + bytes.toStdString() + "\nlast\n");
        source.valid = source.test = folder.write("good", "a\n");
        source.unit = TokenUnit::Character;
        const QString message = QString::fromStdString(errorOf(source));
        QVERIFY2(message.contains("bad line 3 (byte 3 of the line)"), qPrintable(message));
        // As words they are bytes like any others.
        source.unit = TokenUnit::Word;
        QCOMPARE(errorOf(source), ""s);
    }

    void oneFileGivesItsLastLines() {
        const Folder folder;
        CorpusSource source;
        source.source = folder.write("one.txt", "\n" + numberedLines(100) + "\n\n");
        const auto corpus = loadCorpus(source);
        QCOMPARE(corpus->train.size(), std::size_t{90 * 3});
        QCOMPARE(corpus->valid.size(), std::size_t{5 * 3});
        QCOMPARE(corpus->test.size(), std::size_t{5 * 3});
        QCOMPARE(corpus->vocabulary.at(corpus->vocabulary.size() - 2), "w89"s);
        // A split with a file of its own takes no lines.
        source.test = folder.write("test.txt", "w0 x\n");
        QCOMPARE(loadCorpus(source)->train.size(), std::size_t{95 * 3});
        source.valid = source.test;
        QCOMPARE(loadCorpus(source)->train.size(), std::size_t{100 * 3});
        // Short files still give a line to each.
        source = {};
        source.source = folder.write("short.txt", numberedLines(3));
        QCOMPARE(loadCorpus(source)->test.size(), std::size_t{3});
        source.source = folder.write("shorter.txt", numberedLines(2));
        QVERIFY(errorOf(source).find("too little text") != std::string::npos);
    }

    void foldersOfEveryLayout_data() {
        QTest::addColumn<QString>("pattern");
        for (const char* pattern : {"%1.txt", "ptb.%1.txt", "wiki.%1.tokens", "wiki.%1.raw"})
            QTest::newRow(pattern) << pattern;
    }
    void foldersOfEveryLayout() {
        QFETCH(QString, pattern);
        const Folder folder;
        CorpusSource source;
        source.source = folder.path("d");
        const auto write = [&](const char* split, const char* text) {
            folder.write("d/" + pattern.arg(split).toStdString(), text);
        };
        write("train", "a b c\n");
        QVERIFY(errorOf(source).find("no valid split") != std::string::npos);
        write("valid", "b\n");
        QVERIFY(errorOf(source).find("no test split") != std::string::npos);
        write("test", "c\n");
        const auto corpus = loadCorpus(source);
        QCOMPARE(joined(*corpus, corpus->train), "a b c <eos>"s);
        QCOMPARE(joined(*corpus, corpus->valid), "b <eos>"s);
        QCOMPARE(joined(*corpus, corpus->test), "c <eos>"s);
        source.valid = folder.write("other", "a a\n");
        const auto replaced = loadCorpus(source);
        QCOMPARE(joined(*replaced, replaced->valid), "a a <eos>"s);
        QVERIFY(replaced->hash != corpus->hash);
    }

    void badFilesAreNamed() {
        const Folder folder;
        const auto complaint = [](const std::string& path) {
            CorpusSource source;
            source.source = path;
            return QString::fromStdString(errorOf(source));
        };
        QVERIFY(complaint(folder.path("none")).contains("none; check the path"));
        QVERIFY(complaint(folder.write("empty", "")).contains("the file is empty"));
        QVERIFY(complaint(folder.write("blank", " \n\t\n")).contains("the file is empty"));
        QVERIFY(complaint(folder.path("")).contains("no train split"));
        QVERIFY(complaint("/dev/zero").contains("not a regular file"));
        const QString zero = complaint(folder.write("binary", "a\nb\0c\n"s));
        QVERIFY2(zero.contains("binary line 2 (byte 3); "), qPrintable(zero));
        CorpusSource source;
        source.source = folder.write("good", numberedLines(50));
        source.valid = folder.path("");
        QVERIFY(errorOf(source).find("not a regular file") != std::string::npos);
        source.valid.clear();
        source.source = "builtin:nothing";
        try {
            (void)loadCorpus(source);
            QFAIL("no error");
        } catch (const ExperimentError& error) {
            QCOMPARE(error.field(), "corpus.source"s);
        }
    }

    void hashIsStableAndSeesEverything() {
        const auto corpus = load("a b\nc\n", "a\n", "b\n");
        QCOMPARE(corpus->hash.size(), std::size_t{32});
        // The hash guards resumed runs, so it may not change from one version to the next.
        QCOMPARE(corpus->hash, "219d9581238eeefd29a2bd150d24ebf4"s);
        QCOMPARE(load("a b\nc\n", "a\n", "b\n")->hash, corpus->hash);
        QVERIFY(load("a b\nd\n", "a\n", "b\n")->hash != corpus->hash);
        QVERIFY(load("a b\nc\n", "b\n", "b\n")->hash != corpus->hash);
        QVERIFY(load("a b\nc\n", "a\n", "a\n")->hash != corpus->hash);
    }

    void unigramPerplexityIsThatOfTrainingFrequencies() {
        const auto corpus = load("a a b\n", "a\n", "b a\n");
        // P(a) = 2/4, P(b) = P(<eos>) = 1/4.
        QVERIFY(std::abs(corpus->unigramPerplexity - std::pow(32.0, 1.0 / 3.0)) < 1e-12);
        QVERIFY(std::abs(corpus->unigramPerplexityValid - std::sqrt(8.0)) < 1e-12);
        // A <unk> without training tokens counts once: P(<unk>) = 1/5.
        const auto unknown = load("a a b\n", "a\n", "new\n");
        QVERIFY(std::abs(unknown->unigramPerplexity - 5.0) < 1e-12);
    }

    void charactersPerTokenCountsSpacesAndLineEnds() {
        // "é bcd" and its end: 6 characters, "x": 2; tokens é bcd <eos> x <eos>.
        const auto corpus = load("a\n", "a\n", " é  bcd \nx\n");
        QVERIFY(std::abs(corpus->charactersPerToken - 8.0 / 5.0) < 1e-12);
    }

    void progressRunsFromZeroToOne() {
        const Folder folder;
        CorpusSource source;
        source.source = folder.write("one.txt", numberedLines(50));
        std::vector<double> shares;
        (void)loadCorpus(source, [&](double share) { shares.push_back(share); });
        QVERIFY(shares.front() == 0.0 && shares.back() == 1.0);
        QVERIFY(std::ranges::is_sorted(shares));
    }
};

QTEST_GUILESS_MAIN(TestCorpus)
#include "test_corpus.moc"
