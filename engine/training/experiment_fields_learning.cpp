// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of corpus, model and training: names, ranges and help. Defaults stand in experiment.h.
#include "engine/training/experiment_fields.h"

namespace gradlab::engine {

void addCorpusFields(std::vector<BoundField>& fields) {
    fields.push_back(
        {{.path = "corpus.source",
          .option = "--corpus",
          .type = FieldType::Path,
          .label = "Text",
          .help = "What the model learns to continue: builtin:markov (a small generated language), "
                  "builtin:kjv (the King James Bible, Debian package bible-kjv), a text file, or a "
                  "folder with train, valid and test files."},
         [](Experiment& e) -> FieldReference { return &e.corpus.source; }});
    fields.push_back({{.path = "corpus.valid",
                       .option = "--valid",
                       .type = FieldType::Path,
                       .label = "Validation text",
                       .help = "A file for the validation split. Empty: it comes from the source; "
                               "one file gives the 5 % of its lines before the last 5 %.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.corpus.valid; }});
    fields.push_back({{.path = "corpus.test",
                       .option = "--test",
                       .type = FieldType::Path,
                       .label = "Test text",
                       .help = "A file for the test split. Empty: it comes from the source; one "
                               "file gives the last 5 % of its lines.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.corpus.test; }});
    fields.push_back({{.path = "corpus.unit",
                       .option = "--unit",
                       .type = FieldType::Choice,
                       .choices = {"word", "char"},
                       .label = "Token",
                       .help = "What the model predicts one at a time: words, or characters.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.corpus.unit; }});
    fields.push_back(
        {{.path = "corpus.vocabulary",
          .option = "--vocabulary",
          .type = FieldType::Integer,
          .minimum = 0,
          .maximum = 10'000'000,
          .label = "Vocabulary",
          .unit = "types",
          .help = "How many different tokens the model knows, the most frequent ones of the "
                  "training text; the others become <unk>. 0 = all. It sets the size of the "
                  "embedding and so of the gradient.",
          .advanced = true},
         [](Experiment& e) -> FieldReference { return &e.corpus.vocabulary; }});
}

void addModelFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "model.kind",
                       .option = "--model",
                       .type = FieldType::Choice,
                       .choices = {"lstm"},
                       .label = "Model",
                       .help = "The kind of language model: a recurrent network of LSTM cells.",
                       .source = "Hochreiter and Schmidhuber 1997",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.model.kind; }});
    fields.push_back({{.path = "model.hidden",
                       .option = "--hidden",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 4096,
                       .label = "Hidden size",
                       .unit = "units",
                       .help = "Width of every layer and of the word vectors. Parameters, and so "
                               "the bytes of a gradient, grow with its square.",
                       .equation = "parameters = V·H + L·(8·H² + 8·H), tied"},
                      [](Experiment& e) -> FieldReference { return &e.model.hidden; }});
    fields.push_back({{.path = "model.layers",
                       .option = "--layers",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 8,
                       .label = "Layers",
                       .help = "How many LSTM layers are stacked."},
                      [](Experiment& e) -> FieldReference { return &e.model.layers; }});
    fields.push_back({{.path = "model.tied",
                       .option = "--untied",
                       .type = FieldType::Boolean,
                       .label = "Tied output",
                       .help = "The output layer uses the word vectors of the input. Untied, it "
                               "has its own matrix and a bias.",
                       .source = "Press and Wolf 2017, arXiv:1608.05859",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.model.tied; }});
    fields.push_back({{.path = "model.dropout",
                       .option = "--dropout",
                       .type = FieldType::Real,
                       .minimum = 0,
                       .maximum = 1,
                       .maximumExcluded = true,
                       .label = "Dropout",
                       .help = "Share of activations set to zero at random in training, so that "
                               "the model does not learn its text by heart.",
                       .source = "Zaremba, Sutskever and Vinyals 2014, arXiv:1409.2329",
                       .live = true,
                       .slider = SliderRange{0.0, 0.9, 0.01}},
                      [](Experiment& e) -> FieldReference { return &e.model.dropout; }});
    fields.push_back({{.path = "model.init",
                       .option = "--init",
                       .type = FieldType::Path,
                       .label = "Starting weights",
                       .help = "A .safetensors file with the parameters to start from, under "
                               "PyTorch's names (embedding.weight, lstm.weight_ih_l0, …). Empty: "
                               "drawn from the seed.",
                       .equation = "U[−1/√H, 1/√H]",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.model.init; }});
}

namespace {

void addDurationFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "training.batch",
                       .option = "--batch",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 65536,
                       .label = "Batch",
                       .unit = "columns",
                       .help = "How many places in the text are read side by side, by all workers "
                               "together: each worker takes an equal share of the columns."},
                      [](Experiment& e) -> FieldReference { return &e.training.batch; }});
    fields.push_back({{.path = "training.bptt",
                       .option = "--bptt",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 10000,
                       .label = "Window",
                       .unit = "tokens",
                       .help = "How many tokens of each column one step reads, and how far back "
                               "the gradient goes through time.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.bptt; }});
    fields.push_back({{.path = "training.epochs",
                       .option = "--epochs",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 1'000'000,
                       .label = "Epochs",
                       .unit = "epochs",
                       .help = "Passes over the training text. The first limit that is reached "
                               "(epochs, steps, patience) ends the run."},
                      [](Experiment& e) -> FieldReference { return &e.training.epochs; }});
    fields.push_back({{.path = "training.steps",
                       .option = "--steps",
                       .type = FieldType::Integer,
                       .minimum = 0,
                       .maximum = 4'000'000'000.0,
                       .label = "Steps",
                       .unit = "steps",
                       .help = "Updates of the parameters after which the run ends. 0 = no limit."},
                      [](Experiment& e) -> FieldReference { return &e.training.steps; }});
    fields.push_back({{.path = "training.patience",
                       .option = "--patience",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 1'000'000,
                       .label = "Patience",
                       .unit = "evaluations",
                       .help = "Early stopping: the run ends after this many evaluations in a row "
                               "without a better validation perplexity.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.patience; }});
}

void addOptimizerFields(std::vector<BoundField>& fields) {
    fields.push_back(
        {{.path = "training.lr",
          .option = "--lr",
          .type = FieldType::Real,
          .minimum = 0,
          .maximum = 1e6,
          .label = "Learning rate",
          .help = "How far each update goes along the mean gradient. Every method has its own "
                  "best value: tune it before comparing.",
          .equation = "w ← w − lr·m",
          .live = true,
          .slider = SliderRange{1e-3, 1e2, 0.0}},
         [](Experiment& e) -> FieldReference { return &e.training.lr; }});
    fields.push_back({{.path = "training.momentum",
                       .option = "--momentum",
                       .type = FieldType::Real,
                       .minimum = 0,
                       .maximum = 1,
                       .maximumExcluded = true,
                       .label = "Momentum",
                       .help = "Share of the last update's direction that is kept. With DGC's "
                               "memory, which has its own momentum, it must be 0.",
                       .equation = "m ← μ·m + d",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.momentum; }});
    fields.push_back({{.path = "training.weight_decay",
                       .option = "--weight-decay",
                       .type = FieldType::Real,
                       .minimum = 0,
                       .maximum = 1,
                       .label = "Weight decay",
                       .help = "Pulls every parameter towards zero.",
                       .equation = "d = g + λ·w",
                       .live = true,
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.weightDecay; }});
    fields.push_back({{.path = "training.clip",
                       .option = "--clip",
                       .type = FieldType::Real,
                       .minimum = 0,
                       .maximum = 1e9,
                       .label = "Clip",
                       .help = "Longest mean gradient that an update uses; a longer one is "
                               "shortened to it. 0 = off.",
                       .equation = "g = mean·min(1, clip/(‖mean‖₂ + 1e-6))",
                       .source = "Pascanu, Mikolov and Bengio 2013, arXiv:1211.5063",
                       .live = true,
                       .advanced = true,
                       .slider = SliderRange{1e-3, 1e2, 0.0}},
                      [](Experiment& e) -> FieldReference { return &e.training.clip; }});
}

void addArithmeticFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "training.precision",
                       .option = "--precision",
                       .type = FieldType::Choice,
                       .choices = {"f32", "f64", "bf16"},
                       .label = "Precision",
                       .help = "Arithmetic of the training: 32 or 64 bits a number. bf16: f32, but "
                               "matrix products take their operands rounded to 8 significant bits, "
                               "with the range of f32, and add in f32; parameters, gradient and "
                               "messages stay f32. About as good, faster, and only where the "
                               "processor has instructions for it.",
                       .equation = "C = Σₖ bf16(A)·bf16(B);  |bf16(x) − x| ≤ 2⁻⁸·|x|",
                       .source = "Kalamkar et al. 2019, arXiv:1905.12322; Micikevicius et al. "
                                 "2018, arXiv:1710.03740",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.precision; }});
    fields.push_back({{.path = "training.seed",
                       .option = "--seed",
                       .type = FieldType::Integer,
                       .minimum = 0,
                       .maximum = 4'294'967'295.0,
                       .label = "Seed",
                       .help = "Start of every random number. Same experiment, same seed, same CPU "
                               "type: the same bits in every loss."},
                      [](Experiment& e) -> FieldReference { return &e.training.seed; }});
}

void addEvaluationFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "training.eval_batch",
                       .option = "--eval-batch",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 65536,
                       .label = "Evaluation batch",
                       .unit = "columns",
                       .help = "Columns that an evaluation reads side by side. It changes the "
                               "perplexity a little: each column starts from nothing.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.evalBatch; }});
    fields.push_back({{.path = "training.eval_every",
                       .option = "--eval-every",
                       .type = FieldType::Integer,
                       .minimum = 0,
                       .maximum = 4'000'000'000.0,
                       .label = "Evaluate every",
                       .unit = "steps",
                       .help = "Steps between evaluations on the validation text. 0 = at the end "
                               "of every epoch."},
                      [](Experiment& e) -> FieldReference { return &e.training.evalEvery; }});
    fields.push_back({{.path = "training.checkpoint_every",
                       .option = "--checkpoint-every",
                       .type = FieldType::Integer,
                       .minimum = 0,
                       .maximum = 4'000'000'000.0,
                       .label = "Checkpoint every",
                       .unit = "steps",
                       .help = "Steps between checkpoints of a run that has a folder. 0 = at the "
                               "end of every epoch.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.checkpointEvery; }});
    fields.push_back(
        {{.path = "training.target_perplexity",
          .option = "--target-perplexity",
          .type = FieldType::Real,
          .minimum = 0,
          .maximum = 1e9,
          .label = "Target perplexity",
          .help = "The summary tells how many steps, bytes and simulated seconds it took to reach "
                  "this validation perplexity. 0 = none.",
          .advanced = true},
         [](Experiment& e) -> FieldReference { return &e.training.targetPerplexity; }});
    fields.push_back({{.path = "training.inspect_every",
                       .option = "--inspect-every",
                       .type = FieldType::Integer,
                       .minimum = 0,
                       .maximum = 4'000'000'000.0,
                       .label = "Look into every",
                       .unit = "steps",
                       .help = "Steps between looks into the gradient: what was sent of every "
                               "tensor and what stayed, kept in inspections.jsonl of the run's "
                               "folder for the window's Gradient panel. Training is the same bits. "
                               "0 = never.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.training.inspectEvery; }});
}

} // namespace

void addTrainingFields(std::vector<BoundField>& fields) {
    addDurationFields(fields);
    addOptimizerFields(fields);
    addArithmeticFields(fields);
    addEvaluationFields(fields);
}

} // namespace gradlab::engine
