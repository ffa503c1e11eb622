// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Which types get which id. The rule:
//   a line's tokens are its words (between ASCII white space) or its code points, then `<eos>`;
//   the N most frequent types of the training split stay, `<eos>` and `<unk>` counted, ties by
//   first appearance; ids by first appearance in the training split;
//   `<unk>` exists if the training text has it (it keeps that place), or the cap cuts, or another
//   split has an unseen type: then it is the last id.
// Types point into the lines' memory, which must outlive the builder.
#pragma once

#include "engine/data/corpus.h"
#include "engine/data/text_file.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gradlab::engine {

inline constexpr std::string_view kEndOfSentence = "<eos>";
inline constexpr std::string_view kUnknown = "<unk>";

/// A vocabulary and the splits in its ids.
struct EncodedSplits {
    std::vector<std::string> vocabulary;
    TokenIds train;
    TokenIds valid;
    TokenIds test;
    std::int32_t endOfSentenceId = 0;
    std::optional<std::int32_t> unknownId;
};

/// The lines of a split, and the file's name for messages.
struct SplitLines {
    std::span<const TextLine> lines;
    std::string file;
};

/// `cap` as CorpusSource::vocabulary: 0 = all, else ≥ 2.
/// @throws DataError naming file, line and byte where characters are not valid UTF-8.
[[nodiscard]] EncodedSplits encodeSplits(const SplitLines& train, const SplitLines& valid,
                                         const SplitLines& test, TokenUnit unit, std::size_t cap);

} // namespace gradlab::engine
