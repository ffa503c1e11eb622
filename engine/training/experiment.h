// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One experiment: every value that decides a run. Plain data; experiment_schema.h knows names,
// ranges and help. The JSON document, the command line and the window's form are three views of
// this.
#pragma once

#include "engine/core/export.h"
#include "engine/core/field_spec.h"
#include "engine/core/precision.h"

#include <cstdint>
#include <limits>
#include <string>

namespace gradlab::engine {

struct CorpusSettings {
    std::string source = "builtin:markov";
    std::string valid;
    std::string test;
    std::string unit = "word"; ///< word, char
    std::int64_t vocabulary = 10000;
};

struct ModelSettings {
    std::string kind = "lstm";
    std::int64_t hidden = 64;
    std::int64_t layers = 2;
    bool tied = true;
    double dropout = 0.0;
    std::string init; ///< safetensors file, or empty: from the seed
};

struct TrainingSettings {
    std::int64_t batch = 32; ///< global, a multiple of workers
    std::int64_t bptt = 35;
    std::int64_t epochs = 50;
    std::int64_t steps = 0; ///< 0 = no limit
    std::int64_t patience = 10;
    double lr = 20.0;
    double momentum = 0.0;
    double weightDecay = 0.0;
    double clip = 0.25; ///< 0 = off
    std::string precision = "f32";
    std::int64_t seed = 42;
    std::int64_t evalBatch = 10;
    std::int64_t evalEvery = 0;       ///< steps; 0 = every epoch
    std::int64_t checkpointEvery = 0; ///< steps; 0 = every epoch, where the run has a folder
    double targetPerplexity = 0.0;    ///< 0 = none
    std::int64_t inspectEvery = 0;    ///< steps; 0 = never
};

/// The fields that every method shares; what a method or memory declares itself is in `parameters`.
struct CompressionSettings {
    std::string method = "none";
    std::string memory = "auto"; ///< auto, none, residual, dgc
    std::string scope = "tensor";
    std::string values = "auto";
    std::string indices = "auto";
    std::string levelCode = "auto";
    std::string downlink = "auto";
    ParameterValues parameters; ///< ratio, levels, norm, bucket, beta, gamma, dgc_momentum, …
};

struct LinkSettings {
    double bandwidth = 100e6;     ///< bits per second
    double latency = 1e-3;        ///< seconds, one way
    double serverBandwidth = 0.0; ///< bits per second; 0 = as bandwidth; infinity = unlimited
    bool emulate = false;         ///< real messages are held back too
};

struct ClusterSettings {
    std::int64_t workers = 4;
    std::int64_t threads = 0; ///< 0 = number of cores
    std::string transport = "threads";
    std::string topology = "server";
    bool overlap = true;
    std::string bind = "tcp://127.0.0.1:*";
    std::int64_t waitFor = 0; ///< 0 = the run starts all of them here
    std::string keys;
    std::string onLoss = "continue";
    std::string onStraggler = "wait";
    std::int64_t hashEvery = 50;
    LinkSettings link;
};

struct Experiment {
    std::string name; ///< for people; optional field "name" of the document
    CorpusSettings corpus;
    ModelSettings model;
    TrainingSettings training;
    CompressionSettings compression;
    ClusterSettings cluster;
};

} // namespace gradlab::engine
