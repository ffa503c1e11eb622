// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/event_file.h"

#include "engine/core/version.h"
#include "engine/metrics/crc32c.h"

#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace gradlab::engine {

namespace {

enum class WireType : unsigned { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

template <class Unsigned>
void appendLittleEndian(std::string& out, Unsigned value) {
    for (std::size_t i = 0; i < sizeof(Unsigned); ++i)
        out += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

void appendVarint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U)
        out += static_cast<char>((value & 0x7FU) | 0x80U);
    out += static_cast<char>(value);
}

void appendKey(std::string& out, unsigned field, WireType type) {
    appendVarint(out, (field << 3U) | static_cast<unsigned>(type));
}

void appendBytes(std::string& out, unsigned field, std::string_view bytes) {
    appendKey(out, field, WireType::Bytes);
    appendVarint(out, bytes.size());
    out += bytes;
}

/// A float's range is narrower; converting beyond it would be undefined.
float narrowed(double value) {
    if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
        return std::copysign(std::numeric_limits<float>::infinity(), value > 0.0 ? 1.0F : -1.0F);
    return static_cast<float>(value);
}

double wallTime() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string eventHead() {
    std::string event;
    appendKey(event, 1, WireType::Fixed64);
    appendLittleEndian(event, std::bit_cast<std::uint64_t>(wallTime()));
    return event;
}

std::string framed(std::string_view data) {
    std::string length;
    appendLittleEndian(length, std::uint64_t{data.size()});
    std::string record = length;
    appendLittleEndian(record, maskedCrc32c(length));
    record += data;
    appendLittleEndian(record, maskedCrc32c(data));
    return record;
}

double ratioOf(double whole, double part) {
    return part > 0.0 ? whole / part : 0.0;
}

} // namespace

EventFile::EventFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

EventFile::~EventFile() = default;

void EventFile::record(const Record& record) {
    if (const auto* step = std::get_if<StepRecord>(&record)) {
        write(step->step, {{"train/loss", step->loss},
                           {"train/perplexity", std::exp(step->loss)},
                           {"train/lr", step->lr},
                           {"train/grad_norm", step->gradNorm},
                           {"bytes/message", step->bytesMessage},
                           {"bytes/up", step->bytesUp},
                           {"bytes/down", step->bytesDown},
                           {"bytes/dense", step->bytesDense},
                           {"bytes/paper", step->bytesPaper},
                           {"compression/ratio", ratioOf(step->bytesDense, step->bytesMessage)},
                           {"compression/ratio_paper", ratioOf(step->bytesDense, step->bytesPaper)},
                           {"compression/kept", step->ratio},
                           {"compression/density", step->density},
                           {"compression/error", step->error},
                           {"compression/energy_kept", step->energyKept},
                           {"compression/residual_norm", step->residualNorm},
                           {"time/compute", step->t.compute()},
                           {"time/compression", step->t.compression()},
                           {"time/communication", step->t.communication()},
                           {"time/turn", step->t.turn},
                           {"time/wall", step->wallS},
                           {"time/simulated", step->simulatedS}});
    } else if (const auto* eval = std::get_if<EvalRecord>(&record)) {
        const std::string perplexity = eval->split + "/perplexity";
        const std::string loss = eval->split + "/loss";
        const auto tokens = static_cast<double>(eval->tokens);
        write(eval->step, {{perplexity, eval->perplexity}, {loss, ratioOf(eval->nll, tokens)}});
    }
}

void EventFile::open() {
    static std::atomic<unsigned> count = 0; // several runs of one process in the same second
    const auto seconds = static_cast<std::uint64_t>(wallTime());
    file_.emplace(folder_ /
                  ("events.out.tfevents." + std::to_string(seconds) + "." + machineName() + "." +
                   std::to_string(::getpid()) + "." + std::to_string(count++)));
    std::string event = eventHead();
    appendBytes(event, 3, "brain.Event:2");
    file_->append(framed(event));
}

void EventFile::write(std::uint64_t step, const Scalars& scalars) {
    if (!file_)
        open();
    std::string summary;
    for (const auto& [tag, number] : scalars) {
        std::string value;
        appendBytes(value, 1, tag);
        appendKey(value, 2, WireType::Fixed32);
        appendLittleEndian(value, std::bit_cast<std::uint32_t>(narrowed(number)));
        appendBytes(summary, 1, value);
    }
    std::string event = eventHead();
    appendKey(event, 2, WireType::Varint);
    appendVarint(event, step);
    appendBytes(event, 5, summary);
    file_->append(framed(event));
}

} // namespace gradlab::engine
