// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
// The fields of each kind of record, once, in the order of a line: record_json.cpp writes by this
// table, record_json_reader.cpp reads by it. A new field is one line here.
//
// visitFields(io, record) shows the record's members to an `io`, which has
//   io.field(name, member)      always written, except an optional that holds nothing
//   io.nonEmpty(name, member)   written unless it is an empty text or list
//   io.document(name, text)     a JSON document as it is
//   io.group(name, fields)      an object of its own; `fields` is called with the io for it
//   io.inCase(written, fields)  written if so; read whenever it is there
#pragma once

#include "engine/metrics/step_record.h"

#include <concepts>
#include <type_traits>

namespace gradlab::engine {

/// `Type`, constant for the writer.
template <class Type, class Of>
concept MaybeConst = std::same_as<std::remove_const_t<Type>, Of>;

template <class Kind>
inline constexpr const char* kKindName = nullptr;
template <>
inline constexpr const char* kKindName<StartRecord> = "start";
template <>
inline constexpr const char* kKindName<StepRecord> = "step";
template <>
inline constexpr const char* kKindName<WorkerRecord> = "worker";
template <>
inline constexpr const char* kKindName<EvalRecord> = "eval";
template <>
inline constexpr const char* kKindName<EventRecord> = "event";
template <>
inline constexpr const char* kKindName<EndRecord> = "end";

template <class Io, MaybeConst<StepTimes> Times>
void visitTimes(Io& io, Times& times) {
    io.field("forward", times.forward);
    io.field("backward", times.backward);
    io.field("compress", times.compress);
    io.field("encode", times.encode);
    io.field("transfer", times.transfer);
    io.field("wait", times.wait);
    io.field("turn", times.turn);
    io.field("decode", times.decode);
    io.field("update", times.update);
    io.field("transfer_hidden", times.transferHidden);
}

/// By wall clock and by CPU clock.
template <class Io, class WithTimes>
void visitBothTimes(Io& io, WithTimes& record) {
    io.group("t", [&](auto& inner) { visitTimes(inner, record.t); });
    io.group("cpu", [&](auto& inner) { visitTimes(inner, record.cpu); });
}

template <class Io, MaybeConst<StartRecord> Start>
void visitFields(Io& io, Start& record) {
    io.document("experiment", record.experimentJson);
    io.field("version", record.version);
    io.field("host", record.host);
    io.field("cpu", record.cpu);
    io.field("isa", record.isa);
    io.field("parameters", record.parameters);
    io.field("tensors", record.tensors);
    io.field("vocabulary", record.vocabulary);
    io.field("train_tokens", record.trainTokens);
    io.field("corpus_hash", record.corpusHash);
    io.field("entropy_floor", record.entropyFloor);
    io.field("entropy_floor_valid", record.entropyFloorValid);
    io.field("unigram_perplexity", record.unigramPerplexity);
    io.field("unigram_perplexity_valid", record.unigramPerplexityValid);
    io.field("characters_per_token", record.charactersPerToken);
    io.field("steps_per_epoch", record.stepsPerEpoch);
    io.field("overlap", record.overlap);
    io.field("cpu_time_shown", record.cpuTimeShown);
    io.inCase(!record.forkedFrom.empty(), [&](auto& same) {
        same.group("forked_from", [&](auto& origin) {
            origin.field("run", record.forkedFrom);
            origin.field("step", record.forkedStep);
            origin.field("bytes_message", record.forkedBytesMessage);
            origin.field("bytes_dense", record.forkedBytesDense);
        });
    });
}

template <class Io, MaybeConst<StepRecord> Step>
void visitFields(Io& io, Step& record) {
    io.field("step", record.step);
    io.field("epoch", record.epoch);
    io.field("tokens", record.tokens);
    io.field("wall_s", record.wallS);
    io.field("simulated_s", record.simulatedS);
    io.field("loss", record.loss);
    io.field("lr", record.lr);
    io.field("ratio", record.ratio);
    io.field("selected", record.selected);
    io.field("nonzero", record.nonzero);
    io.field("density", record.density);
    io.field("bytes_message", record.bytesMessage);
    io.field("bytes_up", record.bytesUp);
    io.field("bytes_down", record.bytesDown);
    io.field("bytes_dense", record.bytesDense);
    io.field("bytes_paper", record.bytesPaper);
    io.field("grad_norm", record.gradNorm);
    io.field("residual_norm", record.residualNorm);
    io.field("error", record.error);
    io.field("energy_kept", record.energyKept);
    io.field("clipped", record.clipped);
    io.field("aggregate_cpu", record.aggregateCpu);
    io.field("link_s", record.linkS);
    io.field("contributors", record.contributors);
    visitBothTimes(io, record);
}

template <class Io, MaybeConst<WorkerRecord> Worker>
void visitFields(Io& io, Worker& record) {
    io.field("step", record.step);
    io.field("rank", record.rank);
    io.field("loss", record.loss);
    io.field("selected", record.selected);
    io.field("nonzero", record.nonzero);
    io.field("bytes_message", record.bytesMessage);
    io.field("bytes_up", record.bytesUp);
    io.field("bytes_down", record.bytesDown);
    io.field("residual_norm", record.residualNorm);
    io.nonEmpty("parts", record.parts);
    visitBothTimes(io, record);
}

template <class Io, MaybeConst<EvalRecord> Eval>
void visitFields(Io& io, Eval& record) {
    io.field("step", record.step);
    io.field("epoch", record.epoch);
    io.field("split", record.split);
    io.field("nll", record.nll);
    io.field("tokens", record.tokens);
    io.field("perplexity", record.perplexity);
    io.field("wall_s", record.wallS);
    io.field("simulated_s", record.simulatedS);
    io.nonEmpty("sample", record.sample);
}

template <class Io, MaybeConst<EventRecord> Event>
void visitFields(Io& io, Event& record) {
    io.field("step", record.step);
    io.field("event", record.event);
    io.field("details", record.details);
    io.inCase(!record.field.empty(), [&](auto& same) {
        same.field("field", record.field);
        same.field("from", record.from);
        same.field("to", record.to);
        same.nonEmpty("memory", record.memory);
    });
    io.inCase(record.undoes > 0, [&](auto& same) { same.field("undoes", record.undoes); });
    io.inCase(record.repeats > 0, [&](auto& same) { same.field("repeats", record.repeats); });
}

template <class Io, MaybeConst<EndRecord> End>
void visitFields(Io& io, End& record) {
    io.field("reason", record.reason);
    io.field("steps", record.steps);
    io.field("best_valid_perplexity", record.bestValidPerplexity);
    io.field("test_perplexity", record.testPerplexity);
    io.field("test_perplexity_at_best", record.testPerplexityAtBest);
    io.group("totals", [&](auto& totals) {
        totals.field("wall_s", record.wallS);
        totals.field("simulated_s", record.simulatedS);
        totals.field("tokens", record.tokens);
        totals.field("bytes_up", record.bytesUp);
        totals.field("bytes_down", record.bytesDown);
        totals.field("bytes_message", record.bytesMessage);
        totals.field("bytes_dense", record.bytesDense);
        totals.field("bytes_paper", record.bytesPaper);
    });
    io.inCase(record.targetSteps.has_value(), [&](auto& same) {
        same.group("target", [&](auto& target) {
            target.field("steps", record.targetSteps);
            target.field("bytes", record.targetBytes);
            target.field("simulated_s", record.targetSimulatedS);
        });
    });
    io.nonEmpty("message", record.message);
}

} // namespace gradlab::engine
