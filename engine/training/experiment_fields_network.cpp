// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of compression that every method shares, and of the cluster. What a method or memory
// declares itself comes from the registry, placed where the contract's table has it.
#include "engine/compression/compressor_registry.h"
#include "engine/compression/index_code.h"
#include "engine/compression/level_code.h"
#include "engine/training/experiment_fields.h"

#include <algorithm>
#include <array>

namespace gradlab::engine {

namespace {

std::vector<std::string> methodNames() {
    std::vector<std::string> names;
    for (const MethodInfo& method : compressionMethods())
        names.push_back(method.name);
    return names;
}

std::vector<std::string> sparseMethodNames() {
    std::vector<std::string> names;
    for (const MethodInfo& method : compressionMethods()) {
        if (method.sparse)
            names.push_back(method.name);
    }
    return names;
}

std::vector<std::string> memoryNames() {
    std::vector<std::string> names{"auto"};
    for (const MemoryInfo& memory : compressionMemories())
        names.push_back(memory.name);
    return names;
}

/// "auto" and the codes of index_code.h or level_code.h.
template <class Codes>
std::vector<std::string> codeNames(const Codes& codes) {
    std::vector<std::string> names{"auto"};
    for (const auto& [name, code] : codes)
        names.emplace_back(name);
    return names;
}

BoundField methodField() {
    return {{.path = "compression.method",
             .option = "--method",
             .type = FieldType::Choice,
             .choices = methodNames(),
             .label = "Method",
             .help = "How a worker shortens its gradient before sending it.",
             .live = true},
            [](Experiment& e) -> FieldReference { return &e.compression.method; }};
}

BoundField scopeField() {
    return {{.path = "compression.scope",
             .option = "--scope",
             .type = FieldType::Choice,
             .choices = {"tensor", "model"},
             .label = "Scope",
             .help = "What is compressed as one: each tensor by itself, or the whole gradient, "
                     "where tensors with large gradients take the others' share.",
             .advanced = true},
            [](Experiment& e) -> FieldReference { return &e.compression.scope; }};
}

BoundField memoryField() {
    return {{.path = "compression.memory",
             .option = "--memory",
             .type = FieldType::Choice,
             .choices = memoryNames(),
             .label = "Memory",
             .help = "What a worker did not send is kept and added to its next gradient (error "
                     "feedback). auto: the memory that belongs to the method.",
             .equation = "p = γ·g + β·e; send C(p); e ← p − D(C(p))",
             .source = "Stich, Cordonnier and Jaggi 2018, arXiv:1809.07599",
             .live = true},
            [](Experiment& e) -> FieldReference { return &e.compression.memory; }};
}

void addCodingFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "compression.values",
                       .option = "--values",
                       .type = FieldType::Choice,
                       .choices = {"auto", "f64", "f32", "f16", "bf16"},
                       .label = "Values",
                       .help = "Number format of the values in a message. auto: f64 when "
                               "training in f64, else f32. With method none, f16 and bf16 are the "
                               "16-bit baseline.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.compression.values; }});
    fields.push_back({{.path = "compression.indices",
                       .option = "--indices",
                       .type = FieldType::Choice,
                       .choices = codeNames(kIndexCodes),
                       .label = "Index code",
                       .help = "How the places of the values sent are written; entropy: near the "
                               "fewest bits that can tell them. auto: the smallest; random-k sends "
                               "the seed that draws them.",
                       .usedWhen = {{"compression.method", sparseMethodNames()}},
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.compression.indices; }});
    fields.push_back({{.path = "compression.level_code",
                       .option = "--level-code",
                       .type = FieldType::Choice,
                       .choices = codeNames(kLevelCodes),
                       .label = "Level code",
                       .help = "How quantised levels are written: all in the same number of bits, "
                               "small levels in fewer, or each by how often it occurs (entropy). "
                               "auto: the smallest.",
                       .usedWhen = {{"compression.method", {"qsgd"}}},
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.compression.levelCode; }});
    fields.push_back(
        {{.path = "compression.downlink",
          .option = "--downlink",
          .type = FieldType::Choice,
          .choices = {"auto", "dense", "recompress"},
          .label = "Downlink",
          .help =
              "What the server sends back. auto: the smaller of the sum's non-zero entries and "
              "the dense mean, the same bits either way; recompress: the mean compressed again.",
          .usedWhen = {{"cluster.topology", {"server"}}},
          .advanced = true},
         [](Experiment& e) -> FieldReference { return &e.compression.downlink; }});
}

/// Where the contract's table has the parameters: after which shared field.
std::string_view anchorOf(std::string_view parameter) {
    constexpr std::array<std::string_view, 4> kAfterMethod = {"ratio", "levels", "norm", "bucket"};
    const bool first =
        std::find(kAfterMethod.begin(), kAfterMethod.end(), parameter) != kAfterMethod.end();
    return first ? "compression.method" : "compression.memory";
}

void addParametersAt(std::vector<BoundField>& fields, std::string_view anchor) {
    for (const FieldSpec& parameter : compressionParameters()) {
        if (anchorOf(lastComponent(parameter.path)) == anchor)
            fields.push_back({parameter, nullptr});
    }
}

} // namespace

void addCompressionFields(std::vector<BoundField>& fields) {
    fields.push_back(methodField());
    addParametersAt(fields, "compression.method");
    fields.push_back(scopeField());
    fields.push_back(memoryField());
    addParametersAt(fields, "compression.memory");
    addCodingFields(fields);
}

namespace {

const std::vector<UsedWhen> kWithProcesses = {{"cluster.transport", {"zmq"}}};

void addWorkerFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "cluster.workers",
                       .option = "--workers",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 256,
                       .label = "Workers",
                       .help = "How many learn together. Each computes the gradient of its share "
                               "of the batch; the mean of what they send updates the model."},
                      [](Experiment& e) -> FieldReference { return &e.cluster.workers; }});
    fields.push_back({{.path = "cluster.threads",
                       .option = "--threads",
                       .type = FieldType::Integer,
                       .minimum = 0,
                       .maximum = 1024,
                       .label = "Threads",
                       .help = "No more workers than this compute at once. It changes the time, "
                               "never the numbers. 0 = the number of cores.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.threads; }});
    fields.push_back({{.path = "cluster.transport",
                       .option = "--transport",
                       .type = FieldType::Choice,
                       .choices = {"threads", "zmq"},
                       .label = "Transport",
                       .help = "Workers are threads of this process, or processes of their own.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.transport; }});
    fields.push_back({{.path = "cluster.topology",
                       .option = "--topology",
                       .type = FieldType::Choice,
                       .choices = {"server", "ring"},
                       .label = "Topology",
                       .help = "Messages go to a server that adds them and answers, or around a "
                               "ring of workers.",
                       .equation = "ring all-gather: (N−1)·(a + u/B); dense: 2(N−1)·(a + u/(N·B))"},
                      [](Experiment& e) -> FieldReference { return &e.cluster.topology; }});
    fields.push_back({{.path = "cluster.overlap",
                       .option = "--no-overlap",
                       .type = FieldType::Boolean,
                       .label = "Overlap",
                       .help = "Finished layers are sent while the others are still computed. It "
                               "changes the time, never the numbers.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.overlap; }});
}

void addProcessFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "cluster.bind",
                       .option = "--bind",
                       .type = FieldType::Text,
                       .label = "Address",
                       .help = "Where the coordinator listens for worker processes.",
                       .usedWhen = kWithProcesses,
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.bind; }});
    fields.push_back({{.path = "cluster.wait_for",
                       .option = "--wait-for",
                       .type = FieldType::Integer,
                       .minimum = 0,
                       .maximum = 256,
                       .label = "Wait for",
                       .unit = "workers",
                       .help = "How many must have joined before training starts. 0 = this "
                               "program starts all of them itself.",
                       .usedWhen = kWithProcesses,
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.waitFor; }});
    fields.push_back({{.path = "cluster.keys",
                       .option = "--keys",
                       .type = FieldType::Path,
                       .label = "Keys",
                       .help = "Cluster file with the keys that encrypt and authenticate. Empty: "
                               "none.",
                       .usedWhen = kWithProcesses,
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.keys; }});
    fields.push_back({{.path = "cluster.on_loss",
                       .option = "--on-loss",
                       .type = FieldType::Choice,
                       .choices = {"continue", "pause", "stop"},
                       .label = "On a lost worker",
                       .help = "Whether the others go on without it.",
                       .usedWhen = kWithProcesses,
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.onLoss; }});
    fields.push_back({{.path = "cluster.on_straggler",
                       .option = "--on-straggler",
                       .type = FieldType::Choice,
                       .choices = {"wait", "drop"},
                       .label = "On a straggler",
                       .help = "Whether the others wait for a slow worker or drop it.",
                       .usedWhen = kWithProcesses,
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.onStraggler; }});
    fields.push_back({{.path = "cluster.hash_every",
                       .option = "--hash-every",
                       .type = FieldType::Integer,
                       .minimum = 1,
                       .maximum = 4'000'000'000.0,
                       .label = "Compare every",
                       .unit = "steps",
                       .help = "Steps between checks that all replicas hold the same bits.",
                       .usedWhen = kWithProcesses,
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.hashEvery; }});
}

void addLinkFields(std::vector<BoundField>& fields) {
    fields.push_back({{.path = "cluster.link.bandwidth",
                       .option = "--bandwidth",
                       .type = FieldType::Rate,
                       .minimum = 1,
                       .choices = {"unlimited"},
                       .label = "Bandwidth",
                       .unit = "bit/s",
                       .help = "Rate of the modelled link of each worker, from which simulated "
                               "time is made: 100Mbit, 1.5Gbit, 9600 or unlimited.",
                       .equation = "server: 2a + max(u/B, N·u/S) + max(d/B, N·d/S)",
                       .live = true,
                       .slider = SliderRange{1e6, 1e11, 0.0}},
                      [](Experiment& e) -> FieldReference { return &e.cluster.link.bandwidth; }});
    fields.push_back({{.path = "cluster.link.latency",
                       .option = "--latency",
                       .type = FieldType::Duration,
                       .minimum = 0,
                       .maximum = 60,
                       .label = "Latency",
                       .unit = "s",
                       .help = "Time that the modelled link takes for even the smallest message, "
                               "one way: 1ms, 20us, 0.5s.",
                       .live = true,
                       .slider = SliderRange{1e-5, 1.0, 0.0}},
                      [](Experiment& e) -> FieldReference { return &e.cluster.link.latency; }});
    fields.push_back(
        {{.path = "cluster.link.server_bandwidth",
          .option = "--server-bandwidth",
          .type = FieldType::Rate,
          .minimum = 1,
          .choices = {"unlimited", "as-bandwidth"},
          .label = "Server bandwidth",
          .unit = "bit/s",
          .help = "Rate of the server's own link, which all workers share: a rate, unlimited, or "
                  "as-bandwidth for the same as a worker's.",
          .usedWhen = {{"cluster.topology", {"server"}}},
          .live = true,
          .advanced = true},
         [](Experiment& e) -> FieldReference { return &e.cluster.link.serverBandwidth; }});
    fields.push_back({{.path = "cluster.link.emulate",
                       .option = "--emulate",
                       .type = FieldType::Boolean,
                       .label = "Emulate the link",
                       .help = "Real messages are held back as the modelled link would, so that "
                               "the run itself takes that long.",
                       .advanced = true},
                      [](Experiment& e) -> FieldReference { return &e.cluster.link.emulate; }});
}

} // namespace

void addClusterFields(std::vector<BoundField>& fields) {
    addWorkerFields(fields);
    addProcessFields(fields);
    addLinkFields(fields);
}

} // namespace gradlab::engine
