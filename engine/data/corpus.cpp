// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/corpus.h"

#include "engine/core/errors.h"
#include "engine/data/markov_source.h"
#include "engine/data/text_file.h"
#include "engine/data/vocabulary.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace gradlab::engine {
namespace {

constexpr std::string_view kBuiltinPrefix = "builtin:";
constexpr std::size_t kMarkovTrainTokens = 200'000;
constexpr std::size_t kMarkovHeldOutTokens = 20'000; // each of valid and test
constexpr std::size_t kHeldOutDivisor = 20;          // 5 % of one file's lines

/// A split's text and where it came from; `floor` where the source knows it. Stays where it is:
/// lines point into texts, and a short text moves with its string.
struct SplitText {
    SplitText() = default;
    SplitText(const SplitText&) = delete;
    SplitText& operator=(const SplitText&) = delete;

    void set(std::string newText, std::string newName, std::optional<double> newFloor) {
        text = std::move(newText);
        name = std::move(newName);
        floor = newFloor;
        lines = nonBlankLines(text);
    }
    void read(const std::filesystem::path& path) { set(readTextFile(path), path.string(), {}); }

    std::string text;
    std::string name;
    std::vector<TextLine> lines; ///< into this or another split's text
    std::optional<double> floor;
};

struct Splits {
    SplitText train;
    SplitText valid;
    SplitText test;
    std::string description;
};

void generateMarkov(Splits& splits, std::uint32_t seed) {
    const MarkovSource source(seed);
    const auto make = [&](SplitText& split, std::uint32_t lane, std::size_t tokens) {
        MarkovText generated = source.generate(lane, tokens);
        split.set(std::move(generated.text), "builtin:markov", generated.perplexity);
    };
    make(splits.train, 1, kMarkovTrainTokens);
    make(splits.valid, 2, kMarkovHeldOutTokens);
    make(splits.test, 3, kMarkovHeldOutTokens);
    splits.description = "generated language of " + std::to_string(MarkovSource::kStates) +
                         " words, seed " + std::to_string(seed);
}

/// The file of one split in a folder, in any of the known layouts; empty if there is none.
std::filesystem::path findSplit(const std::filesystem::path& folder, const std::string& split) {
    for (const std::string& name : {split + ".txt", "ptb." + split + ".txt",
                                    "wiki." + split + ".tokens", "wiki." + split + ".raw"})
        if (std::filesystem::exists(folder / name))
            return folder / name;
    return {};
}

void readFolder(Splits& splits, const CorpusSource& source) {
    const std::filesystem::path folder = source.source;
    const auto read = [&](SplitText& split, const char* name) {
        const auto path = findSplit(folder, name);
        if (path.empty())
            throw DataError("no " + std::string(name) +
                            " split is in the folder: " + folder.string() + "; put " + name +
                            ".txt, ptb." + name + ".txt or wiki." + name + ".tokens into it");
        split.read(path);
    };
    read(splits.train, "train");
    if (source.valid.empty())
        read(splits.valid, "valid");
    if (source.test.empty())
        read(splits.test, "test");
    splits.description = folder.string();
}

/// Takes the last `count` lines of train.
void cutTail(SplitText& train, SplitText& split, std::size_t count) {
    const auto first = train.lines.end() - static_cast<std::ptrdiff_t>(count);
    split.lines.assign(first, train.lines.end());
    split.name = train.name;
    train.lines.erase(first, train.lines.end());
}

/// One file: its last lines are the test split, those before valid; a split that has a file of its
/// own takes none.
void readSingleFile(Splits& splits, const CorpusSource& source) {
    splits.train.read(source.source);
    splits.description = source.source;
    const std::size_t lines = splits.train.lines.size();
    const std::size_t each = std::max<std::size_t>(1, lines / kHeldOutDivisor);
    const std::size_t cuts = (source.test.empty() ? 1U : 0U) + (source.valid.empty() ? 1U : 0U);
    if (lines <= cuts * each)
        throw DataError("too little text (" + std::to_string(lines) +
                        " lines, too few to set some apart): " + source.source +
                        "; give more text, or valid and test files");
    if (source.test.empty())
        cutTail(splits.train, splits.test, each);
    if (source.valid.empty())
        cutTail(splits.train, splits.valid, each);
}

void readSource(Splits& splits, const CorpusSource& source) {
    if (source.source == "builtin:markov")
        return generateMarkov(splits, source.seed);
    if (std::string_view(source.source).starts_with(kBuiltinPrefix))
        throw ExperimentError("corpus.source", "no such built-in text: corpus.source " +
                                                   source.source +
                                                   "; give builtin:markov, a text file or a "
                                                   "folder of splits");
    std::error_code ignored;
    if (std::filesystem::is_directory(source.source, ignored))
        return readFolder(splits, source);
    readSingleFile(splits, source);
}

/// Perplexity of `ids` under the training split's frequencies. Every id counts at least once:
/// `<unk>` may have no training tokens.
double unigramPerplexity(const TokenIds& train, const TokenIds& ids, std::size_t vocabulary) {
    std::vector<double> counts(vocabulary, 0.0);
    for (const std::int32_t id : train)
        counts[static_cast<std::size_t>(id)] += 1.0;
    double total = 0.0;
    for (double& count : counts)
        total += count = std::max(count, 1.0);
    double sum = 0.0;
    for (const std::int32_t id : ids)
        sum -= std::log(counts[static_cast<std::size_t>(id)] / total);
    return std::exp(sum / static_cast<double>(ids.size()));
}

/// Code points of the lines, their ends and the single spaces between words, a token.
double charactersPerToken(const std::vector<TextLine>& lines, TokenUnit unit, std::size_t tokens) {
    if (unit == TokenUnit::Character)
        return 1.0;
    std::size_t characters = 0;
    for (const TextLine& line : lines) {
        bool inWord = false;
        for (const char c : line.text) {
            const bool space = isAsciiSpace(c);
            // A word's end stands for the space or the line's end behind it.
            characters += !space && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
            characters += space && inWord ? 1 : 0;
            inWord = !space;
        }
        characters += inWord ? 1 : 0;
    }
    return static_cast<double>(characters) / static_cast<double>(tokens);
}

std::string hashOf(const Corpus& corpus) {
    XXH3_state_t* const state = XXH3_createState();
    XXH3_128bits_reset(state);
    // Lengths first, so that no two corpora share one sequence of bytes.
    const auto add = [&](const void* bytes, std::uint64_t size) {
        XXH3_128bits_update(state, &size, sizeof size);
        XXH3_128bits_update(state, bytes, size);
    };
    for (const std::string& type : corpus.vocabulary)
        add(type.data(), type.size());
    for (const TokenIds* ids : {&corpus.train, &corpus.valid, &corpus.test})
        add(ids->data(), ids->size() * sizeof(std::int32_t));
    const XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    std::string text;
    for (const std::uint64_t half : {hash.high64, hash.low64})
        for (int shift = 60; shift >= 0; shift -= 4)
            text += "0123456789abcdef"[(half >> shift) & 15U];
    return text;
}

void checkTokens(const TokenIds& ids, const char* split, const std::string& name) {
    constexpr std::size_t kFewest = 2; // one to read, one to predict
    if (ids.size() < kFewest)
        throw DataError("too little text (the " + std::string(split) + " split has " +
                        std::to_string(ids.size()) + " tokens): " + name + "; give more text");
}

} // namespace

std::shared_ptr<const Corpus> loadCorpus(const CorpusSource& source,
                                         const std::function<void(double)>& progress) {
    const auto report = [&](double share) {
        if (progress)
            progress(share);
    };
    report(0.0);
    Splits splits;
    readSource(splits, source);
    if (!source.valid.empty())
        splits.valid.read(source.valid);
    if (!source.test.empty())
        splits.test.read(source.test);
    report(0.4);
    EncodedSplits encoded = encodeSplits(
        {splits.train.lines, splits.train.name}, {splits.valid.lines, splits.valid.name},
        {splits.test.lines, splits.test.name}, source.unit, source.vocabulary);
    checkTokens(encoded.train, "train", splits.train.name);
    checkTokens(encoded.valid, "valid", splits.valid.name);
    checkTokens(encoded.test, "test", splits.test.name);
    report(0.8);
    auto corpus = std::make_shared<Corpus>();
    corpus->vocabulary = std::move(encoded.vocabulary);
    corpus->train = std::move(encoded.train);
    corpus->valid = std::move(encoded.valid);
    corpus->test = std::move(encoded.test);
    corpus->unknownId = encoded.unknownId;
    corpus->unit = source.unit;
    corpus->endOfSentenceId = encoded.endOfSentenceId;
    corpus->hash = hashOf(*corpus);
    corpus->description = splits.description;
    const std::size_t types = corpus->vocabulary.size();
    corpus->unigramPerplexity = unigramPerplexity(corpus->train, corpus->test, types);
    corpus->unigramPerplexityValid = unigramPerplexity(corpus->train, corpus->valid, types);
    corpus->charactersPerToken =
        charactersPerToken(splits.test.lines, source.unit, corpus->test.size());
    // The source's perplexity holds for its words; letters, or words merged into <unk>, have
    // another.
    if (source.unit == TokenUnit::Word && !corpus->unknownId) {
        corpus->entropyFloor = splits.test.floor;
        corpus->entropyFloorValid = splits.valid.floor;
    }
    report(1.0);
    return corpus;
}

} // namespace gradlab::engine
