// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// One record of each kind with a different value in every field, and a locale with a decimal comma.
#pragma once

#include "engine/metrics/step_record.h"

#include <locale>
#include <string>

namespace gradlab::tests {

/// Digits that a short decimal cannot hold, distinct for each `n`.
inline double awkward(int n) {
    return static_cast<double>(n) + 1.0 / 3.0;
}

inline engine::StepTimes sampleTimes(int base) {
    engine::StepTimes times;
    times.forward = awkward(base);
    times.backward = awkward(base + 1);
    times.compress = awkward(base + 2);
    times.encode = awkward(base + 3);
    times.transfer = awkward(base + 4);
    times.wait = awkward(base + 5);
    times.turn = awkward(base + 6);
    times.decode = awkward(base + 7);
    times.update = awkward(base + 8);
    times.transferHidden = awkward(base + 9);
    return times;
}

inline engine::StartRecord sampleStart() {
    engine::StartRecord start;
    start.experimentJson = R"({"schema":1,"training":{"lr":0.1}})";
    start.version = "0.1.0";
    start.host = "h\"ost";
    start.cpu = "A CPU (R) @ 1 GHz";
    start.isa = "x86-64-v3";
    start.parameters = 1161600;
    start.tensors = {{"embedding.weight", {10000, 100}}, {"decoder.bias", {10000}}, {"scalar", {}}};
    start.vocabulary = 10000;
    start.trainTokens = 929589;
    start.corpusHash = "00ff";
    start.entropyFloor = awkward(8);
    start.unigramPerplexity = awkward(80);
    start.unigramPerplexityValid = awkward(81);
    start.charactersPerToken = awkward(4);
    start.stepsPerEpoch = 103;
    start.overlap = false;
    start.cpuTimeShown = true;
    return start;
}

inline engine::StepRecord sampleStep(std::uint64_t number) {
    engine::StepRecord step;
    step.step = number;
    step.epoch = 3;
    step.tokens = 1120 * number;
    step.wallS = awkward(1);
    step.simulatedS = awkward(2);
    step.loss = awkward(3);
    step.lr = 0.1;
    step.ratio = 0.01;
    step.selected = 11616.25;
    step.nonzero = 11000.5;
    step.density = 1e-300;
    step.bytesMessage = 68123.75;
    step.bytesUp = awkward(5);
    step.bytesDown = awkward(6);
    step.bytesDense = 4646400;
    step.bytesPaper = 92928;
    step.gradNorm = awkward(7);
    step.residualNorm = awkward(8);
    step.error = 0.9;
    step.energyKept = 0.19;
    step.clipped = true;
    step.aggregateCpu = 1e-4;
    step.linkS = 0.0142;
    step.contributors = 4;
    step.t = sampleTimes(100);
    step.cpu = sampleTimes(200);
    return step;
}

inline engine::WorkerRecord sampleWorker(std::uint64_t number) {
    engine::WorkerRecord worker;
    worker.step = number;
    worker.rank = 3;
    worker.loss = awkward(1);
    worker.selected = 4000;
    worker.nonzero = 3999;
    worker.bytesMessage = 12345;
    worker.bytesUp = (std::uint64_t{1} << 53U) + 1; // no double holds it
    worker.bytesDown = 7;
    worker.residualNorm = awkward(2);
    worker.parts = {{awkward(0), 4096.0}, {awkward(1), 77.0}};
    worker.t = sampleTimes(300);
    worker.cpu = sampleTimes(400);
    return worker;
}

inline engine::EvalRecord sampleEval(std::uint64_t number) {
    engine::EvalRecord eval;
    eval.step = number;
    eval.epoch = 3;
    eval.split = "valid";
    eval.nll = awkward(5000);
    eval.tokens = 2000;
    eval.perplexity = awkward(12);
    eval.wallS = awkward(13);
    eval.simulatedS = awkward(14);
    eval.sample = "in the \"beginning\" <eos>\n\té";
    return eval;
}

inline engine::EventRecord sampleEvent(std::uint64_t number) {
    engine::EventRecord event;
    event.step = number;
    event.event = "parameter_changed";
    event.details = "lr 20 to 5";
    event.field = "training.lr";
    event.from = "20";
    event.to = "5";
    return event;
}

inline engine::EndRecord sampleEnd(std::uint64_t steps) {
    engine::EndRecord end;
    end.reason = "completed";
    end.steps = steps;
    end.bestValidPerplexity = awkward(11);
    end.testPerplexity = awkward(12);
    end.wallS = awkward(13);
    end.simulatedS = awkward(14);
    end.tokens = 1120 * steps;
    end.bytesUp = awkward(15);
    end.bytesDown = awkward(16);
    end.bytesMessage = 1000.0;
    end.bytesDense = 68000.0;
    end.bytesPaper = 2000.0;
    end.targetSteps = 40;
    end.targetBytes = awkward(17);
    end.targetSimulatedS = awkward(18);
    end.message = "";
    return end;
}

/// A decimal comma and thousands points, as German has, whatever locales the system knows. While it
/// lives it is the C++ locale of the whole program.
class CommaLocale {
public:
    CommaLocale()
        : before_(std::locale::global(std::locale(std::locale::classic(), new Punctuation))) {}
    ~CommaLocale() { std::locale::global(before_); }
    CommaLocale(const CommaLocale&) = delete;
    CommaLocale& operator=(const CommaLocale&) = delete;

private:
    class Punctuation : public std::numpunct<char> {
    protected:
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    std::locale before_;
};

} // namespace gradlab::tests
