// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// A model that makes thousands of steps a second, for tests of sessions and windows: the engine and
// the exchange are the real ones, the text is tests/data/tiny.*.txt.
#pragma once

#include "tests/support/run_training.h"

namespace gradlab::tests {

inline engine::Experiment smallExperiment(const std::string& name = "Small",
                                          std::int64_t steps = 0) {
    engine::Experiment experiment = engine::defaultExperiment();
    const std::string data = GRADLAB_TEST_DATA;
    experiment.name = name;
    experiment.corpus.source = data + "/tiny.train.txt";
    experiment.corpus.valid = data + "/tiny.valid.txt";
    experiment.corpus.test = data + "/tiny.valid.txt";
    experiment.model.hidden = 8;
    experiment.model.layers = 1;
    experiment.training.batch = 4;
    experiment.training.bptt = 5;
    experiment.training.lr = 1.0;
    experiment.training.evalEvery = 200;
    experiment.training.steps = steps;
    experiment.training.epochs = 1000000;
    experiment.training.patience = 1000000;
    experiment.cluster.workers = 2;
    experiment.cluster.threads = 2;
    return experiment;
}

/// Dense and Top-k, as small as it gets.
inline std::vector<engine::Experiment> smallRace(std::int64_t steps = 0) {
    std::vector<engine::Experiment> race = {smallExperiment("Dense", steps),
                                            smallExperiment("Top-k", steps)};
    setCompression(race[1], "topk", "none");
    return race;
}

/// Made once: tests are about what happens after loading.
inline std::shared_ptr<const engine::Corpus> loadSmallCorpus(const engine::CorpusSettings&,
                                                             const std::function<void(double)>&) {
    static const std::shared_ptr<const engine::Corpus> corpus =
        loadExperimentCorpus(smallExperiment().corpus);
    return corpus;
}

} // namespace gradlab::tests
