// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A sentence drawn from the model, for people to read at each evaluation.
// Randomness: Philox, purpose Text, counter {step, 0, 0, …}: no other stream is touched.
#pragma once

#include "engine/data/corpus.h"
#include "engine/model/language_model.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gradlab::engine {

/// Starts behind an end of sentence, from a zero state of its own; ends before the next `<eos>` or
/// after `maxTokens`. Valid UTF-8 whatever the vocabulary holds; empty if the sentence ends at
/// once.
template <class T>
[[nodiscard]] std::string sampleSentence(LanguageModel<T>& model, std::span<const T> parameters,
                                         const Corpus& corpus, std::uint32_t seed,
                                         std::uint32_t step, std::size_t maxTokens = 25);

extern template std::string sampleSentence<float>(LanguageModel<float>&, std::span<const float>,
                                                  const Corpus&, std::uint32_t, std::uint32_t,
                                                  std::size_t);
extern template std::string sampleSentence<double>(LanguageModel<double>&, std::span<const double>,
                                                   const Corpus&, std::uint32_t, std::uint32_t,
                                                   std::size_t);

} // namespace gradlab::engine
