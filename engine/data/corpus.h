// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Text as token ids: three splits and the vocabulary of the training split. Immutable once loaded,
// shared by every run that uses it. Leaves out: making text (the programs turn Debian's packages
// into files).
#pragma once

#include "engine/core/export.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradlab::engine {

enum class TokenUnit { Word, Character };

/// Where text comes from; see the experiment's corpus.* fields.
struct CorpusSource {
    std::string source = "builtin:markov"; ///< builtin:markov, a text file, or a folder of splits
    std::string valid; ///< file that replaces the source's valid split, or empty
    std::string test;  ///< file that replaces the source's test split, or empty
    TokenUnit unit = TokenUnit::Word;
    std::size_t vocabulary = 10000; ///< cap, `<eos>` and `<unk>` counted; 0 = all
    std::uint32_t seed = 42;        ///< of the generated language
};

using TokenIds = std::vector<std::int32_t>;

struct Corpus {
    std::vector<std::string> vocabulary; ///< id → type
    TokenIds train;
    TokenIds valid;
    TokenIds test;
    std::string hash;               ///< XXH3-128 of vocabulary and splits, hex
    double unigramPerplexity = 0.0; ///< of the test split under the training split's frequencies
    double unigramPerplexityValid = 0.0;     ///< the same on the valid split
    std::optional<double> entropyFloor;      ///< generator's own perplexity on test, where known
    std::optional<double> entropyFloorValid; ///< the same on the valid split
    std::string description;                 ///< one line for people
    std::optional<std::int32_t> unknownId;
    std::int32_t endOfSentenceId = 0;
    TokenUnit unit = TokenUnit::Word;
    /// Of the test split, spaces between words and `<eos>` counted as one each; for bits per
    /// character.
    double charactersPerToken = 0.0;
};

/// Loads or generates. `progress` (may be empty) gets 0…1, in the calling thread.
/// @throws DataError naming file and line or byte; ExperimentError for an unknown builtin.
[[nodiscard]] GRADLAB_ENGINE_EXPORT std::shared_ptr<const Corpus>
loadCorpus(const CorpusSource& source, const std::function<void(double)>& progress = {});

} // namespace gradlab::engine
