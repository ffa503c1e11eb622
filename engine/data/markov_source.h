// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A generated language whose best possible perplexity is known, because the text is drawn from it.
//   300 states, state 0 the end of a sentence. A word has twelve successors, the end among them;
//   words are successors about as often as Zipf's law asks. The first word of a sentence decides
//   which of three chains the sentence follows: chain k favours the successors of kind k (word
//   number mod 3), so a reader who has forgotten the first word predicts worse.
// Randomness: Philox, purpose Corpus; lane 0 the language, lane ≥ 1 a split. Leaves out: token ids.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradlab::engine {

class RandomStream;

/// One split: sentences, one a line, and what its own source scores on it.
struct MarkovText {
    std::string text;
    std::size_t tokens = 0;  ///< words and ends of sentences
    double perplexity = 0.0; ///< exp(−mean log P(token | sentence so far)) under the source
};

class MarkovSource {
public:
    static constexpr std::size_t kStates = 300;
    static constexpr std::size_t kSuccessors = 12;
    static constexpr std::size_t kChains = 3;

    explicit MarkovSource(std::uint32_t seed);

    /// Whole sentences until there are at least `tokens`; `lane` ≥ 1 tells splits apart.
    [[nodiscard]] MarkovText generate(std::uint32_t lane, std::size_t tokens) const;
    /// P(next | the sentence began with `first` and is now at `current`); at its start both are 0.
    [[nodiscard]] double probability(std::size_t first, std::size_t current,
                                     std::size_t next) const;
    /// Spelling of each state; empty for state 0.
    [[nodiscard]] const std::vector<std::string>& words() const noexcept { return words_; }

private:
    struct Row {
        std::vector<std::size_t> successors;                  ///< ascending, the end first
        std::array<std::vector<double>, kChains> probability; ///< of each successor, by chain
    };
    void chooseSuccessors(RandomStream& random);
    void weighSuccessors();

    std::uint32_t seed_;
    std::vector<std::string> words_;
    std::vector<Row> rows_; ///< by state
};

} // namespace gradlab::engine
