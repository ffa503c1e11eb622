// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything a run says, as plain records: what the log, the event files, the summary and the
// charts are made of. Field meanings are the contract's definitions; seconds and bytes unless a
// name says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gradlab::engine {

/// Seconds spent in one step, means over workers (or one worker's own). By wall clock or by CPU
/// clock.
struct StepTimes {
    double forward = 0.0;
    double backward = 0.0;
    double compress = 0.0; ///< memory update, selection, quantisation; a fused encode counts here
    double encode = 0.0;
    double transfer = 0.0; ///< exposed: on the link while nothing was computed
    double wait = 0.0;     ///< exposed: waiting for the network otherwise
    double turn = 0.0; ///< waiting for a compute permit, or for a worker that is still computing
    double decode = 0.0;
    double update = 0.0;
    double transferHidden = 0.0; ///< overlapped with computing

    [[nodiscard]] double compute() const noexcept { return forward + backward + update; }
    [[nodiscard]] double compression() const noexcept { return compress + encode + decode; }
    [[nodiscard]] double communication() const noexcept { return transfer + wait; }
};

struct TensorShape {
    std::string name;
    std::vector<std::uint64_t> shape;
};

struct StartRecord {
    std::string experimentJson; ///< every `auto` resolved
    std::string version;
    std::string host;
    std::string cpu;
    std::string isa; ///< instruction-set level that the engine was built for
    std::uint64_t parameters = 0;
    std::vector<TensorShape> tensors;
    std::uint64_t vocabulary = 0;
    std::uint64_t trainTokens = 0;
    std::string corpusHash;
    std::optional<double> entropyFloor; ///< perplexity on the test split
    std::optional<double> entropyFloorValid;
    double unigramPerplexity = 0.0;
    double unigramPerplexityValid = 0.0;
    double charactersPerToken = 0.0;
    std::uint64_t stepsPerEpoch = 0;
    bool overlap = true;    ///< as it really is: off with scope model or DGC's local clip
    std::string forkedFrom; ///< run that a checkpoint was taken from; empty: it began by itself
    std::uint64_t forkedStep = 0;
    double forkedBytesMessage = 0.0; ///< one worker's until then
    double forkedBytesDense = 0.0;
    bool cpuTimeShown = false; ///< fewer cores than workers: charts and simulated time use CPU time
};

struct StepRecord {
    std::uint64_t step = 0;
    std::uint64_t epoch = 0;
    std::uint64_t tokens = 0; ///< cumulative
    double wallS = 0.0;       ///< cumulative
    double simulatedS = 0.0;  ///< cumulative
    double loss = 0.0;
    double lr = 0.0;
    double ratio = 1.0;
    double selected = 0.0; ///< elements in a worker's messages, mean over workers
    double nonzero = 0.0;  ///< mean over workers
    double density = 0.0;
    double bytesMessage = 0.0; ///< mean over workers, headers included
    double bytesUp = 0.0;
    double bytesDown = 0.0;
    double bytesDense = 0.0;
    double bytesPaper = 0.0;
    double gradNorm = 0.0;     ///< of the mean, before clipping
    double residualNorm = 0.0; ///< root over workers and tensors
    double error = 0.0;        ///< ‖p − D(p)‖ / ‖p‖
    double energyKept = 0.0;   ///< ‖D(p)‖² / ‖p‖²
    bool clipped = false;      ///< the global clip acted
    double aggregateCpu = 0.0; ///< the server's share, CPU seconds
    double linkS = 0.0;        ///< what the link model adds to this step, exposed
    std::uint64_t contributors = 0;
    StepTimes t;
    StepTimes cpu;
};

/// A part of a worker's message: when it could be sent, seconds after the worker began the step.
struct SentPart {
    double readyS = 0.0;
    double bytes = 0.0;
};

struct WorkerRecord {
    std::uint64_t step = 0;
    std::uint32_t rank = 0;
    double loss = 0.0;
    std::uint64_t selected = 0;
    std::uint64_t nonzero = 0;
    std::uint64_t bytesMessage = 0;
    std::uint64_t bytesUp = 0;
    std::uint64_t bytesDown = 0;
    double residualNorm = 0.0;
    StepTimes t;
    StepTimes cpu;
    std::vector<SentPart> parts; ///< in the order in which backward finishes them
};

struct EvalRecord {
    std::uint64_t step = 0;
    std::uint64_t epoch = 0;
    std::string split; ///< valid, test
    double nll = 0.0;  ///< sum over tokens
    std::uint64_t tokens = 0;
    double perplexity = 0.0;
    double wallS = 0.0;      ///< cumulative, as of the step
    double simulatedS = 0.0; ///< cumulative, as of the step
    std::string sample;      ///< a sentence from the model; empty for test
};

struct EventRecord {
    std::uint64_t step = 0;
    std::string event;   ///< parameter_changed, worker_joined, worker_lost, checkpoint, resumed,
                         ///< forked, warning, …
    std::string details; ///< one line for people
    std::string field{}; ///< of parameter_changed
    std::string from{};
    std::string to{};
    std::string memory{};      ///< of a change of method or memory: keep, flush, drop
    std::uint64_t undoes = 0;  ///< step of the change that this one takes back; 0: of none
    std::uint64_t repeats = 0; ///< step of the change that is made once more; 0: of none
};

struct EndRecord {
    std::string reason; ///< completed, early_stop, stopped, diverged, failed
    std::uint64_t steps = 0;
    std::optional<double> bestValidPerplexity;
    std::optional<double> testPerplexity;
    std::optional<double> testPerplexityAtBest;
    double wallS = 0.0;
    double simulatedS = 0.0;
    std::uint64_t tokens = 0;
    double bytesUp = 0.0; ///< totals of one worker, mean over workers
    double bytesDown = 0.0;
    double bytesMessage = 0.0;
    double bytesDense = 0.0;
    double bytesPaper = 0.0;
    std::optional<std::uint64_t> targetSteps; ///< to reach target_perplexity on valid
    std::optional<double> targetBytes;
    std::optional<double> targetSimulatedS;
    std::string message; ///< of diverged and failed: what happened
};

using Record =
    std::variant<StartRecord, StepRecord, WorkerRecord, EvalRecord, EventRecord, EndRecord>;

} // namespace gradlab::engine
