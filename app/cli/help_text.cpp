// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/help_text.h"

#include "engine/compression/compressor_registry.h"
#include "engine/training/experiment_schema.h"

#include <algorithm>

namespace gradlab::app {

using engine::FieldSpec;
using engine::FieldType;

namespace {

constexpr std::size_t kWidth = 90;
constexpr std::size_t kIndent = 6;

std::string valueName(const FieldSpec& field) {
    switch (field.type) {
    case FieldType::Boolean:
        return {};
    case FieldType::Integer:
        return " N";
    case FieldType::Real:
        return " X";
    case FieldType::Choice: {
        std::string names = " ";
        for (const std::string& choice : field.choices)
            names += (names.size() > 1 ? "|" : "") + choice;
        return names;
    }
    case FieldType::Path:
        return " PATH";
    case FieldType::Rate:
        return " RATE";
    case FieldType::Duration:
        return " TIME";
    case FieldType::Text:
        return " TEXT";
    }
    return {};
}

/// "default 0.01; a number in (0, 1]".
std::string rangeLine(const FieldSpec& field) {
    const bool number = field.type == FieldType::Integer || field.type == FieldType::Real;
    const std::string value = engine::formatFieldValue(field, field.defaultValue);
    std::string line = "Default: ";
    if (field.type == FieldType::Boolean)
        line += std::get<bool>(field.defaultValue)
                    ? "on (" + field.label + "); the option turns it off"
                    : "off; the option turns it on";
    else
        line += value.empty() ? "none" : value;
    if (number)
        line += "; " + engine::allowedValues(field);
    return line + ".";
}

/// "With method topk, randomk or dgc."
std::string usedLine(const FieldSpec& field) {
    std::string line;
    for (const engine::UsedWhen& when : field.usedWhen) {
        line += line.empty() ? "Used with " : " and ";
        line += when.path.substr(when.path.rfind('.') + 1) + " ";
        for (std::size_t i = 0; i < when.values.size(); ++i) {
            if (i > 0)
                line += i + 1 == when.values.size() ? " or " : ", ";
            line += when.values[i];
        }
    }
    return line.empty() ? line : line + ".";
}

std::string optionHelp(const FieldSpec& field) {
    std::string text = "  " + field.option + valueName(field) + "\n";
    std::string body = field.help + " " + rangeLine(field);
    if (const std::string used = usedLine(field); !used.empty())
        body += " " + used;
    text += wrapped(body, kIndent, kWidth);
    if (!field.equation.empty())
        text += wrapped(field.equation, kIndent, kWidth);
    return text;
}

std::string groupHelp(std::string_view title, std::string_view prefix) {
    std::string text = "\n" + std::string(title) + ":\n";
    for (const FieldSpec& field : engine::experimentSchema()) {
        if (field.path.starts_with(prefix))
            text += optionHelp(field);
    }
    return text;
}

std::string methodsHelp() {
    std::string text = "\nMethods (--method):\n";
    for (const engine::MethodInfo& method : engine::compressionMethods()) {
        std::string line = method.description;
        if (!method.source.empty())
            line += " " + method.source + ".";
        line += " Memory: " + method.defaultMemory + " if auto.";
        text += "  " + method.name + "\n" + wrapped(line, kIndent, kWidth);
    }
    text += "\nMemories (--memory):\n";
    for (const engine::MemoryInfo& memory : engine::compressionMemories())
        text += "  " + memory.name + "\n" + wrapped(memory.description, kIndent, kWidth);
    return text;
}

constexpr std::string_view kExitCodes =
    "\nExit codes: 0 done, 2 a bad option or experiment, 3 bad data or file, 4 workers lost,\n"
    "5 the numbers left the finite range, 130 stopped by Ctrl-C.\n";

constexpr std::string_view kTrainUsage =
    R"(Trains a language model on N workers that exchange compressed gradients, and shows what that costs.

gradlab-cli train [FILE] [options]

FILE is an experiment or a race (JSON, schema 1); options override its fields, in a race those of
every experiment. Without FILE and options: an LSTM on the generated language, not compressed.

Examples:
  gradlab-cli train --method topk --ratio 0.01 --steps 600 --eval-every 50
  gradlab-cli train --method topk --memory none      what happens to what is not sent
  gradlab-cli train resources/experiments/first-look.json --out runs/first-look
  gradlab-cli train resources/experiments/first-look.json --seeds 1,2,3,4,5 --out runs/five
  gradlab-cli train --corpus builtin:kjv --hidden 100 --batch 256 --method dgc --out runs/kjv
  gradlab-cli train --resume runs/kjv --epochs 100
  gradlab-cli train --fork runs/kjv --lr 5 --out runs/kjv-slower

Files and output:
  --out DIR
      Keep the run in DIR, which is new or empty: experiment.json, metrics.jsonl, summary.json,
      TensorBoard's event files and checkpoints. A race has a folder for each experiment.
  --log FILE
      Append the records alone to FILE, one JSON object a line.
  --resume DIR
      Go on with the run in DIR from its latest checkpoint. Limits (--epochs, --steps, --patience)
      may be set anew; of the other options, those that can change during a run do so.
  --fork DIR[@STEP]
      Begin another run where the run in DIR was at its latest checkpoint, or at that of STEP, with
      its experiment and the options given. Text, model, batch and workers cannot change.
  --save FILE.safetensors
      Write the final parameters under PyTorch's names.
  --seeds SEED,SEED,...
      Run it once from each seed, one after the other, and tell mean and standard deviation and, in
      a race, the differences from its first experiment, paired by seed. DIR has a folder for each
      and seeds.json; --resume DIR goes on with those that have not ended.
  --change STEP:[RUN:]FIELD=VALUE
      Change a field once STEP steps are done, of every run or of those whose name starts with RUN;
      may be repeated. What waits when a method or memory changes is kept, or as VALUE says:
      400:compression.memory=none,flush sends it whole with step 401, ,drop loses it.
  --per-worker
      Log a record a step for each worker too.
  --record-gradients STEP,STEP,...
      Keep worker 0's gradient of these steps, as backward leaves it, in DIR/gradients: files for
      gradlab-cli compress --in and gradlab-cli bench compress --gradient.
  --insecure
      Let worker processes join without keys from other machines too: anybody who reaches the port
      may then take part.
  --quiet
      Print nothing but errors.
  -h, --help, --version

Ctrl-C, SIGTERM or a closed terminal end the run after its step and save it (with --out). Another
Ctrl-C, two seconds later or more, leaves at once.
)";

constexpr std::string_view kCompressUsage =
    R"(Runs one method on gradients of your own and prints what it costs, one JSON line a tensor.

gradlab-cli compress --in G.safetensors --method M [options]

Each line has n, selected, bytes_message, bytes_paper, bound_bytes, error, energy_kept, encode_ms
and decode_ms. Every tensor is compressed by itself (with --scope model, all as one).

Examples:
  gradlab-cli compress --in g.safetensors --method topk --ratio 0.01 --out d.safetensors
  gradlab-cli compress --in g1.safetensors --method topk --state-out s.safetensors
  gradlab-cli compress --in g2.safetensors --method topk --state s.safetensors

Files:
  --in FILE
      The gradients: float tensors of a safetensors file.
  --out FILE
      What a receiver decodes, under the same names.
  --state FILE, --state-out FILE
      The memory to start from, and where to keep it afterwards: what this call did not send comes
      back with the next one.
  --uniforms FILE
      QSGD's random numbers in [0, 1), under the same names, instead of those of --seed.
  --step N
      The step that the random numbers belong to (1), and the memory's.
  --epoch N
      The epoch of DGC's warm-up (0).
  -h, --help, --version
)";

constexpr std::string_view kBenchUsage =
    R"(Measures what this machine can do, and how near the lab's own work comes to it.

gradlab-cli bench [options]
gradlab-cli bench compress [options of compress] [--elements N | --gradient FILE] [--rounds R]
gradlab-cli bench train [options of train]

bench alone prints one JSON document, after some minutes: limits (copying, products of 1024, on one
and on all threads), kernels of the study's models against them, compress (a line for each method),
train (a line for each model, number of workers and method), overhead (the methods' share of
computing, beside the study's) and pays: extra_seconds that a method takes a step, the link's rate
below which that pays beside sending 32-bit or 16-bit numbers through a server, and the number of
workers below which all-gather of its messages beats all-reduce.

  --models LIST           some of small,medium,large (hidden 100, 300, 500)
  --worker-counts LIST    1,2,4
  --batch N, --bptt N, --vocabulary N
                          256, 35, 10000: the study's
  --steps N               training steps to measure for each line (5)
  --elements N, --rounds N
                          of the gradient that is compressed (4444800), and how often (15)

The two parts print one JSON line. compress: one step of one worker's compression (medians of R rounds):
copy_ms of the vector, encode_ms (memory update, selection and coding), copies (their ratio),
decode_ms, bytes of the payload, bytes_paper (the study's count) and bound_bytes (k values and
log2 C(n, k) bits; QSGD: the entropy of its levels). The numbers are normal times squared normal, or
those of a safetensors file. train: whole steps on random tokens: tokens_per_second,
seconds_per_step (median of --steps, 5), compression_share (of computing, CPU time), peak_rss_mib,
share_of_limit (6 (V H + 8 L H^2) flops a token against product_gflops, what square products of 1024
reach in that precision on as many threads), allocations_per_step, and where the time went.

Examples:
  gradlab-cli bench > bench.json
  gradlab-cli bench --models small --worker-counts 1,2 --steps 2
  gradlab-cli bench compress --method topk --ratio 0.001 --indices gap --values f32
  gradlab-cli bench compress --method qsgd --levels 64 --level-code fixed
  gradlab-cli bench train --hidden 300 --batch 256 --workers 1 --threads 2
)";

} // namespace

std::size_t columnsOf(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; // not a continuation byte
    }));
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
    std::string lines;
    std::string line;
    const auto finishLine = [&] {
        lines.append(indent, ' ').append(line) += '\n';
        line.clear();
    };
    while (!text.empty()) {
        const std::size_t space = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, space);
        text.remove_prefix(std::min(space + 1, text.size()));
        if (word.empty())
            continue;
        if (!line.empty() && indent + columnsOf(line) + 1 + columnsOf(word) > width)
            finishLine();
        if (!line.empty())
            line += ' ';
        line += word;
    }
    if (!line.empty())
        finishLine();
    return lines;
}

std::string programHelp() {
    return R"(Gradient Lab: see what gradient compression does to distributed training.

gradlab-cli COMMAND [options]

Commands:
  train      train a language model on N workers with compressed gradients
  compress   run one method on gradients of your own
  bench      what this machine can do, and how near the lab's own work comes to it
  worker     be a worker of a run, on this machine or another one
  keygen     make the keys of a cluster that spans machines
  probe      measure the network between a coordinator and its workers

gradlab-cli COMMAND --help tells more. gradlab-cli --version prints the version.
)" + std::string(kExitCodes);
}

std::string trainHelp() {
    std::string text(kTrainUsage);
    text += methodsHelp();
    text += groupHelp("Text", "corpus.");
    text += groupHelp("Model", "model.");
    text += groupHelp("Training", "training.");
    text += groupHelp("Compression", "compression.");
    text += groupHelp("Cluster", "cluster.");
    text += kExitCodes;
    return text;
}

std::string compressHelp() {
    std::string text(kCompressUsage);
    text += methodsHelp();
    text += groupHelp("Compression", "compression.");
    text += "\nArithmetic:\n";
    for (const char* path : {"training.precision", "training.seed", "training.lr"})
        text += optionHelp(*engine::findField(path));
    text += optionHelp(*engine::findField("cluster.workers"));
    text += kExitCodes;
    return text;
}

std::string benchHelp() {
    return std::string(kBenchUsage) + std::string(kExitCodes);
}

} // namespace gradlab::app
