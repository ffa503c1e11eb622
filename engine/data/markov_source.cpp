// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/markov_source.h"

#include "engine/core/random.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace gradlab::engine {
namespace {

// Chosen so that for any seed the source's own perplexity is 8 to 9 and word frequencies alone give
// about 80. A larger boost or steeper ranks lower both.
constexpr double kZipfOffset = 2.0;     // weight of word w as a successor: 1 / (w + offset)
constexpr double kRankExponent = 0.7;   // weight of a row's r-th successor: 1 / r^exponent
constexpr double kChainBoost = 5.0;     // factor on successors of the chain's own kind
constexpr double kEndProbability = 0.1; // sentences of ten words on average
// Words from here on are each given to one of the frequent rows, two of a kind a row: all words
// occur.
constexpr std::size_t kFirstRareWord = 20;
constexpr std::size_t kKind = MarkovSource::kChains;

double uniform53(RandomStream& random) {
    const std::uint64_t high = random.word();
    const std::uint64_t low = random.word();
    return static_cast<double>(((high << 32) | low) >> 11) * 0x1p-53;
}

/// Index drawn with probability proportional to weight.
std::size_t draw(RandomStream& random, const std::vector<double>& weights) {
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double left = uniform53(random) * total;
    for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
        left -= weights[i];
        if (left < 0.0)
            return i;
    }
    return weights.size() - 1;
}

void shuffle(RandomStream& random, std::vector<std::size_t>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
        std::swap(values[i - 1], values[random.below(static_cast<std::uint32_t>(i))]);
}

std::string syllable(RandomStream& random, bool closed) {
    static constexpr std::array<std::string_view, 20> kOnsets = {
        "b", "d", "f", "g", "h",  "k",  "l",  "m",  "n",  "p",
        "r", "s", "t", "v", "sh", "br", "tr", "st", "pl", "gr"};
    static constexpr std::array<std::string_view, 7> kVowels = {"a", "e",  "i", "o",
                                                                "u", "ai", "ou"};
    static constexpr std::array<std::string_view, 6> kCodas = {"n", "r", "l", "s", "m", "t"};
    std::string text(kOnsets[random.below(kOnsets.size())]);
    text += kVowels[random.below(kVowels.size())];
    if (closed)
        text += kCodas[random.below(kCodas.size())];
    return text;
}

/// Distinct words that can be spoken; frequent ones are short, as in languages.
std::vector<std::string> spellWords(RandomStream& random, std::size_t states) {
    constexpr std::size_t kShortWords = 40;
    std::vector<std::string> words(1);
    std::unordered_set<std::string> used;
    while (words.size() < states) {
        std::string word = syllable(random, random.below(2) == 0);
        if (words.size() > kShortWords)
            word += syllable(random, random.below(2) == 0);
        if (used.insert(word).second)
            words.push_back(std::move(word));
    }
    return words;
}

} // namespace

MarkovSource::MarkovSource(std::uint32_t seed) : seed_(seed), rows_(kStates) {
    RandomStream structure(seed, RandomPurpose::Corpus, 0, 0, 0);
    RandomStream spelling(seed, RandomPurpose::Corpus, 0, 0, 1);
    words_ = spellWords(spelling, kStates);
    chooseSuccessors(structure);
    weighSuccessors();
}

void MarkovSource::chooseSuccessors(RandomStream& random) {
    for (std::size_t state = 1; state < kStates; ++state)
        rows_[state].successors.push_back(0);
    for (std::size_t kind = 0; kind < kKind; ++kind) {
        std::vector<std::size_t> words;
        std::vector<std::size_t> rare;
        std::vector<double> weights;
        for (std::size_t word = 1; word < kStates; ++word) {
            if (word % kKind != kind)
                continue;
            words.push_back(word);
            weights.push_back(1.0 / (static_cast<double>(word) + kZipfOffset));
            if (word >= kFirstRareWord)
                rare.push_back(word);
        }
        shuffle(random, rare);
        for (std::size_t state = 0; state < kStates; ++state) {
            auto& list = rows_[state].successors;
            // Four of each kind; the end takes one place among the word's own kind.
            const bool full = state == 0 || state % kKind != kind;
            const std::size_t end = list.size() + kSuccessors / kKind - (full ? 0 : 1);
            const auto add = [&](std::size_t word) {
                if (word != state && std::ranges::find(list, word) == list.end())
                    list.push_back(word);
            };
            for (std::size_t i = 2 * state; state > 0 && i < 2 * state + 2; ++i)
                if (i - 2 < rare.size())
                    add(rare[i - 2]);
            while (list.size() < end)
                add(words[draw(random, weights)]);
        }
    }
}

void MarkovSource::weighSuccessors() {
    for (std::size_t state = 0; state < kStates; ++state) {
        Row& row = rows_[state];
        std::ranges::sort(row.successors);
        for (std::size_t chain = 0; chain < kChains; ++chain) {
            std::vector<double>& weights = row.probability[chain];
            double total = 0.0;
            double rank = 0.0;
            for (const std::size_t next : row.successors) {
                // Before the first word no chain has been chosen yet.
                const bool favoured = state != 0 && next % kKind == chain;
                rank += next == 0 ? 0.0 : 1.0;
                weights.push_back(next == 0 ? 0.0
                                            : (favoured ? kChainBoost : 1.0) /
                                                  std::pow(rank, kRankExponent));
                total += weights.back();
            }
            for (double& weight : weights)
                weight *= (state == 0 ? 1.0 : 1.0 - kEndProbability) / total;
            if (state != 0)
                weights.front() = kEndProbability;
        }
    }
}

double MarkovSource::probability(std::size_t first, std::size_t current, std::size_t next) const {
    const Row& row = rows_[current];
    const auto found = std::ranges::lower_bound(row.successors, next);
    if (found == row.successors.end() || *found != next)
        return 0.0;
    return row
        .probability[first % kChains][static_cast<std::size_t>(found - row.successors.begin())];
}

MarkovText MarkovSource::generate(std::uint32_t lane, std::size_t tokens) const {
    RandomStream random(seed_, RandomPurpose::Corpus, 0, lane, 0);
    MarkovText result;
    double sum = 0.0;
    std::size_t first = 0;
    std::size_t current = 0;
    while (result.tokens < tokens || current != 0) {
        const Row& row = rows_[current];
        const std::vector<double>& probability = row.probability[first % kChains];
        const std::size_t choice = draw(random, probability);
        const std::size_t next = row.successors[choice];
        sum += std::log(probability[choice]);
        ++result.tokens;
        if (next == 0) {
            result.text.back() = '\n';
            first = 0;
        } else {
            first = current == 0 ? next : first;
            result.text += words_[next];
            result.text += ' ';
        }
        current = next;
    }
    result.perplexity = std::exp(-sum / static_cast<double>(result.tokens));
    return result;
}

} // namespace gradlab::engine
