// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/text_sampler.h"

#include "engine/core/check.h"
#include "engine/core/random.h"
#include "engine/data/text_file.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace gradlab::engine {
namespace {

/// Draws from softmax(logits); `uniform` in [0, 1). Numbers that are not finite end the sentence.
template <class T>
std::int32_t draw(std::span<const T> logits, float uniform, std::int32_t endOfSentence) {
    const auto max = static_cast<double>(*std::ranges::max_element(logits));
    double total = 0.0;
    for (const T logit : logits)
        total += std::exp(static_cast<double>(logit) - max);
    if (!std::isfinite(total))
        return endOfSentence;
    double left = static_cast<double>(uniform) * total;
    for (std::size_t i = 0; i + 1 < logits.size(); ++i) {
        left -= std::exp(static_cast<double>(logits[i]) - max);
        if (left < 0.0)
            return static_cast<std::int32_t>(i);
    }
    return static_cast<std::int32_t>(logits.size() - 1);
}

/// Appends `type`, each byte that is not UTF-8 as U+FFFD: words are bytes, logs and windows want
/// text.
void appendText(std::string& sentence, std::string_view type) {
    while (!type.empty()) {
        const std::size_t bytes = codePointBytes(type);
        sentence += bytes == 0 ? std::string_view("\xEF\xBF\xBD") : type.substr(0, bytes);
        type.remove_prefix(std::max<std::size_t>(1, bytes));
    }
}

} // namespace

template <class T>
std::string sampleSentence(LanguageModel<T>& model, std::span<const T> parameters,
                           const Corpus& corpus, std::uint32_t seed, std::uint32_t step,
                           std::size_t maxTokens) {
    const ModelShape& shape = model.shape();
    GRADLAB_CHECK(corpus.vocabulary.size() == shape.vocabulary, corpus.vocabulary.size(),
                  shape.vocabulary);
    std::vector<T> h(shape.layers * shape.hidden);
    std::vector<T> c(h.size());
    std::vector<T> logits(shape.vocabulary);
    RandomStream random(seed, RandomPurpose::Text, step, 0, 0);
    const std::string_view separator = corpus.unit == TokenUnit::Character ? "" : " ";
    std::int32_t token = corpus.endOfSentenceId;
    std::string sentence;
    for (std::size_t i = 0; i < maxTokens; ++i) {
        const std::span<const std::int32_t> input(&token, 1);
        model.logits(parameters, {input, input, 1, 1}, {h, c}, logits);
        token = draw<T>(logits, random.uniform(), corpus.endOfSentenceId);
        if (token == corpus.endOfSentenceId)
            break;
        if (!sentence.empty())
            sentence += separator;
        appendText(sentence, corpus.vocabulary[static_cast<std::size_t>(token)]);
    }
    return sentence;
}

template std::string sampleSentence<float>(LanguageModel<float>&, std::span<const float>,
                                           const Corpus&, std::uint32_t, std::uint32_t,
                                           std::size_t);
template std::string sampleSentence<double>(LanguageModel<double>&, std::span<const double>,
                                            const Corpus&, std::uint32_t, std::uint32_t,
                                            std::size_t);

} // namespace gradlab::engine
