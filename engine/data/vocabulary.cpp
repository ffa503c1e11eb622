// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/data/vocabulary.h"

#include "engine/core/errors.h"

#include <algorithm>
#include <numeric>

namespace gradlab::engine {
namespace {

constexpr std::int32_t kUnseen = -1;

/// Calls token(text) for each token of a line except `<eos>`.
template <class Token>
void forWords(std::string_view line, const Token& token) {
    std::size_t i = 0;
    while (i < line.size()) {
        while (i < line.size() && isAsciiSpace(line[i]))
            ++i;
        const std::size_t begin = i;
        while (i < line.size() && !isAsciiSpace(line[i]))
            ++i;
        if (i > begin)
            token(line.substr(begin, i - begin));
    }
}

template <class Token>
void forCharacters(const TextLine& line, const std::string& file, const Token& token) {
    std::string_view rest = line.text;
    while (!rest.empty()) {
        const std::size_t bytes = codePointBytes(rest);
        if (bytes == 0)
            throw DataError("not valid UTF-8: " + file + " line " + std::to_string(line.number) +
                            " (byte " + std::to_string(line.text.size() - rest.size() + 1) +
                            " of the line); convert the text or use unit word");
        token(rest.substr(0, bytes));
        rest.remove_prefix(bytes);
    }
}

/// Types in the order of their first appearance, with counts.
class TypeTable {
public:
    /// Adds unseen types.
    [[nodiscard]] std::int32_t count(std::string_view type) {
        const auto [place, added] =
            ids_.try_emplace(type, static_cast<std::int32_t>(types_.size()));
        if (added) {
            types_.push_back(type);
            counts_.push_back(0);
        }
        ++counts_[static_cast<std::size_t>(place->second)];
        return place->second;
    }
    [[nodiscard]] std::int32_t find(std::string_view type) const {
        const auto found = ids_.find(type);
        return found == ids_.end() ? kUnseen : found->second;
    }
    [[nodiscard]] const std::vector<std::string_view>& types() const noexcept { return types_; }
    [[nodiscard]] std::size_t countOf(std::size_t id) const noexcept { return counts_[id]; }

private:
    std::unordered_map<std::string_view, std::int32_t> ids_;
    std::vector<std::string_view> types_;
    std::vector<std::size_t> counts_;
};

template <class Lookup>
TokenIds encode(const SplitLines& split, TokenUnit unit, const Lookup& lookup) {
    TokenIds ids;
    for (const TextLine& line : split.lines) {
        const auto token = [&](std::string_view text) { ids.push_back(lookup(text)); };
        if (unit == TokenUnit::Word)
            forWords(line.text, token);
        else
            forCharacters(line, split.file, token);
        token(kEndOfSentence);
    }
    return ids;
}

/// Which types stay. `<eos>` and a `<unk>` of the text always do.
std::vector<bool> mostFrequent(const TypeTable& table, std::size_t places) {
    const auto special = [&](std::size_t id) {
        return table.types()[id] == kEndOfSentence || table.types()[id] == kUnknown;
    };
    std::vector<std::size_t> order(table.types().size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        if (special(a) != special(b))
            return special(a);
        return table.countOf(a) > table.countOf(b);
    });
    std::vector<bool> kept(order.size(), false);
    for (std::size_t i = 0; i < std::min(places, order.size()); ++i)
        kept[order[i]] = true;
    return kept;
}

void remap(TokenIds& ids, const std::vector<std::int32_t>& places, std::int32_t unknown) {
    for (std::int32_t& id : ids) {
        const std::int32_t place = id == kUnseen ? kUnseen : places[static_cast<std::size_t>(id)];
        id = place == kUnseen ? unknown : place;
    }
}

} // namespace

EncodedSplits encodeSplits(const SplitLines& train, const SplitLines& valid, const SplitLines& test,
                           TokenUnit unit, std::size_t cap) {
    if (cap == 1)
        throw ExperimentError("corpus.vocabulary",
                              "no room for a word: corpus.vocabulary 1; give 0, or 2 and more");
    TypeTable table;
    EncodedSplits result;
    result.train = encode(train, unit, [&](std::string_view type) { return table.count(type); });
    const auto find = [&](std::string_view type) { return table.find(type); };
    result.valid = encode(valid, unit, find);
    result.test = encode(test, unit, find);

    const std::size_t types = table.types().size();
    const bool inText = table.find(kUnknown) != kUnseen;
    const auto unseen = [](const TokenIds& ids) {
        return std::ranges::find(ids, kUnseen) != ids.end();
    };
    const bool cut = cap != 0 && types > cap;
    const bool added = !inText && (cut || unseen(result.valid) || unseen(result.test));
    const std::size_t places = cap == 0 ? types : cap - (added ? 1 : 0);
    const std::vector<bool> kept = mostFrequent(table, places);
    std::vector<std::int32_t> placeOf(types, kUnseen);
    for (std::size_t id = 0; id < types; ++id) {
        if (!kept[id])
            continue;
        placeOf[id] = static_cast<std::int32_t>(result.vocabulary.size());
        result.vocabulary.emplace_back(table.types()[id]);
    }
    if (added)
        result.vocabulary.emplace_back(kUnknown);
    if (inText)
        result.unknownId = placeOf[static_cast<std::size_t>(table.find(kUnknown))];
    else if (added)
        result.unknownId = static_cast<std::int32_t>(result.vocabulary.size() - 1);
    result.endOfSentenceId = placeOf[static_cast<std::size_t>(table.find(kEndOfSentence))];
    for (TokenIds* ids : {&result.train, &result.valid, &result.test})
        remap(*ids, placeOf, result.unknownId.value_or(kUnseen));
    return result;
}

} // namespace gradlab::engine
