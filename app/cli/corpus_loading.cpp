// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/corpus_loading.h"

#include "app/cli/kjv_text.h"

#include <memory>
#include <mutex>
#include <tuple>

namespace gradlab::app {

namespace {

using Corpus = std::shared_ptr<const engine::Corpus>;

engine::CorpusSource sourceOf(const engine::CorpusSettings& settings) {
    engine::CorpusSource source;
    source.source = settings.source == "builtin:kjv" ? kjvTextFile().string() : settings.source;
    source.valid = settings.valid;
    source.test = settings.test;
    source.unit = settings.unit == "char" ? engine::TokenUnit::Character : engine::TokenUnit::Word;
    source.vocabulary = static_cast<std::size_t>(settings.vocabulary);
    return source;
}

/// The last corpus, as long as somebody uses it, and what it was made from.
class LastCorpus {
public:
    Corpus load(const engine::CorpusSettings& settings,
                const std::function<void(double)>& progress) {
        const std::lock_guard lock(mutex_);
        if (Corpus held = corpus_.lock(); held != nullptr && same(settings))
            return held;
        Corpus corpus = engine::loadCorpus(sourceOf(settings), progress);
        corpus_ = corpus;
        settings_ = settings;
        return corpus;
    }

private:
    [[nodiscard]] bool same(const engine::CorpusSettings& other) const {
        const auto key = [](const engine::CorpusSettings& s) {
            return std::tie(s.source, s.valid, s.test, s.unit, s.vocabulary);
        };
        return key(settings_) == key(other);
    }

    std::mutex
        mutex_; ///< guards both below, also while loading: a second caller waits for the first
    engine::CorpusSettings settings_;
    std::weak_ptr<const engine::Corpus> corpus_;
};

} // namespace

engine::CorpusLoader makeCorpusLoader() {
    const auto last = std::make_shared<LastCorpus>();
    return [last](const engine::CorpusSettings& settings,
                  const std::function<void(double)>& progress) {
        return last->load(settings, progress);
    };
}

} // namespace gradlab::app
