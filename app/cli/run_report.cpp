// SPDX-FileCopyrightText: Gradient Lab contributors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/run_report.h"

#include "app/cli/help_text.h"
#include "app/cli/quantity_format.h"
#include "app/cli/text_table.h"

#include <algorithm>
#include <utility>

namespace gradlab::app {

namespace {

std::string optionalNumber(const std::optional<double>& value) {
    return value ? shortNumber(*value) : "–";
}

std::string startLine(const engine::StartRecord& start) {
    std::string line = std::to_string(start.parameters) + " parameters, vocabulary " +
                       std::to_string(start.vocabulary) + ", " + std::to_string(start.trainTokens) +
                       " training tokens, " + std::to_string(start.stepsPerEpoch) +
                       " steps an epoch; perplexity of word "
                       "frequencies " +
                       shortNumber(start.unigramPerplexity);
    if (start.entropyFloor)
        line += ", of the language itself " + shortNumber(*start.entropyFloor);
    return line;
}

/// A message that goes nowhere (one worker in a ring) saves nothing.
std::string sentText(double bytesUp, double bytesDense, double bytesMessage) {
    return bytesUp > 0.0 ? fewerBytes(bytesDense, bytesMessage) : "nothing sent";
}

} // namespace

RunReport::RunReport(std::vector<std::string> names) {
    for (std::string& name : names) {
        nameColumns_ = std::max(nameColumns_, columnsOf(name));
        members_.push_back({std::move(name), {}, {}, {}});
    }
}

std::string RunReport::prefix(const Member& member) const {
    return members_.size() == 1 ? std::string() : padded(member.name, nameColumns_) + "  ";
}

std::string RunReport::evaluationLine(const Member& member, const engine::EvalRecord& eval) const {
    std::string line = prefix(member) + "step " + paddedLeft(std::to_string(eval.step), 6) + "  " +
                       eval.split + " perplexity " + paddedLeft(shortNumber(eval.perplexity), 6);
    if (member.step) {
        line += "  loss " + shortNumber(member.step->loss);
        line += "  " +
                sentText(member.step->bytesUp, member.step->bytesDense, member.step->bytesMessage);
    }
    return line + "  simulated " + shortDuration(eval.simulatedS);
}

std::string RunReport::take(std::size_t index, const engine::Record& record) {
    Member& member = members_.at(index);
    if (const auto* start = std::get_if<engine::StartRecord>(&record))
        return std::exchange(started_, true) ? std::string() : startLine(*start);
    if (const auto* step = std::get_if<engine::StepRecord>(&record))
        member.step = *step;
    if (const auto* end = std::get_if<engine::EndRecord>(&record))
        member.end = *end;
    if (const auto* event = std::get_if<engine::EventRecord>(&record)) {
        if (event->event == "checkpoint")
            return {};
        return prefix(member) + "step " + paddedLeft(std::to_string(event->step), 6) + "  " +
               event->event + ": " + event->details;
    }
    const auto* eval = std::get_if<engine::EvalRecord>(&record);
    if (eval == nullptr)
        return {};
    if (eval->split == "valid")
        member.valid = eval->perplexity;
    return evaluationLine(member, *eval);
}

std::string RunReport::progressLine(const engine::RunProgress& progress,
                                    std::size_t columns) const {
    std::vector<std::string> parts;
    if (progress.state == engine::RunState::Loading)
        parts.push_back(
            "reading the text " +
            std::to_string(static_cast<int>(std::clamp(progress.loading, 0.0, 1.0) * 100.0)) +
            " %");
    std::uint64_t step = 0;
    std::uint64_t last = 0;
    for (const engine::TrainerProgress& member : progress.members) {
        step = std::max(step, member.step);
        last = std::max(last, member.lastStep);
    }
    if (step > 0 && last > 0)
        parts.push_back("step " + std::to_string(step) + "/" + std::to_string(last) + " " +
                        std::to_string(step * 100 / last) + " %");
    if (step > 0 && progress.secondsLeft > 0.0)
        parts.push_back(shortDuration(progress.secondsLeft) + " left");
    for (const Member& member : members_) {
        if (!member.step)
            continue;
        const std::string factor =
            sentText(member.step->bytesUp, member.step->bytesDense, member.step->bytesMessage);
        const std::string perplexity = member.valid ? "perplexity " + shortNumber(*member.valid)
                                                    : "loss " + shortNumber(member.step->loss);
        if (members_.size() > 1) {
            parts.push_back(member.name + ": " + perplexity);
            continue;
        }
        parts.push_back("loss " + shortNumber(member.step->loss));
        if (member.valid)
            parts.push_back(perplexity);
        parts.push_back(factor);
        parts.push_back(shortBytes(member.step->bytesUp) + " a step");
        parts.push_back("simulated " + shortDuration(member.step->simulatedS));
    }
    std::string line;
    for (const std::string& part : parts) {
        const std::string more = line.empty() ? part : " · " + part;
        if (columnsOf(line) + columnsOf(more) > columns)
            break;
        line += more;
    }
    return line;
}

std::string RunReport::table() const {
    std::vector<std::vector<std::string>> rows{
        {"", "steps", "best valid", "test", "sent by a worker", "", "simulated", "wall", ""}};
    for (const Member& member : members_) {
        if (!member.end)
            continue;
        const engine::EndRecord& end = *member.end;
        rows.push_back({member.name, std::to_string(end.steps),
                        optionalNumber(end.bestValidPerplexity), optionalNumber(end.testPerplexity),
                        shortBytes(end.bytesUp),
                        sentText(end.bytesUp, end.bytesDense, end.bytesMessage),
                        shortDuration(end.simulatedS), shortDuration(end.wallS), end.reason});
    }
    if (rows.size() == 1)
        return {};
    return textTable(rows);
}

std::vector<std::optional<engine::EndRecord>> RunReport::ends() const {
    std::vector<std::optional<engine::EndRecord>> ends;
    for (const Member& member : members_)
        ends.push_back(member.end);
    return ends;
}

bool RunReport::wasStopped() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) {
        return member.end && member.end->reason == "stopped";
    });
}

} // namespace gradlab::app
